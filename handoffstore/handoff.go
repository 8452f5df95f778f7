package handoffstore

import (
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// A Handoff is the record of one handoff.
type Handoff record.Handoff

// The files of a handoff in the ledger.
const (
	recordFile   = "handoff.json"
	docFile      = "handoff.md"
	patchFile    = "uncommitted.patch"
	terminalFile = "terminal.txt"
)

// Parse decodes a handoff's record in a repository of that format, and keeps
// unknown fields. The error for a newer version wraps [record.ErrVersion].
func Parse(data []byte, format object.Format) (*Handoff, error) {
	h := new(Handoff)
	text := string(data)
	err := record.Decode(text, h)
	h.Text = record.TextOf(text)
	switch {
	case err != nil:
	case h.V != record.Version:
		err = fmt.Errorf("%w: v%d", record.ErrVersion, h.V)
	case h.Kind != record.KindHandoff:
		err = fmt.Errorf("the record is of kind %q", h.Kind)
	default:
		_, err = record.ParseID(h.Mission)
	}
	switch {
	case err != nil:
	case !record.IsNumber(h.Number):
		err = fmt.Errorf("number %d", h.Number)
	case h.LastTurn != 0 && !record.IsNumber(h.LastTurn):
		err = fmt.Errorf("its last turn is %d", h.LastTurn)
	case !format.Names(h.Head, h.Stash) || slices.ContainsFunc(h.Commits, func(c record.Commit) bool { return !format.Names(c.Hash) }):
		err = fmt.Errorf("a hash is not of the format %s", format)
	}
	if err != nil {
		return nil, fmt.Errorf("parse handoff: %w", err)
	}
	if _, err := record.ParseExitType(string(h.ExitType)); err != nil {
		return nil, fmt.Errorf("parse handoff %s: %w", h.ID(), err)
	}
	return h, nil
}

// Encode returns the record as one line of JSON, without a newline.
func (h *Handoff) Encode() ([]byte, error) { return h.Text.Encode(h) }

// Line returns the record as one line of JSON, unchanged if it was read.
func (h *Handoff) Line() ([]byte, error) { return h.Text.Line(h) }

// An ID names a handoff across missions, written `a1b2c3d4/3`.
type ID struct {
	Mission record.ID
	Number  int
}

func (id ID) String() string { return fmt.Sprintf("%s/%d", id.Mission, id.Number) }

// ID names the handoff.
func (h *Handoff) ID() ID { return ID{h.Mission, h.Number} }

// Prose returns summary, questions, todos and the last prompt, in lines.
func (h *Handoff) Prose() string {
	parts := append([]string{h.Summary}, h.Questions...)
	for _, t := range h.Todos {
		parts = append(parts, t.Status+": "+t.Text)
	}
	return strings.Join(append(parts, h.LastPrompt), "\n")
}

// When says after which turn the handoff was made, or "" if there was none.
func (h *Handoff) When() string {
	switch {
	case h.LastOutcome == record.Running:
		return fmt.Sprintf("in the middle of turn %d", h.LastTurn+1)
	case h.LastTurn > 0:
		return fmt.Sprintf("after turn %d (%s)", h.LastTurn, h.LastOutcome)
	}
	return ""
}

// NoteLine returns the handoff's line in a note. It only says where the record
// is, as every new line rewrites the whole note.
func (h *Handoff) NoteLine() ([]byte, error) {
	return record.Encode(&Handoff{
		V: h.V, Kind: h.Kind, Mission: h.Mission, Number: h.Number, At: h.At, ExitType: h.ExitType,
		Agent: h.Agent, Session: h.Session, LastTurn: h.LastTurn, Head: h.Head, Stash: h.Stash, Doc: h.Doc,
	}, nil)
}
