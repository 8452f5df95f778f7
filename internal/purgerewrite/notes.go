package purgerewrite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/gitnotes"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Nobody is the author of rewritten notes and of the map, so that all clones
// write the same.
var Nobody = object.Signature{Name: "git-agent", Email: "git-agent@localhost", When: time.Unix(0, 0).UTC()}

// Notes returns the successor of a mission's notes: a commit without history,
// if the ledger or any past or present note changed. It comes after Ledgers.
func (r *Rewrite) Notes(ctx context.Context, id record.ID, tip object.Hash) (object.Hash, error) {
	if to, ok := r.done[tip]; ok {
		return to, nil
	}
	if len(r.done) == 0 && r.clean(tip) {
		return tip, nil
	}
	to, err := r.rewriteNotes(ctx, id, tip)
	if err != nil {
		return tip, fmt.Errorf("rewrite the notes of mission %s: %w", id, err)
	}
	if to != tip {
		r.done[tip], r.replaced[tip] = to, to
	}
	return to, nil
}

func (r *Rewrite) rewriteNotes(ctx context.Context, id record.ID, tip object.Hash) (object.Hash, error) {
	old, err := gitnotes.Open(r.Objects, tip)
	if err != nil {
		return tip, err
	}
	anew, err := gitnotes.Open(r.Objects, object.Hash{})
	if err != nil {
		return tip, err
	}
	var list []gitnotes.Note
	for note, err := range old.All() {
		if err != nil {
			return tip, err
		}
		list = append(list, note)
	}
	changed := false
	for _, note := range list {
		content, err := old.Get(note.Object)
		if err != nil {
			return tip, err
		}
		out, err := r.note(Place{Mission: id, Kind: Note}, content, r.clean(tip))
		if err != nil {
			return tip, err
		}
		to := r.Successor(note.Object)
		if changed = changed || to != note.Object || !bytes.Equal(out, content); to.IsZero() {
			continue
		}
		if before, err := anew.Get(to); err == nil { // two commits have one successor
			out = append(bytes.TrimRight(before, "\n"), append([]byte("\n"), out...)...)
		}
		if err := anew.Set(to, out); err != nil {
			return tip, err
		}
	}
	if !changed {
		if changed, err = r.everHeld(ctx, tip); err != nil || !changed {
			return tip, err
		}
	}
	name := id
	if to, ok := r.renamed(id); ok {
		name = to
	}
	return anew.Commit(Nobody, Nobody, "mission "+string(name)+"\n")
}

// note returns what replaces a note, most of whose lines are ledger records.
func (r *Rewrite) note(at Place, content []byte, searched bool) ([]byte, error) {
	var out []byte
	for line := range bytes.Lines(content) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		blob := r.Repo.Format().Object(plumbing.BlobObject, append(bytes.Clone(text), '\n'))
		to, replaced := r.replaced[blob]
		if !replaced {
			to, replaced = r.Given[blob]
		}
		switch {
		case len(text) == 0:
		case replaced && !to.IsZero():
			record, err := r.Objects.Blob(to, ledger.MaxHandoff)
			if err != nil {
				return nil, err
			}
			text = bytes.TrimSuffix(record, []byte("\n"))
		default:
			text = r.record(at, text, evidence{segment: -1, clean: searched})
		}
		out = append(append(out, text...), line[len(bytes.TrimSuffix(line, []byte("\n"))):]...)
	}
	return out, nil
}

// everHeld reports whether anything is found in present or past notes. Mostly
// nothing is in any mission's, which one look at all of them tells.
func (r *Rewrite) everHeld(ctx context.Context, tip object.Hash) (found bool, err error) {
	if r.Target.Finder == nil || r.clean(tip) {
		return false, nil
	}
	if r.AllNotes[tip] {
		if r.inNotes == nil {
			found, err := r.inHistory(ctx, slices.Collect(maps.Keys(r.AllNotes))...)
			found = found || err != nil // of another mission's, perhaps
			r.inNotes = &found
		}
		if !*r.inNotes {
			return false, nil
		}
	}
	return r.inHistory(ctx, tip)
}

// inHistory reports whether anything is found in what some commits lead to.
func (r *Rewrite) inHistory(ctx context.Context, tips ...object.Hash) (found bool, err error) {
	var in strings.Builder
	for _, tip := range tips {
		fmt.Fprintln(&in, tip)
	}
	out, err := r.Repo.Output(ctx, strings.NewReader(in.String()), "rev-list", "--objects", "--no-object-names", "--stdin")
	if err != nil {
		return false, err
	}
	var list []object.Hash
	for hash := range strings.FieldsSeq(string(out)) {
		list = append(list, object.NewHash(hash))
	}
	err = r.each(ctx, list, MaxText, func(_ object.Hash, content []byte) error {
		if found = r.holds(content); found {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}
