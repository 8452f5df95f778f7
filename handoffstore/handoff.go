package handoffstore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
)

// An ExitType is how the session behind a handoff ended.
type ExitType string

const (
	Clean  ExitType = "clean"  // it ended, or handed off and goes on
	Crash  ExitType = "crash"  // it died between turns, or its last turn failed
	Killed ExitType = "killed" // it died in the middle of a turn
)

// ParseExitType parses an exit type that a person typed.
func ParseExitType(s string) (ExitType, error) {
	switch e := ExitType(s); e {
	case Clean, Crash, Killed:
		return e, nil
	}
	return "", fmt.Errorf("exit type %q: it is one of clean, crash, killed", s)
}

const kind = "handoff" // distinguishes a handoff's line in a note from others

// A Handoff is the record of one handoff. Its JSON form, one object on one line, is in the ledger.
type Handoff struct {
	V       int       `json:"v"`    // [ledger.Version]
	Kind    string    `json:"kind"` // "handoff"
	Mission ledger.ID `json:"mission"`
	Number  int       `json:"handoff"` // from 1 within the mission
	At      time.Time `json:"at"`

	ExitType ExitType `json:"exit_type"`
	Agent    string   `json:"previous_agent,omitempty"` // its name in records, or what a supervisor calls it
	Session  string   `json:"session,omitempty"`        // the client's id of the conversation
	Program  string   `json:"program,omitempty"`        // that made the record, see [version.Program]

	LastTurn    int    `json:"last_turn,omitempty"` // 0 if the mission has none
	LastOutcome string `json:"last_outcome,omitempty"`
	LastPrompt  string `json:"last_prompt,omitempty"` // redacted; at most 500 runes, its beginning

	Head    git.Hash        `json:"git_sha,omitzero"`              // HEAD; none on an unborn branch
	Branch  string          `json:"branch,omitempty"`              // short name; none when HEAD was detached
	Stash   git.Hash        `json:"stash_ref,omitzero"`            // commit whose tree is the worktree, with parent Head; none if it equals Head's
	Files   int             `json:"files,omitempty"`               // not committed
	Paths   []string        `json:"paths,omitempty"`               // the first 20 of them
	Diff    string          `json:"uncommitted_changes,omitempty"` // the beginning of the patch, whole lines, redacted
	Skipped []snapshot.Skip `json:"skipped,omitempty"`             // what Stash leaves out; the first 50
	Commits []Commit        `json:"recent_commits,omitempty"`      // up to Head, newest first

	Summary   string            `json:"progress_summary,omitempty"` // the agent's, else the end of its last reply
	Questions []string          `json:"open_questions,omitempty"`
	Todos     []transcript.Todo `json:"todos,omitempty"`

	Written   time.Time `json:"written,omitzero"`     // when the agent wrote document or summary; zero if it wrote none
	Doc       string    `json:"doc,omitempty"`        // the document in the ledger
	Source    string    `json:"doc_source,omitempty"` // where the agent wrote it; in a worktree, relative to its top
	Patch     string    `json:"patch,omitempty"`      // the uncommitted changes, in the ledger
	Terminal  string    `json:"terminal,omitempty"`   // snapshot of the terminal, in the ledger
	Log       string    `json:"log,omitempty"`        // complete log of the terminal, a file on the machine of the session
	Truncated []string  `json:"truncated,omitempty"`  // what was cut: "document", "patch", "uncommitted_changes"

	raw []byte // what was parsed
}

// A Commit is one of the recent commits.
type Commit struct {
	Hash    git.Hash `json:"hash"`
	Subject string   `json:"subject"`
}

// The limits of a record.
const (
	maxPrompt    = 500  // runes
	maxSummary   = 4000 // runes
	maxReply     = 1000 // runes, of a reply that stands in for a summary
	maxQuestions = 20   // number
	maxQuestion  = 500  // runes
	maxTodos     = 50   // number
	maxTodo      = 300  // runes
	maxPaths     = 20   // number
	maxSkipped   = 50   // number
	maxSubject   = 120  // runes
)

