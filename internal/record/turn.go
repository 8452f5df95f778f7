package record

import (
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/usage"
)

// An Outcome is how a turn ended.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Failed      Outcome = "failed"      // an error of the model's service
	Interrupted Outcome = "interrupted" // the user stopped it, or the client ended during it
	Running     Outcome = "running"     // of a sub-agent that goes on after the turn, or of a turn that a handoff comes in
)

// ParseOutcome parses an outcome of a turn that a person typed.
func ParseOutcome(s string) (Outcome, error) {
	switch o := Outcome(s); o {
	case Done, Failed, Interrupted:
		return o, nil
	}
	return "", fmt.Errorf("outcome %q: it is one of done, failed, interrupted", s)
}

// KindTurn distinguishes a turn's line in a note from others.
const KindTurn = "turn"

// A Turn is the record of one turn. Its JSON form, one object on one line, is
// in the ledger and in the note on Code.
type Turn struct {
	V       int       `json:"v" purge:"formal"`    // [Version]
	Kind    string    `json:"kind" purge:"formal"` // [KindTurn]
	Mission ID        `json:"mission" purge:"formal"`
	Turn    int       `json:"turn" purge:"formal"`              // from 1 within the mission; a fork goes on counting
	At      time.Time `json:"at" purge:"formal"`                // when it was recorded
	Started time.Time `json:"started,omitzero" purge:"formal"`  // when its prompt was given, as far as that is known
	Outcome Outcome   `json:"outcome" purge:"formal"`           //
	Agent   string    `json:"agent,omitempty" purge:"formal"`   // its name, see package agent
	Model   string    `json:"model,omitempty" purge:"text"`     // the one that wrote the last message
	Session string    `json:"session,omitempty" purge:"formal"` // the client's id of the conversation
	Program string    `json:"program,omitempty" purge:"text"`   // that made the record, see [version.Program]

	PromptID string `json:"prompt_id,omitempty" purge:"formal"`
	Prompt   string `json:"prompt,omitempty" purge:"prompt"` // redacted; at most 500 runes, its beginning
	Reply    string `json:"reply,omitempty" purge:"reply"`   // redacted; at most 1000 runes, the end of the last message

	Code   git.Hash `json:"code" purge:"hash"`             // commit whose tree is the worktree at the end
	Base   git.Hash `json:"base,omitzero" purge:"hash"`    // commit whose tree is the worktree at the start: the turn's diff is Base..Code
	Head   git.Hash `json:"head,omitzero" purge:"hash"`    // HEAD at the end; none on an unborn branch
	Branch string   `json:"branch,omitempty" purge:"text"` // short name; none when HEAD was detached

	Files      int      `json:"files" purge:"count"`          // changed between Base and Code
	Insertions int      `json:"insertions" purge:"count"`     // lines
	Deletions  int      `json:"deletions" purge:"count"`      // lines
	Paths      []string `json:"paths,omitempty" purge:"text"` // the first 20
	Skipped    []Skip   `json:"skipped,omitempty"`            // what Code leaves out; the first 50

	Tools       map[string]int `json:"tools,omitempty" purge:"names"` // calls by name
	Context     int64          `json:"context" purge:"number"`        // tokens that the last request sent
	Output      int64          `json:"output" purge:"number"`         // tokens that the model wrote
	Compactions int            `json:"compactions" purge:"number"`

	// Tokens are those of all messages on the main chain, by model; nil if that
	// is not known, as in records of older programs.
	Tokens usage.ByModel `json:"tokens,omitempty" purge:"names"`

	Agents     []Subagent `json:"agents,omitempty"`                     // sub-agents that ran in the turn
	AgentsLeft int        `json:"agents_left,omitempty" purge:"number"` // those of which nothing is there: there was too much

	Transcript *Segment `json:"transcript,omitempty"` // nil if the client keeps none

	// Imported is set if nobody looked when the turn ended. It says what proves
	// where the code was: "reflog" or "transcript". With anything else it is
	// not known.
	Imported string `json:"imported,omitempty" purge:"formal"`

	Text      Text     `json:"-"` // what was parsed
	Ledger    ID       `json:"-"` // the mission in whose ledger the record was read; a fork inherits its source's records
	LedgerTip git.Hash `json:"-"` // the ledger's commit at which it was read
}

// A Skip is a path that a state leaves out, and why.
type Skip struct {
	Path string `json:"path" purge:"text"`  // a directory ends in a slash
	Why  string `json:"why" purge:"formal"` // one of package snapshot's Why constants
}

// A Side is what a turn's record says of a sub-agent that ran in it: in the
// background it may have begun before, and may go on after it.
type Subagent struct {
	ID      string        `json:"id" purge:"formal"`
	Type    string        `json:"type,omitempty" purge:"text"`   // what the client calls its kind; redacted
	Call    string        `json:"call,omitempty" purge:"formal"` // id of the call by which it was started
	Outcome Outcome       `json:"outcome" purge:"formal"`        // at the end of its part
	Calls   int           `json:"calls" purge:"number"`          // of tools
	Tokens  usage.ByModel `json:"tokens,omitempty" purge:"names"`
	Bytes   int           `json:"bytes" purge:"number"` // of its part, redacted
	From    int64         `json:"from" purge:"number"`  // where that begins in the client's file, bytes
	To      int64         `json:"to" purge:"number"`    // where it ends there
	Missing string        `json:"missing,omitempty" purge:"formal"`
}

// A Segment says where the turn's part of the conversation is.
type Segment struct {
	Path  string `json:"path,omitempty" purge:"formal"` // in the ledger; empty if there is none
	After int    `json:"after" purge:"number"`          // the turn with the preceding segment of the same conversation; 0 if this is the first
	Bytes int    `json:"bytes" purge:"number"`          // of the segment, redacted
	From  int64  `json:"from" purge:"number"`           // where it begins in the client's file, bytes
	To    int64  `json:"to" purge:"number"`             // where it ends there
	// Missing is why there is no segment: "redaction", "size" or "unreadable".
	Missing string `json:"missing,omitempty" purge:"formal"`
}
