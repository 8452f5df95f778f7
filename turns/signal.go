package turns

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// An Event is what a client reports about a session.
type Event string

// The events.
const (
	Prompted Event = "prompted" // a prompt was given; the turn begins, or the prompt was queued in a running one
	Stopped  Event = "stopped"  // the agent finished its turn
	Erred    Event = "erred"    // the turn ended in an error of the model's service
	Ended    Event = "ended"    // the session is over
)

// A Signal is one event of one session, in this package's words: a hook's payload, or a command
// typed by hand.
type Signal struct {
	Event   Event
	At      time.Time
	Agent   string    // the client, "claude-code"
	Session string    // safe as a file name; empty if there is no client
	Mission ledger.ID // by hand: record to this one, and begin it if it does not exist
	Asked   string    // GIT_AGENT_MISSION; used if it names a mission of this repository

	PromptID   string  // the turn's id in the client; empty in clients that have none
	Prompt     string  // Prompted, and by hand
	Reply      string  // Stopped: the last assistant message; Erred: the text of the error
	Again      bool    // Stopped: the turn went on after its first Stop
	Transcript string  // path of the session's file; empty if the client keeps none
	Outcome    Outcome // by hand: how the turn ended; "" for the event's own
	Strict     bool    // by hand: an unreadable transcript is an error; a hook would record the turn without it

	Client session.Client
}

// key identifies an event: if both settings and plugin are installed, each event arrives twice.
func (s Signal) key() string {
	h := sha256.New()
	for _, part := range []string{string(s.Event), s.Session, s.PromptID, strconv.FormatBool(s.Again), s.Reply} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s Signal) outcome() Outcome {
	switch {
	case s.Outcome != "":
		return s.Outcome
	case s.Event == Erred:
		return Failed
	case s.Event == Stopped:
		return Done
	}
	return Interrupted
}
