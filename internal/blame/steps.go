package blame

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// maxAsked limits the versions of files that are looked up at once.
const maxAsked = 200_000

// A file is a changed file, and its versions in turns.
type file struct {
	c             gitdiff.Change
	turns         []*pastTurn // that may have changed it, the newest first
	before, after []object.Hash
	was           []object.Hash // before, under its former name
	// lines are how many each turn wrote; nil if git has to be asked.
	lines map[*pastTurn]int
}

// had is what a turn found.
func (f *file) had(i int) object.Hash {
	if f.before[i].IsZero() && f.c.From != f.c.Path {
		return f.was[i]
	}
	return f.before[i]
}

// others reports whether turns that ran at the same time may have changed it.
func (f *file) others(t *pastTurn) bool {
	for i, u := range f.turns {
		known := !u.others.IsZero() && f.had(i) == f.after[i] // it did not change it itself
		if u != t && !known && u.started.Before(t.at) && t.started.Before(u.at) {
			return true
		}
	}
	return false
}

// look returns the files, with their versions in turns before the commit.
func (a *landing) look(ctx context.Context, changes []gitdiff.Change) ([]*file, error) {
	last := a.committed().Add(time.Second)
	files := make([]*file, len(changes))
	var wanted []version
	for i, c := range changes {
		files[i] = &file{c: c}
		if a.early() || len(wanted) >= maxAsked {
			continue
		}
		for _, t := range slices.Backward(a.h.turns) {
			if t.code.IsZero() || t.base.IsZero() || t.code == t.base || t.started.After(last) {
				continue
			}
			if t.more || slices.Contains(t.paths, c.Path) || slices.Contains(t.paths, c.From) {
				files[i].turns = append(files[i].turns, t)
				wanted = append(wanted, version{t.code, c.Path}, version{t.own(), c.Path}, version{t.own(), c.From})
			}
		}
	}
	hashes, err := a.h.blobs(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for range f.turns {
			f.after, f.before, f.was = append(f.after, hashes[0]), append(f.before, hashes[1]), append(f.was, hashes[2])
			hashes = hashes[3:]
		}
	}
	return files, nil
}

// A version is a file in a commit.
type version struct {
	in   object.Hash
	path string
}

func (v version) String() string { return v.in.String() + ":" + v.path }

// blobs returns what files are in commits, zero where there is none: what the
// chart does not have is asked of git.
func (h *History) blobs(ctx context.Context, wanted []version) ([]object.Hash, error) {
	blobs := make(map[version]object.Hash, len(wanted))
	if c := h.chart; c != nil {
		c.known(wanted, blobs)
	}
	var names []string
	var unknown []version
	for _, v := range wanted {
		if _, known := blobs[v]; !known {
			blobs[v] = object.Hash{}
			unknown, names = append(unknown, v), append(names, v.String())
		}
	}
	if len(names) > 0 {
		if h.promisor != "" {
			if err := h.prefetch(ctx, names); err != nil {
				return nil, err
			}
		}
		hashes, err := gitdiff.Named(ctx, h.w.Repo, names)
		if err != nil {
			return nil, err
		}
		for i, v := range unknown {
			blobs[v] = hashes[i]
		}
	}
	list := make([]object.Hash, len(wanted))
	for i, v := range wanted {
		list[i] = blobs[v]
	}
	return list, nil
}

// prefetch fetches what "<commit>:<path>" names, if a partial clone lacks it:
// git cat-file would fetch one at a time.
func (h *History) prefetch(ctx context.Context, names []string) error {
	wanted := make(map[object.Hash]bool)
	for _, name := range names {
		commit, path, _ := strings.Cut(name, ":")
		e, err := h.objects.At(object.NewHash(commit), path)
		if err == nil && e.Mode.IsFile() { // otherwise it is not there
			wanted[e.Hash] = true
		}
	}
	return h.w.Repo.Prefetch(ctx, h.promisor, slices.Collect(maps.Keys(wanted)))
}

type step struct {
	t        *pastTurn
	from, to object.Hash
}

