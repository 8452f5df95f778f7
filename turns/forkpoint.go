package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A ForkPoint is where a fork left another mission.
type ForkPoint struct {
	Of     record.TurnID // the turn that it was forked at, as in its record
	Commit object.Hash   // where its branch began: the turn's start or end, or a state saved after it
}

// PointOf returns a fork's point. If m is no fork, the error wraps [ErrNoFork].
func PointOf(m *record.Mission) (ForkPoint, error) {
	base, err := object.ParseHash(m.Base)
	if err != nil || !forked(m) {
		return ForkPoint{}, fmt.Errorf("mission %s: %w", m.ID, ErrNoFork)
	}
	return ForkPoint{Of: *m.ForkedFrom, Commit: base}, nil
}

const maxOutward = 100

// outermost goes from fork to source as long as further returns a point, at
// most maxOutward times. It stops at a circle of missions.
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

// A source is the mission that a fork was forked from, for [source.further].
type source struct {
	mission *record.Mission
	here    bool // HEAD is on its branch, or has its work up to the fork point
}

// further returns the source's own fork point if its work comes along: it is a
// fork with a branch, and not here. A noted adoption alone does not count,
// since it may be in another worktree or dropped; if the work is here after
// all, both sides made the same changes and merge.
func (s source) further() (ForkPoint, bool) {
	point, err := PointOf(s.mission)
	return point, err == nil && s.mission.Branch != "" && !s.here
}

// sourceOf reads the mission that a fork is from; nil if gone or untrusted.
func sourceOf(ctx context.Context, w *workspace.Workspace, objects *git.Objects, head git.Head, at ForkPoint, here record.ID) (*source, error) {
	l, err := ledger.Open(ctx, w.Repo, objects, at.Of.Mission)
	if err == nil {
		l, err = w.Usable(ctx, objects, l.ID, l.Tip)
	}
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, workspace.ErrUntrusted) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	inHead := func(commit object.Hash) bool { return BeforeHead(ctx, w, commit, head) }
	return &source{l.Mission, isHere(l.Mission, at, here, inHead)}, ctx.Err()
}

// isHere reports whether HEAD is on a mission's branch, or has its work up to
// the fork point: the commit itself, or one of a finish or an adoption.
func isHere(m *record.Mission, at ForkPoint, here record.ID, inHead func(object.Hash) bool) bool {
	f, a := m.Finished, m.Adopted
	return m.ID == here || inHead(at.Commit) ||
		f != nil && f.Turn >= at.Of.Turn && inHead(f.Commit) ||
		a != nil && !a.Undone && a.Turn >= at.Of.Turn && inHead(a.Commit)
}

// Adoptable returns the point where the work begins that HEAD lacks of a state:
// in its fork or, if the fork's source is not here, in that.
func Adoptable(ctx context.Context, w *workspace.Workspace, objects *git.Objects, m *record.Mission, head git.Head, s *State) (ForkPoint, error) {
	here, err := w.Mission(ctx)
	if err != nil {
		return ForkPoint{}, err
	}
	point, err := pointOf(m, s, here)
	if err != nil {
		return point, err
	}
	return outermost(point, func(at ForkPoint) (ForkPoint, bool, error) {
		source, err := sourceOf(ctx, w, objects, head, at, here)
		if err != nil || source == nil {
			return at, false, err
		}
		next, ok := source.further()
		return next, ok, nil
	})
}

// pointOf returns the fork point for adopting s while HEAD is on here's branch.
func pointOf(m *record.Mission, s *State, here record.ID) (ForkPoint, error) {
	point, err := PointOf(m)
	switch {
	case err != nil:
		return point, err
	case here == m.ID:
		return point, ErrOwnBranch
	case s.Turn.Mission != m.ID:
		return point, fmt.Errorf("%w: it is turn %s", ErrInherited, s.Turn.ID())
	}
	return point, nil
}

// BeforeHead reports whether a commit, which may be missing, is before HEAD.
func BeforeHead(ctx context.Context, w *workspace.Workspace, commit object.Hash, head git.Head) bool {
	if commit.IsZero() || head.Commit.IsZero() {
		return false
	}
	is, err := w.Repo.IsAncestor(ctx, commit, head.Commit)
	return err == nil && is
}

// Reasons why there is nothing to adopt.
var (
	// ErrNoFork reports a mission that is no fork, or one with no known point.
	ErrNoFork = errors.New("it is no fork")
	// ErrInherited reports a turn that a fork has from its source.
	ErrInherited = errors.New("the fork has inherited it")
	// ErrOwnBranch reports that HEAD is on the mission's own branch.
	ErrOwnBranch = errors.New("HEAD is on the mission's own branch")
)
