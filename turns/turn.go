package turns

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/snapshot"
	"gitagent/internal/spent"
)

// An Outcome is how a turn ended.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Failed      Outcome = "failed"      // an error of the model's service
	Interrupted Outcome = "interrupted" // the user stopped it, or the client ended during it
)

// ParseOutcome parses an outcome that a person typed.
func ParseOutcome(s string) (Outcome, error) {
	switch o := Outcome(s); o {
	case Done, Failed, Interrupted:
		return o, nil
	}
	return "", fmt.Errorf("outcome %q: it is one of done, failed, interrupted", s)
}

// kind distinguishes a turn's line in a note from others.
const kind = "turn"

// A Turn is the record of one turn. Its JSON form, one object on one line, is in
// the ledger and in the note on Code.
type Turn struct {
	V       int       `json:"v"`    // [ledger.Version]
	Kind    string    `json:"kind"` // "turn"
	Mission ledger.ID `json:"mission"`
	Turn    int       `json:"turn"`              // from 1 within the mission; a fork goes on counting
	At      time.Time `json:"at"`                // when it was recorded
	Started time.Time `json:"started,omitzero"`  // when its prompt was given, as far as that is known
	Outcome Outcome   `json:"outcome"`           //
	Agent   string    `json:"agent,omitempty"`   // its name, see package agent
	Model   string    `json:"model,omitempty"`   // the one that wrote the last message
	Session string    `json:"session,omitempty"` // the client's id of the conversation
	Program string    `json:"program,omitempty"` // that made the record, see [version.Program]

	PromptID string `json:"prompt_id,omitempty"`
	Prompt   string `json:"prompt,omitempty"` // redacted; at most 500 runes, its beginning
	Reply    string `json:"reply,omitempty"`  // redacted; at most 1000 runes, the end of the last message

	Code   git.Hash `json:"code"`             // commit whose tree is the worktree at the end
	Base   git.Hash `json:"base,omitzero"`    // commit whose tree is the worktree at the start: the turn's diff is Base..Code
	Head   git.Hash `json:"head,omitzero"`    // HEAD at the end; none on an unborn branch
	Branch string   `json:"branch,omitempty"` // short name; none when HEAD was detached

	Files      int             `json:"files"`             // changed between Base and Code
	Insertions int             `json:"insertions"`        // lines
	Deletions  int             `json:"deletions"`         // lines
	Paths      []string        `json:"paths,omitempty"`   // the first 20
	Skipped    []snapshot.Skip `json:"skipped,omitempty"` // what Code leaves out; the first 50

	Tools       map[string]int `json:"tools,omitempty"` // calls by name
	Context     int64          `json:"context"`         // tokens that the last request sent
	Output      int64          `json:"output"`          // tokens that the model wrote
	Compactions int            `json:"compactions"`

	// Tokens are those of all messages on the main chain, by model; nil if that is not known, as in records
	// of older programs.
	Tokens spent.ByModel `json:"tokens,omitempty"`

	Agents     []Side `json:"agents,omitempty"`      // sub-agents that ran in the turn
	AgentsLeft int    `json:"agents_left,omitempty"` // those of which nothing is there: there was too much

	Transcript *Segment `json:"transcript,omitempty"` // nil if the client keeps none

	// Imported is set if nobody looked when the turn ended. It says what proves where the code was:
	// "reflog" or "transcript". With anything else it is not known; see [Turn.CodeKnown].
	Imported string `json:"imported,omitempty"`

	raw     []byte        // what was parsed
	unknown ledger.Fields // fields to keep when the record is written again
	in      ledger.ID     // the mission in whose ledger the record was read; a fork inherits its source's records
	at      git.Hash      // the ledger's commit at which it was read
}

// mission is the mission in whose ledger to look up the turn.
func (t *Turn) mission() ledger.ID {
	if t.in != "" {
		return t.in
	}
	return t.Mission
}

// ledger opens the ledger in which the turn was read, as it was then.
func (t *Turn) ledger(ctx context.Context, repo *git.Repo, objects *git.Objects) (*ledger.Ledger, error) {
	if t.at.IsZero() {
		return ledger.Open(ctx, repo, objects, t.mission())
	}
	return ledger.At(objects, t.mission(), t.at)
}

// A Segment says where the turn's part of the conversation is.
type Segment struct {
	Path  string `json:"path,omitempty"` // in the ledger; empty if there is none
	After int    `json:"after"`          // the turn with the preceding segment of the same conversation; 0 if this is the first
	Bytes int    `json:"bytes"`          // of the segment, redacted
	From  int64  `json:"from"`           // where it begins in the client's file, bytes
	To    int64  `json:"to"`             // where it ends there
	// Missing is why there is no segment: "redaction", "size" or "unreadable".
	Missing string `json:"missing,omitempty"`
}

