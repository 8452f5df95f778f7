package session

import (
	"crypto/rand"
	"fmt"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/usage"
)

const stateVersion = 1 // of the layout; other states are dropped and rebuilt

// ByHand is the session prefix for turns recorded by hand.
const ByHand = "hand-"

// A Known is what is known locally about one session.
type Known struct {
	V          int                       `json:"v"`
	Session    string                    `json:"session"`
	Mission    record.ID                 `json:"mission,omitempty"`  // the mission it records to
	Worktree   string                    `json:"worktree,omitempty"` // git directory of the last event's worktree
	Top        string                    `json:"top,omitempty"`      // of that worktree
	Transcript string                    `json:"transcript,omitempty"`
	Seen       time.Time                 `json:"seen"`              // last event
	Cursors    map[record.ID]Cursor      `json:"cursors,omitempty"` // by mission
	Open       *OpenTurn                 `json:"open,omitempty"`
	Beside     []OpenTurn                `json:"beside,omitempty"` // other turns that run, in other clients
	Last       *LastTurn                 `json:"last,omitempty"`
	Client     Client                    `json:"client"`
	ClientLock ClientLock                `json:"hold,omitzero"`
	Away       bool                      `json:"away,omitempty"`       // at home in another repository, which has its conversation
	Ended      bool                      `json:"ended,omitempty"`      // ended and not resumed since
	HandedOff  bool                      `json:"handed_off,omitempty"` // its handoff is in the ledger
	Injected   []Injection               `json:"injected,omitempty"`   // handoffs that the conversation was told
	Agent      string                    `json:"agent,omitempty"`      // its name in records
	Wake       *Wake                     `json:"wake,omitempty"`       // what to do when the running turn ends
	Subagents  map[string]SubagentCursor `json:"sides,omitempty"`      // subagents' cursors by their ids
}

// An Injection is a handoff that a conversation was told.
type Injection struct {
	Handoff string    `json:"handoff"` // "a1b2c3d4/3"
	At      time.Time `json:"at"`
	Last    time.Time `json:"last,omitzero"`  // when it was last told; zero if compacted away since
	Line    bool      `json:"line,omitempty"` // only that there is one
}

// A Cursor is how much of a session's transcript a mission has recorded.
type Cursor struct {
	Offset int64  `json:"offset"`          // recorded bytes of the client's file
	Check  string `json:"check,omitempty"` // of the bytes before Offset; see package transcript
	Turn   int    `json:"turn"`            // the turn in which they end, or 0
}

// An OpenTurn is a turn that has begun and not ended.
type OpenTurn struct {
	PromptID string      `json:"prompt_id,omitempty"`
	Prompt   string      `json:"prompt"` // redacted and cut
	Started  time.Time   `json:"started"`
	Base     object.Hash `json:"base"`             // a commit of the worktree
	Head     object.Hash `json:"head"`             // HEAD; zero on an unborn branch
	Branch   string      `json:"branch,omitempty"` // HEAD's, or the one a rebase will move; "" when detached

	Transcript string `json:"transcript,omitempty"` // the client's file that the prompt named

	Client Client `json:"client,omitzero"`  // of a turn beside the open one, whose client is the session's
	Shared bool   `json:"shared,omitempty"` // another turn of the session ran meanwhile
}

// File returns the client's file: the open turn's if named, or the last one.
func (st *Known) File() string {
	if st.Open != nil && st.Open.Transcript != "" {
		return st.Open.Transcript
	}
	return st.Transcript
}

// A LastTurn is the turn recorded last in a session.
type LastTurn struct {
	Mission  record.ID   `json:"mission"`
	Turn     int         `json:"turn"`
	PromptID string      `json:"prompt_id,omitempty"`
	Key      string      `json:"key"` // hash of the event that recorded it, which may come twice
	Code     object.Hash `json:"code"`
	Base     object.Hash `json:"base"`
	From     object.Hash `json:"from,omitzero"`    // HEAD at its start; zero on an unborn branch
	Branch   string      `json:"branch,omitempty"` // at its start, as in [OpenTurn]
	Head     object.Hash `json:"head"`             // HEAD when it was recorded
	Prompt   string      `json:"prompt"`
	Started  time.Time   `json:"started"`
	Ended    time.Time   `json:"ended,omitzero"` // when it was recorded
	Before   Cursor      `json:"before"`         // the cursor before it, to record it again
	Refused  *Refusal    `json:"refused,omitempty"`

	SubagentsBefore map[string]SubagentCursor `json:"sides_before,omitempty"` // the same for its subagents

	// Spent is what the session's turns in the mission took, up to this one, if
	// the client keeps that beside the conversation; else nil.
	Spent *usage.Tokens `json:"spent,omitempty"`
}

// A Refusal is what the model's service said to a turn that it refused, in the
// same words perhaps as to the turns before it.
type Refusal struct {
	Cause string `json:"cause"`           // a digest of the words
	Times int    `json:"times"`           // turns in a row
	Whole bool   `json:"whole,omitempty"` // it is about the conversation, whatever comes next
	After int    `json:"after,omitempty"` // the conversation's turn before the first of them; 0 if there is none
}

// Lasts reports whether the service will refuse what comes next, too, and would
// not after an earlier turn.
func (r *Refusal) Lasts() bool { return r != nil && r.After > 0 && (r.Whole || r.Times > 1) }

// A SubagentCursor is how much of a subagent's transcript is recorded.
type SubagentCursor struct {
	Offset int64         `json:"offset"` // as in [Cursor]
	Check  string        `json:"check,omitempty"`
	Spent  usage.ByModel `json:"spent,omitempty"` // its recorded tokens
	Runs   bool          `json:"runs,omitempty"`  // it was still running
}

// A Client is a client's process: PID with Start, since pids are reused.
type Client struct {
	PID    int    `json:"pid,omitempty"`
	Start  string `json:"start,omitempty"` // field 22 of /proc/<pid>/stat, ticks since boot; or ""
	Boot   string `json:"boot,omitempty"`
	Domain string `json:"domain,omitempty"` // of the processes among which PID is unique; see [Domain]
}

// NewID returns an id for a new session: a random UUID, version 4.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // returns no error; a failure ends the process
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// A Wake asks to clear the agent's context, and to type the wake message, once
// the running turn has ended.
type Wake struct {
	Pane string `json:"pane"` // a tmux pane, as for `git agent-handoff wake --tmux`
}
