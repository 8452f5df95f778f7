package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// ErrAway says where a conversation is of which no more is known.
var ErrAway = errors.New("in another repository, which is not known on this machine; if it is here, make it known: git -C <directory> agent-turn init")

// ErrForeign says of a turn that somebody unknown recorded why its conversation is
// not looked for: what it names may be the user's own.
var ErrForeign = errors.New("in another repository, where it is looked for only if you or a key that you trust recorded the turn; see: git agent-turn trust")

// An Elsewhere is the record of a turn in another repository.
type Elsewhere struct {
	*workspace.Workspace
	Turn *Turn

	known *places.Places
}

// Note notes that the conversation of another session, which goes on from the
// turn's, is at home there, too.
func (e *Elsewhere) Note(session string) error { return e.known.Note(session, e.Repo.CommonDir) }

// String says where the record is.
func (e *Elsewhere) String() string {
	return fmt.Sprintf("mission %s, turn %d, in %s", e.Turn.In(), e.Turn.Turn, git.DirOf(e.Repo.CommonDir))
}

// HomeOf finds the turn that has the conversation of one whose record names its
// home: where the session was noted to be at home, or in any repository that is
// noted, as after that was moved, or in a clone. A record may be a stranger's,
// so what it names counts only if it is the same turn of the same session, by the
// same hand, which is known. The error says where the conversation is, as far as
// that is known, and why it is out of reach: it is to follow "the conversation is".
func HomeOf(ctx context.Context, known *places.Places, roll *Writers, t *Turn) (*Elsewhere, error) {
	if t.Home == nil || t.Session == "" || !filepath.IsLocal(t.Session) {
		return nil, ErrAway
	}
	by, err := roll.hand(ctx, t)
	switch {
	case err != nil:
		return nil, fmt.Errorf("in another repository, and not looked for: %w", err)
	case by == trust.Unknown:
		return nil, ErrForeign
	}
	why := ErrAway
	if noted := known.Home(t.Session); noted != "" && by == trust.Clone { // else the session is another user's
		h, err := homeAt(ctx, known, noted, by, t)
		if err == nil {
			return h, nil
		}
		why = fmt.Errorf("in %s, %w", git.DirOf(noted), err)
	}
	list, err := known.Repositories()
	for _, common := range list {
		if h, err := homeAt(ctx, known, common, by, t); err == nil {
			return h, nil
		}
	}
	return nil, cmp.Or(ctx.Err(), err, why)
}

// homeAt returns the turn that has another one's conversation in the repository
// with a common directory, by the same hand.
func homeAt(ctx context.Context, known *places.Places, common, by string, t *Turn) (*Elsewhere, error) {
	w, err := workspace.OpenCommon(ctx, common)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return nil, errors.New("which is gone; if it was moved, make it known again: git -C <directory> agent-turn init")
	case err != nil:
		return nil, fmt.Errorf("which can't be read: %w", err)
	}
	at, err := matching(ctx, w.Repo, t.Home.Mission, t.Home.Turn, func(at *Turn) bool { return at.homeOf(t) })
	switch {
	case errors.Is(err, git.ErrNotFound):
		return nil, errors.New("which has no such turn any more")
	case err != nil:
		return nil, fmt.Errorf("which can't be read: %w", err)
	}
	if hand, err := (&Writers{Workspace: w}).hand(ctx, at); err != nil || hand != by {
		return nil, cmp.Or(err, errors.New("where somebody else has recorded it"))
	}
	return &Elsewhere{w, at, known}, nil
}

// hand returns who recorded a turn, with one name for the user's clones on this
// machine.
func (r *Writers) hand(ctx context.Context, t *Turn) (string, error) {
	by, err := r.By(ctx, t)
	if trust.Ours(by) {
		by = trust.Clone
	}
	return by, err
}

// VisitsOf finds the records of a turn of the user's own in the repositories that
// its session visited, as far as that is known on this machine.
func VisitsOf(ctx context.Context, known *places.Places, roll *Writers, t *Turn) (found []*Elsewhere, err error) {
	if !filepath.IsLocal(t.Session) { // a stranger's record may say so
		return nil, nil
	}
	if by, err := roll.hand(ctx, t); err != nil || by != trust.Clone {
		return nil, err
	}
	list, err := known.Repositories()
	for _, other := range list {
		st := session.Open(other).Load(t.Session)
		if other == roll.Workspace.Repo.CommonDir || !st.Away || !st.Mission.Valid() {
			continue
		}
		w, e := workspace.OpenCommon(ctx, other)
		if e != nil {
			continue // missions --everywhere says why
		}
		v, e := matching(ctx, w.Repo, st.Mission, 0, t.homeOf)
		by := ""
		if e == nil {
			by, e = (&Writers{Workspace: w}).hand(ctx, v)
		}
		switch {
		case by == trust.Clone:
			found = append(found, &Elsewhere{w, v, known})
		case !errors.Is(e, git.ErrNotFound):
			err = cmp.Or(err, e)
		}
	}
	return found, err
}

// homeOf reports whether t has the conversation of a turn that names its home.
func (t *Turn) homeOf(visit *Turn) bool {
	of := visit.Home
	return t.Home == nil && of != nil && of.Mission == t.Mission && t.Session == visit.Session && t.PromptID == visit.PromptID &&
		(of.Turn == t.Turn || of.Turn == 0 && t.PromptID != "")
}

// matching returns a mission's turn that is the one looked for. Its number is 0
// if that is not known.
func matching(ctx context.Context, repo *git.Repo, id record.ID, number int, is func(*Turn) bool) (found *Turn, err error) {
	if number != 0 {
		found, err = Read(ctx, repo, id, number)
	} else {
		err = Each(ctx, repo, id, func(t *Turn) error {
			if found = t; is(t) {
				return errMatched
			}
			return nil
		})
	}
	if err != nil && !errors.Is(err, errMatched) {
		return nil, err
	}
	if found == nil || !is(found) {
		return nil, fmt.Errorf("a turn of mission %s: %w", id, git.ErrNotFound)
	}
	return found, nil
}

var errMatched = errors.New("matched")

// Away reports that the turn's conversation is in another repository. Also a
// turn that says nothing of its home has none here.
func (t *Turn) Away() bool { return t.Home != nil && t.Transcript == nil }