// The files of a handoff in the ledger.
const (
	recordFile   = "handoff.json"
	docFile      = "handoff.md"
	patchFile    = "uncommitted.patch"
	terminalFile = "terminal.txt"
)

// Parse decodes the record of a handoff, in a repository whose hashes have that format. A record of a newer format gives
// an error wrapping [ledger.ErrVersion]. Unknown fields are kept. The Handoff refers to data.
func Parse(data []byte, format git.Format) (*Handoff, error) {
	h := &Handoff{raw: data}
	err := ledger.Decode(data, h)
	switch {
	case err != nil:
	case h.V != ledger.Version:
		err = fmt.Errorf("%w: v%d", ledger.ErrVersion, h.V)
	case h.Kind != kind:
		err = fmt.Errorf("the record is of kind %q", h.Kind)
	default:
		_, err = ledger.ParseID(string(h.Mission))
	}
	switch {
	case err != nil:
	case !ledger.IsNumber(h.Number):
		err = fmt.Errorf("number %d", h.Number)
	case h.LastTurn != 0 && !ledger.IsNumber(h.LastTurn):
		err = fmt.Errorf("its last turn is %d", h.LastTurn)
	case !format.Names(h.Head, h.Stash) || slices.ContainsFunc(h.Commits, func(c Commit) bool { return !format.Names(c.Hash) }):
		err = fmt.Errorf("a hash is not of the format %s", format)
	}
	if err != nil {
		return nil, fmt.Errorf("parse handoff: %w", err)
	}
	if _, err := ParseExitType(string(h.ExitType)); err != nil {
		return nil, fmt.Errorf("parse handoff %s: %w", h.ID(), err)
	}
	return h, nil
}

// Encode returns the record as one line of JSON, without a newline.
func (h *Handoff) Encode() ([]byte, error) {
	if h.raw == nil {
		return ledger.Encode(h, nil)
	}
	unknown, err := ledger.Unknown(h.raw, h)
	if err != nil {
		return nil, fmt.Errorf("encode handoff: %w", err)
	}
	return ledger.Encode(h, unknown)
}

// Line returns the record as one line of JSON, without a newline: unchanged if it was read from a
// ledger.
func (h *Handoff) Line() ([]byte, error) {
	line := bytes.TrimRight(h.raw, "\n")
	if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return h.Encode()
	}
	return line, nil
}

// An ID names a handoff across missions, written `a1b2c3d4/3`.
type ID struct {
	Mission ledger.ID
	Number  int
}

func (id ID) String() string { return fmt.Sprintf("%s/%d", id.Mission, id.Number) }

// ID names the handoff.
func (h *Handoff) ID() ID { return ID{h.Mission, h.Number} }

// Prose is the record's prose, in lines: summary, questions, todos and the last prompt.
func (h *Handoff) Prose() string {
	parts := append([]string{h.Summary}, h.Questions...)
	for _, t := range h.Todos {
		parts = append(parts, t.Status+": "+t.Text)
	}
	return strings.Join(append(parts, h.LastPrompt), "\n")
}

// When says at which turn of the mission the handoff was made, "" if there were none.
func (h *Handoff) When() string {
	switch {
	case h.LastOutcome == running:
		return fmt.Sprintf("in the middle of turn %d", h.LastTurn+1)
	case h.LastTurn > 0:
		return fmt.Sprintf("after turn %d (%s)", h.LastTurn, h.LastOutcome)
	}
	return ""
}

// NoteLine is the handoff's line in a note. It only says where the record is, as every new line
// rewrites the whole note.
func (h *Handoff) NoteLine() ([]byte, error) {
	return ledger.Encode(&Handoff{
		V: h.V, Kind: h.Kind, Mission: h.Mission, Number: h.Number, At: h.At, ExitType: h.ExitType,
		Agent: h.Agent, Session: h.Session, LastTurn: h.LastTurn, Head: h.Head, Stash: h.Stash, Doc: h.Doc,
	}, nil)
}
