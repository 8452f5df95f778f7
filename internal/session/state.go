package session

import (
	"time"

	"gitagent/internal/git"
)

// stateVersion tells states of other layouts apart; they are dropped and rebuilt.
const stateVersion = 1

// A State is what is known locally about one session.
type State struct {
	V          int               `json:"v"`
	Session    string            `json:"session"`
	Mission    string            `json:"mission,omitempty"`  // that it records to
	Worktree   string            `json:"worktree,omitempty"` // git directory of the worktree of the last event
	Transcript string            `json:"transcript,omitempty"`
	Seen       time.Time         `json:"seen"`              // last event
	Cursors    map[string]Cursor `json:"cursors,omitempty"` // by mission
	Open       *OpenTurn         `json:"open,omitempty"`
	Last       *LastTurn         `json:"last,omitempty"`
	Client     Client            `json:"client"`
	Ended      bool              `json:"ended,omitempty"`      // the session's end was seen, and nothing since
	HandedOff  bool              `json:"handed_off,omitempty"` // and what it leaves to the next one is in the ledger
	Injected   []Injection       `json:"injected,omitempty"`   // what the conversation was told of
	Agent      string            `json:"agent,omitempty"`      // "claude-code"
	Told       bool              `json:"told,omitempty"`       // the user has had this session's one message about an error
	Wake       *Wake             `json:"wake,omitempty"`       // what to do when the running turn has ended
}

// An Injection is a handoff that a conversation was told of.
type Injection struct {
	Handoff string    `json:"handoff"` // "a1b2c3d4/3"
	At      time.Time `json:"at"`
}

// A Cursor says how much of a session's transcript a mission has.
type Cursor struct {
	Offset int64  `json:"offset"`          // bytes of the client's file that were taken
	Check  string `json:"check,omitempty"` // of the bytes before Offset, as package transcript makes it
	Turn   int    `json:"turn"`            // the turn that they end with; 0 for none
}

// An OpenTurn is a turn whose prompt was seen and whose end was not.
type OpenTurn struct {
	PromptID string    `json:"prompt_id,omitempty"`
	Prompt   string    `json:"prompt"` // redacted and cut
	Started  time.Time `json:"started"`
	Base     git.Hex   `json:"base"` // the commit whose tree the worktree had
	Head     git.Hex   `json:"head"` // HEAD; zero on an unborn branch
}

// A LastTurn is the turn that the session recorded last.
type LastTurn struct {
	Mission  string    `json:"mission"`
	Turn     int       `json:"turn"`
	PromptID string    `json:"prompt_id,omitempty"`
	Key      string    `json:"key"` // hash of the event that recorded it: the same event may arrive twice
	Code     git.Hex   `json:"code"`
	Base     git.Hex   `json:"base"`
	Head     git.Hex   `json:"head"` // HEAD when it was recorded
	Prompt   string    `json:"prompt"`
	Started  time.Time `json:"started"`
	Before   Cursor    `json:"before"` // the cursor as it was then: the turn is recorded again from there
}

// A Client is the process of the agent's client. Pid and Start together name it:
// the system uses a pid again.
type Client struct {
	PID    int    `json:"pid,omitempty"`
	Start  string `json:"start,omitempty"` // field 22 of /proc/<pid>/stat, clock ticks since boot; empty elsewhere
	Boot   string `json:"boot,omitempty"`
	Domain string `json:"domain,omitempty"` // of processes among which PID is unique; see [Domain]
}
