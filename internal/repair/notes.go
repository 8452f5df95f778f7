package repair

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/gitnotes"
	"gitagent/handoffstore"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/turns"
)

// A key says what a line of a note is about, and its time.
type key struct {
	Kind    string    `json:"kind"`
	Mission record.ID `json:"mission"`
	Turn    int       `json:"turn"`
	Handoff int       `json:"handoff"`
	At      time.Time `json:"at"`
}

// noted reports whether a note has a line about the same, as new or newer.
func noted(note []byte, want key) bool {
	for line := range bytes.Lines(note) {
		var k key
		if json.Unmarshal(line, &k) != nil || k.At.Before(want.At) {
			continue
		}
		if k.At = want.At; k == want {
			return true
		}
	}
	return false
}

type wanted struct {
	on   object.Hash
	what key
	line func(note []byte) ([]byte, error) // for a note with that content
}

// lines returns what a mission's notes should have, without inherited turns.
func lines(l *ledger.Ledger) []wanted {
	var list []wanted
	for n := range l.Turns() {
		t, err := turns.ReadIn(l, n.Number)
		if err != nil || t.Mission != l.Mission.Began || t.Code.IsZero() {
			continue
		}
		list = append(list, wanted{
			on: t.Code, what: key{Kind: record.KindTurn, Mission: t.Mission, Turn: t.Turn, At: t.At},
			line: func(note []byte) ([]byte, error) {
				line, err := t.Encode()
				if err != nil {
					return nil, err
				}
				return t.NoteLine(line, note)
			},
		})
	}
	numbers, _ := l.Handoffs()
	for _, n := range numbers {
		h, err := handoffstore.ReadIn(l, n)
		if err != nil || h.Mission != l.Mission.Began {
			continue
		}
		on := h.Head
		if t, err := turns.ReadIn(l, h.LastTurn); err == nil && h.LastTurn > 0 {
			on = cmp.Or(t.Code, on)
		}
		if !on.IsZero() {
			what := key{Kind: record.KindHandoff, Mission: h.Mission, Handoff: h.Number, At: h.At}
			list = append(list, wanted{on, what, func([]byte) ([]byte, error) { return h.NoteLine() }})
		}
	}
	slices.SortStableFunc(list, func(a, b wanted) int { return a.what.At.Compare(b.what.At) }) // as they were written
	return list
}

// complete adds missing lines to notes and counts them.
func complete(n *gitnotes.Notes, list []wanted) (added int, err error) {
	for _, want := range list {
		note, err := n.Get(want.on)
		if err != nil && !errors.Is(err, gitnotes.ErrNotFound) {
			return added, err
		}
		if noted(note, want.what) {
			continue
		}
		line, err := want.line(note)
		if err == nil {
			err = n.Append(want.on, line)
		}
		if err != nil {
			return added, err
		}
		added++
	}
	return added, nil
}

func (r *repair) notes(ctx context.Context) error {
	refs, err := r.Repo.Refs(ctx, record.MissionRefs, record.ID("").NotesRef())
	if err != nil {
		return err
	}
	missions, err := r.missions(ctx)
	if err != nil {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	for _, id := range missions {
		if err := r.notesOf(ctx, objects, refs, id); err != nil {
			r.say(Finding{What: fmt.Sprintf("notes of mission %s: %v", id, err)})
		}
	}
	return nil
}

func (r *repair) notesOf(ctx context.Context, objects *git.Objects, refs map[string]object.Hash, id record.ID) error {
	l, err := ledger.At(objects, id, refs[id.Ref()])
	if err != nil {
		return nil // reported already
	}
	added, damaged, err := supplement(objects, refs[id.NotesRef()], lines(l))
	if err != nil || added == nil {
		return err
	}
	f := Finding{What: fmt.Sprintf("notes of mission %s: lines that its ledger has and they lack: %d", id, added.lines), Mended: "they are written"}
	if conf, err := r.Repo.Config(ctx); damaged && err == nil && conf.Promisor() != "" {
		r.say(Finding{What: fmt.Sprintf("a part of the notes of mission %s is not here, as in a partial clone, and can't be fetched now", id)})
		return nil
	}
	if damaged {
		f.What = fmt.Sprintf("notes of mission %s are damaged; %s", id, f.What)
	}
	if standing, err := r.Trust.Of(ctx, r.Repo, objects, id, l.Tip); err != nil || !standing.Whole {
		return err // untrusted: what it says is not ours to write
	}
	r.say(f)
	if r.dry {
		return nil
	}
	return ledgertx.Run(ctx, r.Workspace, ledgertx.Of(ledgertx.Job{Mission: id, At: r.at, What: "repair"}), func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil || tx.Ledger == nil {
			return err
		}
		refs, err := tx.Repo.Refs(ctx, id.NotesRef())
		if err != nil {
			return err
		}
		added, _, err := supplement(tx.Objects, refs[id.NotesRef()], lines(tx.Ledger))
		if err != nil || added == nil {
			return err
		}
		tx.Notes = added.notes
		return tx.Commit(ctx)
	})
}

type supplemented struct {
	notes *gitnotes.Notes
	lines int
}

// supplement returns the notes of a commit with their missing lines, or nil if
// none is missing. It takes what is readable of damaged notes.
func supplement(objects *git.Objects, tip object.Hash, list []wanted) (s *supplemented, damaged bool, err error) {
	n, err := gitnotes.Open(objects, tip)
	added := 0
	if err == nil {
		added, err = complete(n, list)
	}
	if git.Lost(err) {
		damaged = true
		n, err = gitnotes.Open(objects, object.Hash{})
		if err == nil {
			err = salvage(objects, tip, n)
		}
		if err == nil {
			added, err = complete(n, list)
		}
	}
	if err != nil || added == 0 && !damaged {
		return nil, damaged, err
	}
	return &supplemented{n, added}, damaged, nil
}

// salvage copies the readable notes of a damaged commit.
func salvage(objects *git.Objects, tip object.Hash, into *gitnotes.Notes) error {
	tree, err := objects.TreeOf(tip)
	if err != nil {
		return nil
	}
	var take func(tree object.Hash, path string) error
	take = func(tree object.Hash, path string) error {
		entries, err := objects.Tree(tree, ledger.MaxTree)
		if err != nil {
			return nil
		}
		for name, e := range entries {
			name = path + name
			switch {
			case e.Mode == filemode.Dir && len(name) < objects.Format().Digits():
				if err := take(e.Hash, name); err != nil {
					return err
				}
			case object.NewHash(name).Format() == objects.Format():
				content, err := objects.Blob(e.Hash, ledger.MaxTurn)
				if err != nil {
					continue
				}
				if err := into.Set(object.NewHash(name), content); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return take(tree, "")
}
