package blame

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// whole credits what blame cannot see: deleted lines, modes, binary files. It
// walks the file's turns from the newest; a turn gets the credit if the file is
// as the turn left it and was different before.
func (a *landing) whole(ctx context.Context, f *file) error {
	c := f.c
	now, left := c.New.Hash, c.Deletions
	for i, t := range f.turns {
		had, did := f.had(i), f.act(i, now)
		if did == nothing {
			continue
		}
		if ok, err := a.may(ctx, t); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		switch {
		case did == otherMode:
			if ok, err := a.changedMode(t, c); err != nil || ok {
				return cmp.Or(err, a.left(ctx, t, c.Path, 0))
			}
			continue
		case soleAct(c):
			return a.left(ctx, t, c.Path, left)
		}
		removed := left
		if had != c.Old.Hash {
			var err error
			if removed, err = a.removed(ctx, t, c); err != nil {
				return err
			}
			removed = min(removed, left)
		}
		if removed > 0 {
			if err := a.left(ctx, t, c.Path, removed); err != nil {
				return err
			}
		}
		if left -= removed; left == 0 || had == c.Old.Hash {
			return nil
		}
		now = had
	}
	return nil
}

// An act is what a turn may have done to a file as a whole.
type act int

const (
	nothing   act = iota
	otherText     // or another name
	otherMode     // alone
)

// act is what the i-th turn did if it left the file as it is now, before the
// turns after it.
func (f *file) act(i int, now object.Hash) act {
	c, had := f.c, f.had(i)
	unchanged := had == now && now == c.Old.Hash
	switch {
	case f.after[i] != now:
		return nothing
	case unchanged && f.before[i].IsZero() && c.From != c.Path, had != now:
		return otherText
	case unchanged && c.Old.Mode != c.New.Mode:
		return otherMode
	}
	return nothing
}

// soleAct reports whether the last turn made all of a change: it is in no
// lines, or removed the file.
func soleAct(c gitdiff.Change) bool {
	return lineless(c) || c.Insertions == 0 && c.Deletions == 0 || c.New.Hash.IsZero()
}

// may reports whether a turn's changes may be in the commits, by its agent.
func (a *landing) may(ctx context.Context, t *pastTurn) (bool, error) {
	if ok, err := a.alone(t); ok || err != nil {
		return ok, err
	}
	return a.madeIn(ctx, t)
}

func (a *landing) removed(ctx context.Context, t *pastTurn, c gitdiff.Change) (int, error) {
	changes, err := gitdiff.Changes(ctx, a.h.w.Repo, t.own(), t.code, gitdiff.Paths{Specs: []string{":(top,literal)" + c.Path, ":(top,literal)" + c.From}})
	for _, changed := range changes {
		if changed.Path == c.Path {
			return changed.Deletions, err
		}
	}
	return 0, err
}

// changedMode reports whether a turn gave a file its present mode.
func (a *landing) changedMode(t *pastTurn, c gitdiff.Change) (bool, error) {
	var modes [2]filemode.FileMode
	for i, commit := range []object.Hash{t.own(), t.code} {
		e, err := a.h.objects.At(commit, c.Path)
		if err != nil {
			return false, err
		}
		modes[i] = e.Mode
	}
	return modes[0] == c.Old.Mode && modes[1] == c.New.Mode, nil
}

func (a *landing) left(ctx context.Context, t *pastTurn, path string, removed int) error {
	c, err := a.from(ctx, t)
	if err != nil {
		return err
	}
	c.Removed += removed
	c.file(path)
	return nil
}

// madeIn reports whether a commit was made for a turn, or by its agent.
func (a *landing) madeIn(ctx context.Context, t *pastTurn) (bool, error) {
	if made, known := a.made[t]; known {
		return made, nil
	}
	made, err := a.claimed(ctx, t)
	a.made[t] = made
	return made, err
}

func (a *landing) claimed(ctx context.Context, t *pastTurn) (bool, error) {
	if _, among := a.commits[t.code]; among && a.h.states[t.code].made {
		return true, nil
	}
	during := false
	for _, when := range a.commits {
		at := when.Unix()
		during = during || t.started.Unix() <= at && at <= t.at.Unix()
	}
	if !during {
		return false, nil
	}
	if still, err := a.still(t); still || err != nil {
		return false, err
	}
	g, err := a.h.graph(ctx, a.h.objects, a.Commit, []*pastTurn{t})
	if err != nil {
		return false, err
	}
	for hash := range a.commits {
		if at, ok := g.index[hash]; ok && slices.Contains(g.nodes[at].writers, t) {
			return true, nil
		}
	}
	return false, nil
}