// The limits of a record, and of a note.
const (
	maxPrompt  = 500      // runes
	maxReply   = 1000     // runes
	maxPaths   = 20       // number
	maxSkipped = 50       // number
	maxNote    = 32 << 10 // bytes; a longer note gets short lines
)

// Parse decodes the record of a turn, in a repository whose hashes have that format. A record of a newer format gives
// an error wrapping [ledger.ErrVersion]. Unknown fields are kept. The Turn refers to data.
func Parse(data []byte, format git.Format) (*Turn, error) {
	t := &Turn{raw: data}
	if err := ledger.Decode(data, t); err != nil {
		return nil, fmt.Errorf("parse turn: %w", err)
	}
	switch _, err := ledger.ParseID(string(t.Mission)); {
	case t.V != ledger.Version:
		return nil, fmt.Errorf("parse turn: %w: v%d", ledger.ErrVersion, t.V)
	case t.Kind != kind:
		return nil, fmt.Errorf("parse turn: the record is of kind %q", t.Kind)
	case err != nil:
		return nil, fmt.Errorf("parse turn: %w", err)
	case !ledger.IsNumber(t.Turn):
		return nil, fmt.Errorf("parse turn: number %d", t.Turn)
	case t.Transcript != nil && t.Transcript.After != 0 && !ledger.IsNumber(t.Transcript.After):
		return nil, fmt.Errorf("parse turn %d of %s: it follows turn %d", t.Turn, t.Mission, t.Transcript.After)
	case t.Code.IsZero():
		return nil, fmt.Errorf("parse turn %d of %s: no code commit", t.Turn, t.Mission)
	case !format.Names(t.Code, t.Base, t.Head):
		return nil, fmt.Errorf("parse turn %d of %s: a hash is not of the format %s", t.Turn, t.Mission, format)
	}
	return t, nil
}

// Encode returns the record as one line of JSON, without a newline.
func (t *Turn) Encode() ([]byte, error) {
	if t.raw != nil && t.unknown == nil {
		var err error
		if t.unknown, err = ledger.Unknown(t.raw, t); err != nil {
			return nil, fmt.Errorf("encode turn: %w", err)
		}
	}
	return ledger.Encode(t, t.unknown)
}

// Line returns the record as one line of JSON, without a newline: unchanged if it was read.
func (t *Turn) Line() ([]byte, error) {
	line := bytes.TrimRight(t.raw, "\n")
	if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return t.Encode()
	}
	return line, nil
}

// Size is how many bytes the record had when it was read.
func (t *Turn) Size() int { return len(t.raw) }

// replaces makes t the record that takes the place of old. It keeps old's unknown fields, and is
// dated later even if its event began earlier: the latest of several lines in a note counts.
func (t *Turn) replaces(old *Turn) error {
	if !t.At.After(old.At) {
		t.At = old.At.Add(time.Millisecond)
	}
	var err error
	t.unknown, err = ledger.Unknown(old.raw, old)
	return err
}

// ID names the turn across missions.
func (t *Turn) ID() ledger.TurnID { return ledger.TurnID{Mission: t.Mission, Turn: t.Turn} }

// A shortLine is added to a note that has become long: many turns without a file change share one
// commit, and each of them writes the whole note anew.
type shortLine struct {
	V          int       `json:"v"`
	Kind       string    `json:"kind"`
	Mission    ledger.ID `json:"mission"`
	Turn       int       `json:"turn"`
	At         time.Time `json:"at"`
	Outcome    Outcome   `json:"outcome"`
	Session    string    `json:"session,omitempty"`
	Code       git.Hash  `json:"code"`
	Files      int       `json:"files"`
	Insertions int       `json:"insertions"`
	Deletions  int       `json:"deletions"`
}

// NoteLine is the turn's line in the note on its code commit, which has some content: its record, encoded as
// line, or where the note would become too long, what a list needs of it.
func (t *Turn) NoteLine(line, on []byte) ([]byte, error) {
	if len(on)+len(line) < maxNote {
		return line, nil
	}
	return t.short()
}

// short returns the record as a short line, without a newline.
func (t *Turn) short() ([]byte, error) {
	return ledger.Encode(shortLine{
		t.V, t.Kind, t.Mission, t.Turn, t.At, t.Outcome, t.Session, t.Code, t.Files, t.Insertions, t.Deletions,
	}, nil)
}
