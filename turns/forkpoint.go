package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A ForkPoint is where a fork left another mission.
type ForkPoint struct {
	Of     record.TurnID // the turn that it was forked at, as its record names it
	Commit git.Hash      // where its branch began: that turn's start or end, or a state that was saved after it
}

// PointOf returns where a fork began. The error of a mission that is none wraps [ErrNoFork].
func PointOf(m *record.Mission) (ForkPoint, error) {
	base, err := git.ParseHash(m.Base)
	if err != nil || !forked(m) {
		return ForkPoint{}, fmt.Errorf("mission %s: %w", m.ID, ErrNoFork)
	}
	return ForkPoint{Of: *m.ForkedFrom, Commit: base}, nil
}

// maxOutward is how many forks of forks are looked at.
const maxOutward = 100

// outermost goes outward from where a fork began: from fork to fork, as long as further says that there is
// one whose work is to come along. It stops where missions name each other in a circle.
func outermost(point ForkPoint, further func(ForkPoint) (ForkPoint, bool, error)) (ForkPoint, error) {
	seen := make(map[record.ID]bool)
	for range maxOutward {
		next, ok, err := further(point)
		if err != nil || !ok || seen[point.Of.Mission] {
			return point, err
		}
		seen[point.Of.Mission] = true
		point = next
	}
	return point, nil
}

// A source is the mission that a fork was forked from, as far as it decides where the work begins that is
// to be adopted.
type source struct {
	mission *record.Mission
	here    bool // HEAD is on its branch, or has its work up to where it was forked
}

// further returns where the source began, if its work up to where it was forked comes along: it is a fork
// with a branch of its own, and is not here. That it was adopted into some worktree is not enough, for it may
// be another one, or the user may have dropped it since; where it is here nevertheless, both sides have
// made the same changes, and they merge.
func (s source) further() (ForkPoint, bool) {
	point, err := PointOf(s.mission)
	return point, err == nil && s.mission.Branch != "" && !s.here
}

// source reads the mission that a fork was forked from; nil if that is gone, or the user may not rely on it.
func (r *Recorder) source(ctx context.Context, objects *git.Objects, head git.Head, at ForkPoint, here record.ID) (*source, error) {
	l, err := ledger.Open(ctx, r.Repo, objects, at.Of.Mission)
	if err == nil {
		l, err = r.Usable(ctx, objects, l.ID, l.Tip)
	}
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, workspace.ErrUntrusted) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	inHead := func(commit git.Hash) bool { return r.beforeHead(ctx, commit, head) }
	return &source{l.Mission, isHere(l.Mission, at, here, inHead)}, ctx.Err()
}

// isHere reports whether HEAD is on a mission's branch, or has its work up to where it was forked: the commit itself,
// or one that a finish or an adoption of that has made.
func isHere(m *record.Mission, at ForkPoint, here record.ID, inHead func(git.Hash) bool) bool {
	f, a := m.Finished, m.Adopted
	return m.ID == here || inHead(at.Commit) ||
		f != nil && f.Turn >= at.Of.Turn && inHead(f.Commit) ||
		a != nil && !a.Undone && a.Turn >= at.Of.Turn && inHead(a.Commit)
}
