package session

import (
	"crypto/rand"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/usage"
)

const stateVersion = 1 // of the layout; states with another one are dropped and rebuilt

// ByHand is the prefix of states that belong to no client's session, for turns recorded by hand.
const ByHand = "hand-"

// A State is what is known locally about one session.
type Known struct {
	V          int                       `json:"v"`
	Session    string                    `json:"session"`
	Mission    record.ID                 `json:"mission,omitempty"`  // the one it records to
	Worktree   string                    `json:"worktree,omitempty"` // git directory of the worktree of the last event
	Transcript string                    `json:"transcript,omitempty"`
	Seen       time.Time                 `json:"seen"`              // last event
	Cursors    map[record.ID]Cursor      `json:"cursors,omitempty"` // by mission
	Open       *OpenTurn                 `json:"open,omitempty"`
	Last       *LastTurn                 `json:"last,omitempty"`
	Client     Client                    `json:"client"`
	ClientLock ClientLock                `json:"hold,omitzero"`
	Ended      bool                      `json:"ended,omitempty"`      // the session has ended, and not been resumed since
	HandedOff  bool                      `json:"handed_off,omitempty"` // its handoff is in the ledger
	Injected   []Injection               `json:"injected,omitempty"`   // the handoffs that the conversation was told
	Agent      string                    `json:"agent,omitempty"`      // its name in records
	Wake       *Wake                     `json:"wake,omitempty"`       // what to do when the running turn ends
	Sides      map[string]SubagentCursor `json:"sides,omitempty"`      // how much of its sub-agents' transcripts is recorded, by their ids
}

// An Injection is a handoff that a conversation was told.
type Injection struct {
	Handoff string    `json:"handoff"` // "a1b2c3d4/3"
	At      time.Time `json:"at"`
	Last    time.Time `json:"last,omitzero"`  // when it was told last; zero if it was compacted away since
	Line    bool      `json:"line,omitempty"` // only that there is one
}

// A Cursor says how much of a session's transcript a mission has recorded.
type Cursor struct {
	Offset int64  `json:"offset"`          // bytes of the client's file that were taken
	Check  string `json:"check,omitempty"` // of the bytes before Offset, as package transcript makes it
	Turn   int    `json:"turn"`            // the turn in which they end; 0 for none
}

// An OpenTurn is a turn whose prompt was seen, but not its end.
type OpenTurn struct {
	PromptID string    `json:"prompt_id,omitempty"`
	Prompt   string    `json:"prompt"` // redacted and cut
	Started  time.Time `json:"started"`
	Base     git.Hash  `json:"base"`             // the commit whose tree the worktree had
	Head     git.Hash  `json:"head"`             // HEAD; zero on an unborn branch
	Branch   string    `json:"branch,omitempty"` // HEAD's, or the one that the rebase under way will move; empty when detached

	Transcript string `json:"transcript,omitempty"` // the client's file as the prompt named it
}

// File is the client's file of the conversation: the running turn's if that has named one, otherwise that
// of the last one recorded.
func (st *Known) File() string {
	if st.Open != nil && st.Open.Transcript != "" {
		return st.Open.Transcript
	}
	return st.Transcript
}

// A LastTurn is the turn that was recorded last in the session.
type LastTurn struct {
	Mission  record.ID `json:"mission"`
	Turn     int       `json:"turn"`
	PromptID string    `json:"prompt_id,omitempty"`
	Key      string    `json:"key"` // hash of the event that recorded it: the same event may arrive twice
	Code     git.Hash  `json:"code"`
	Base     git.Hash  `json:"base"`
	From     git.Hash  `json:"from,omitzero"`    // HEAD when it began; zero on an unborn branch
	Branch   string    `json:"branch,omitempty"` // HEAD's when it began, as in [OpenTurn]
	Head     git.Hash  `json:"head"`             // HEAD when it was recorded
	Prompt   string    `json:"prompt"`
	Started  time.Time `json:"started"`
	Before   Cursor    `json:"before"` // the cursor before the turn, from which the turn is recorded again

	SidesBefore map[string]SubagentCursor `json:"sides_before,omitempty"` // the same of the sub-agents that ran in it
}

// A Side says how much of a sub-agent's transcript is recorded.
type SubagentCursor struct {
	Offset int64         `json:"offset"` // as in [Cursor]
	Check  string        `json:"check,omitempty"`
	Spent  usage.ByModel `json:"spent,omitempty"` // what was recorded of its tokens
	Runs   bool          `json:"runs,omitempty"`  // it had not ended then
}

// A Client is the process of the agent's client, identified by PID and Start together, since the
// system reuses pids.
type Client struct {
	PID    int    `json:"pid,omitempty"`
	Start  string `json:"start,omitempty"` // field 22 of /proc/<pid>/stat, clock ticks since boot; empty elsewhere
	Boot   string `json:"boot,omitempty"`
	Domain string `json:"domain,omitempty"` // of processes among which PID is unique; see [Domain]
}

// NewID returns an id for a new session: a random UUID, version 4.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error; a failure ends the process
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// A Wake asks for the agent's context to be cleared, and for the wake message to be typed,
// as soon as the running turn has ended.
type Wake struct {
	Pane string `json:"pane"` // a tmux pane, as `git agent-handoff wake --tmux` takes it
}
