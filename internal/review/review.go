// Package review keeps what people say that they have looked at.
//
// A [Mark] says that a person has looked at all turns of a mission up to one. It
// is a line of the note that the mission's notes have on the empty tree, which
// every repository has. An event of the ledger would be a second line of events
// beside the next turn, which another clone records; lines of a note merge. It
// is signed, so it counts for those who trust the key, whoever brought it.
package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Reasons why nothing can be marked.
var (
	ErrNoKey    = errors.New("there is no key to sign with") // without one no mark counts
	ErrArchived = errors.New("the mission is archived")
)

// maxForks is how many forks of forks are followed to what they go on from.
const maxForks = 16

// Of returns the mark up to the greatest turn of those that count: signed by a
// key that the user trusts, for a turn as the ledger has it. It is nil if none
// does. A fork has those of its source, as far as it inherits turns.
func Of(ctx context.Context, w *workspace.Workspace, objects *git.Objects, l *ledger.Ledger) *Mark {
	return of(ctx, w, objects, l, maxForks)
}

func of(ctx context.Context, w *workspace.Workspace, objects *git.Objects, l *ledger.Ledger, forks int) *Mark {
	// What can't be read marks nothing: anybody who can push may have written it.
	note, _ := read(ctx, w.Repo, objects, l.ID)
	var best *Mark
	for _, m := range counting(note, w.Trust.Keys()) {
		if m.Turn > best.Last() {
			if t, err := turns.ReadIn(l, m.Turn); err == nil && t.Mission == m.Mission && t.Code == m.Code {
				if m.cut(objects, l); m.Turn > best.Last() {
					best = m
				}
			}
		}
	}
	from := l.Mission.ForkedFrom
	if from == nil || from.Turn > 0 && best.Last() >= from.Turn || forks == 0 {
		return best
	}
	source, err := ledger.Open(ctx, w.Repo, objects, from.Mission)
	if err != nil {
		return best // it was removed, or is not here
	}
	inherited := of(ctx, w, objects, source, forks-1)
	if inherited == nil {
		return best
	}
	until := inherited.Turn
	if from.Turn > 0 { // else it is a side, and its source goes on from the same turns
		until = min(until, from.Turn)
	}
	here, err := turns.ReadIn(l, until)
	there, e := turns.ReadIn(source, until)
	if err != nil || e != nil || here.Code != there.Code || best.Last() >= until {
		return best
	}
	inherited.Turn, inherited.Code = until, here.Code
	return inherited
}

// cut takes the mark back to before the first turn that was recorded again with
// other code since, as one is whose session goes on when another's turn has come
// after it. Where the ledger that was looked at is gone, as after a purge, nothing
// tells of that.
func (m *Mark) cut(objects *git.Objects, l *ledger.Ledger) {
	before, err := ledger.At(objects, l.ID, m.Ledger)
	if err != nil {
		return
	}
	replaced, err := l.Replaced(before, m.Turn)
	if err != nil {
		m.Turn = 0
	}
	for _, n := range replaced {
		now, err := turns.ReadIn(l, n)
		was, e := turns.ReadIn(before, n)
		if err == nil && e == nil && now.Code == was.Code {
			continue
		}
		m.Turn = 0 // unless there is an earlier one
		for r, err := range l.TurnsBelow(n) {
			if err == nil {
				m.Turn = r.Number
			}
			break
		}
	}
}

// read returns the note with the marks of a mission, live or archived.
func read(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID) ([]byte, error) {
	refs, err := repo.Refs(ctx, id.NotesRef(), ledger.ArchiveRef)
	if err != nil {
		return nil, err
	}
	tip := refs[id.NotesRef()]
	if tip.IsZero() {
		index, err := ledger.ArchiveTip(refs)
		if err != nil || index.IsZero() {
			return nil, err
		}
		e, err := ledger.Archived(objects, index, id)
		if err != nil || e.Notes.IsZero() {
			return nil, err
		}
		tip = e.Notes
	}
	notes, err := gitnotes.Open(objects, tip)
	if err != nil {
		return nil, err
	}
	note, err := notes.Get(repo.Format().EmptyTree())
	if errors.Is(err, gitnotes.ErrNotFound) {
		return nil, nil
	}
	return note, err
}

