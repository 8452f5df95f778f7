package turns

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// A Turn is the record of one turn.
type Turn record.Turn

func (t *Turn) mission() record.ID {
	return cmp.Or(t.Ledger, t.Mission)
}

// OpenLedger opens the ledger that the turn was read from, as it was then.
func (t *Turn) OpenLedger(ctx context.Context, repo *git.Repo, objects *git.Objects) (*ledger.Ledger, error) {
	if t.LedgerTip.IsZero() {
		return ledger.Open(ctx, repo, objects, t.mission())
	}
	return ledger.At(objects, t.mission(), t.LedgerTip)
}

// Parse decodes a turn's record, with hashes of the format, and keeps unknown
// fields. For another version the error wraps [record.ErrVersion].
func Parse(data []byte, format object.Format) (*Turn, error) {
	return decode(string(data), format)
}

// decode is Parse. The Turn refers to text.
func decode(text string, format object.Format) (*Turn, error) {
	t := new(Turn)
	if err := record.Decode(text, t); err != nil {
		return nil, fmt.Errorf("parse turn: %w", err)
	}
	t.Text = record.TextOf(text)
	return t.valid(format)
}

// valid returns the decoded record, without the fields that can't be right.
func (t *Turn) valid(format object.Format) (*Turn, error) {
	switch _, err := record.ParseID(t.Mission); {
	case t.V != record.Version:
		return nil, fmt.Errorf("parse turn: %w: v%d", record.ErrVersion, t.V)
	case t.Kind != record.KindTurn:
		return nil, fmt.Errorf("parse turn: the record is of kind %q", t.Kind)
	case err != nil:
		return nil, fmt.Errorf("parse turn: %w", err)
	case !record.IsNumber(t.Turn):
		return nil, fmt.Errorf("parse turn: number %d", t.Turn)
	case t.Transcript != nil && t.Transcript.After != 0 && !record.IsNumber(t.Transcript.After):
		return nil, fmt.Errorf("parse turn %d of %s: it follows turn %d", t.Turn, t.Mission, t.Transcript.After)
	case t.Code.IsZero():
		return nil, fmt.Errorf("parse turn %d of %s: no code commit", t.Turn, t.Mission)
	case !format.Names(t.Code, t.Base, t.Head):
		return nil, fmt.Errorf("parse turn %d of %s: a hash is not of the format %s", t.Turn, t.Mission, format)
	}
	if o := t.Own; o != nil && (!format.Names(o.Of, o.Others, o.Shared, o.Last) || !format.Names(o.Commits...) || !o.Plausible()) {
		t.Own = nil
	}
	t.Worktrees = slices.DeleteFunc(t.Worktrees, func(w record.Worktree) bool {
		return !IsWorktreeName(w.Name) || w.Base.IsZero() || w.Code.IsZero() || !format.Names(w.Base, w.Code) || w.Files < 0 || w.Insertions < 0 || w.Deletions < 0
	})
	if h := t.Home; h != nil && (!h.Mission.Valid() || h.Turn != 0 && !record.IsNumber(h.Turn)) {
		t.Home = nil
	}
	return t, nil
}

// Encode returns the record as one line of JSON, without a newline.
func (t *Turn) Encode() ([]byte, error) { return t.Text.Encode(t) }

// Line returns the record like Encode, but unchanged if it was read.
func (t *Turn) Line() ([]byte, error) { return t.Text.Line(t) }

// Replaces makes t take old's place: with its unknown fields and a later date,
// even if the event was earlier, since the latest line in a note counts.
func (t *Turn) Replaces(old *Turn) error {
	if !t.At.After(old.At) {
		t.At = old.At.Add(time.Millisecond)
	}
	return t.Text.Inherit(&old.Text, old)
}

// ID returns the turn's name across missions.
func (t *Turn) ID() record.TurnID { return record.TurnID{Mission: t.Mission, Turn: t.Turn} }

// A shortLine is added to a long note: many turns without a file change share
// one commit, and each writes the whole note again.
type shortLine struct {
	V          int            `json:"v"`
	Kind       string         `json:"kind"`
	Mission    record.ID      `json:"mission"`
	Turn       int            `json:"turn"`
	At         time.Time      `json:"at"`
	Outcome    record.Outcome `json:"outcome"`
	Session    string         `json:"session,omitempty"`
	Code       object.Hash    `json:"code"`
	Files      int            `json:"files"`
	Insertions int            `json:"insertions"`
	Deletions  int            `json:"deletions"`
}

// NoteLine returns the turn's line for the note on its code commit: its record
// as encoded in line or, if on, the note so far, is long, a short one.
func (t *Turn) NoteLine(line, on []byte) ([]byte, error) {
	if len(on)+len(line) < record.MaxNote {
		return line, nil
	}
	return t.short()
}

func (t *Turn) short() ([]byte, error) {
	return record.Encode(shortLine{
		t.V, t.Kind, t.Mission, t.Turn, t.At, t.Outcome, t.Session, t.Code, t.Files, t.Insertions, t.Deletions,
	}, nil)
}