// next finds the files that turns alone changed, in sequence: most are such.
// It returns those about which git has to be asked, and perhaps will be.
func (a *landing) next(files []*file) (names []string, err error) {
	for _, f := range files {
		if lineless(f.c) || f.c.Insertions == 0 {
			continue
		}
		if !a.Own {
			if f.lines, err = a.counts(f); err != nil {
				return nil, err
			}
		}
		if f.lines == nil && len(f.turns) > 0 {
			names = append(names, f.c.Path)
		}
	}
	if !a.Many || len(names) == 0 {
		return names, nil
	}
	last := a.committed()
	for _, t := range slices.Backward(a.h.turns) {
		if len(names) >= maxTogether {
			break
		}
		if !t.at.After(last) && len(t.paths) <= maxTogether {
			names = appendNew(names, t.paths...)
		}
	}
	return names, nil
}

// exact adds the lines of a file that turns alone changed: git is not asked.
func (a *landing) exact(ctx context.Context, f *file) error {
	for t, n := range f.lines {
		if err := a.wrote(ctx, t, f.c.Path, n); err != nil {
			return err
		}
		a.sum.Lines += n
	}
	if f.c.Deletions > 0 {
		return a.whole(ctx, f)
	}
	return nil
}

// counts returns how many lines of a file each turn wrote; nil if not turns alone
// changed it, in sequence.
func (a *landing) counts(f *file) (map[*pastTurn]int, error) {
	steps, err := a.steps(f)
	if len(steps) == 0 || err != nil {
		return nil, err
	}
	counts := map[*pastTurn]int{steps[0].t: f.c.Insertions}
	if len(steps) > 1 {
		owners, err := a.owners(steps)
		if owners == nil || err != nil {
			return nil, err
		}
		clear(counts)
		for _, t := range owners {
			if t != nil {
				counts[t]++
			}
		}
	}
	return counts, nil
}

// steps returns the changes from the old version to the new, the newest first,
// or nil if turns alone do not lead there. Each must begin where the one before
// ended: a turn recorded by hand may hold what others had not committed.
func (a *landing) steps(f *file) ([]step, error) {
	var steps []step
	now := f.c.New.Hash
	for i, t := range f.turns {
		had := f.had(i)
		switch {
		case had == f.after[i] || len(steps) == 0 && f.after[i] != now:
			continue
		case f.after[i] != now:
			return nil, nil
		case now == f.c.Old.Hash:
			return steps, nil
		}
		if ok, err := a.alone(t); !ok || err != nil || f.others(t) {
			return nil, err
		}
		steps = append(steps, step{t, had, now})
		now = had
	}
	if now != f.c.Old.Hash {
		return nil, nil
	}
	return steps, nil
}

// alone reports whether a turn ended before the commit and HEAD did not move:
// the changes are its agent's own.
func (a *landing) alone(t *pastTurn) (bool, error) {
	if t.at.Unix() > a.committed().Unix() {
		return false, nil
	}
	return a.still(t)
}

// still reports whether HEAD did not move: the turn's code is made on its base.
func (a *landing) still(t *pastTurn) (bool, error) {
	if s := a.h.states[t.code]; s == nil || !s.made {
		return false, nil
	}
	parents, err := a.h.objects.Parents(t.code)
	return err == nil && len(parents) == 1 && parents[0] == t.base, err
}

// owners returns the turn that wrote each line after the steps, or nil for an
// old line. The list is nil if only git can tell.
func (a *landing) owners(steps []step) ([]*pastTurn, error) {
	var owners []*pastTurn
	var old []byte
	for i, s := range slices.Backward(steps) {
		if i == len(steps)-1 && !s.from.IsZero() {
			var err error
			if old, err = a.h.objects.Blob(s.from, maxBlob); err != nil {
				return nil, ignoreLarge(err)
			}
			owners = make([]*pastTurn, bytes.Count(old, []byte{'\n'})+1)
		}
		var fresh []byte
		if !s.to.IsZero() {
			var err error
			if fresh, err = a.h.objects.Blob(s.to, maxBlob); err != nil {
				return nil, ignoreLarge(err)
			}
		}
		from, ok := gitdiff.Align(old, fresh)
		if !ok {
			return nil, nil
		}
		after := make([]*pastTurn, len(from))
		for n, line := range from {
			after[n] = s.t
			if line >= 0 {
				after[n] = owners[line]
			}
		}
		old, owners = fresh, after
	}
	return owners, nil
}

func ignoreLarge(err error) error {
	if errors.Is(err, git.ErrTooLarge) {
		return nil
	}
	return err
}