// Add notes that the user has looked at a turn and all before it, in the
// mission that has it. An earlier mark of the user's goes, so that a mark can
// be set back. The error may wrap [ErrNoKey] or [ErrArchived].
func Add(ctx context.Context, w *workspace.Workspace, t *turns.Turn, at time.Time) (*Mark, error) {
	var m *Mark
	job := ledgertx.Job{Mission: t.In(), At: at, What: "reviewed"}
	err := ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		key := w.Trust.Keys().Own
		if key == nil {
			return fmt.Errorf("%w: %w", ErrNoKey, w.Trust.Keys().OwnError)
		}
		if err := tx.Open(ctx); err != nil {
			return err
		}
		if live, err := tx.Repo.Refs(ctx, tx.ID.Ref()); err != nil || len(live) == 0 {
			return cmp.Or(err, ErrArchived)
		}
		if tx.Notes == nil {
			return tx.Unnoted
		}
		config, err := tx.Config()
		if err != nil {
			return err
		}
		on := w.Repo.Format().EmptyTree()
		note, err := tx.Notes.Get(on)
		if git.Lost(err) { // it may come back, with what others have noted
			return err
		} // else there is none, or it is no note
		looked, err := lookedAt(ctx, w.Repo, tx.Objects, t)
		if err != nil {
			return err
		}
		m = newMark(*key, t, looked, after(note, key.Public(), tx.At.Truncate(time.Millisecond)), config.Author(tx.At))
		if note, err = m.with(note); err != nil {
			return err
		}
		if err := tx.Notes.Set(on, note); err != nil {
			return err
		}
		return cmp.Or(tx.Commit(ctx), tx.Unnoted)
	})
	if err != nil {
		return nil, fmt.Errorf("note that turn %s is reviewed: %w", t.After(), err)
	}
	return m, nil
}

// maxEvents bounds how many events after a turn are looked at to name the one.
const maxEvents = 20_000

// lookedAt returns the oldest commit of the ledger that has a turn and those before
// it as they were read: a purge of what came then leaves it as it is.
func lookedAt(ctx context.Context, repo *git.Repo, objects *git.Objects, t *turns.Turn) (object.Hash, error) {
	l, err := ledger.At(objects, t.In(), t.LedgerTip)
	if err != nil {
		return object.Hash{}, err
	}
	found := l.Tip
	for e, err := range ledger.Events(ctx, repo, objects, l.Tip, maxEvents) {
		if err != nil {
			return found, nil // what is not here can't be named
		}
		before, err := ledger.At(objects, l.ID, e.Hash)
		if err != nil {
			return found, nil
		}
		if replaced, err := l.Replaced(before, t.Turn); err != nil || len(replaced) > 0 {
			return found, nil
		}
		found = e.Hash
	}
	return found, nil
}

// Left returns how many turns of a ledger come after a mark; all of them after
// none.
func Left(l *ledger.Ledger, m *Mark) (n int, err error) {
	for _, err := range l.TurnsAfter(m.Last()) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Last returns the number of the last turn that is reviewed; 0 for nil.
func (m *Mark) Last() int {
	if m == nil {
		return 0
	}
	return m.Turn
}

// Since returns the state from which a mission's turns are not reviewed: the end
// of the mark's turn, or the start of the mission's first one.
func Since(l *ledger.Ledger, m *Mark) (*turns.State, error) {
	if m != nil {
		t, err := turns.ReadIn(l, m.Turn)
		if err != nil {
			return nil, err
		}
		return t.After(), nil
	}
	first := 0
	for t, err := range l.Turns() {
		if err != nil {
			return nil, err
		}
		first = t.Number
	}
	t, err := turns.ReadIn(l, first)
	if err != nil {
		return nil, err
	}
	return t.Before(), nil
}
