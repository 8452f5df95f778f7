package transcript

import (
	"context"
	"errors"
	"time"
)

// ErrEmpty reports a conversation that is empty and so can't be continued.
var ErrEmpty = errors.New("the conversation is empty")

// A Cut is a conversation up to a turn, to become a session of its own.
type Cut struct {
	Segments [][]byte // the turns' lines, in order
	Foreign  bool     // they are untrusted: what speaks in the client's own name is left out
	Session  string   // the id of the new session
	At       time.Time
	Config   string // the client's configuration directory
	Dir      string // where the client will be started, with symbolic links resolved
}

// A Rebuilt is the file of a new session.
type Rebuilt struct {
	Path   string   // where the client, or its recorder, looks for it
	Pieces [][]byte // the file's content, in order
	// Adopt, unless nil, makes the client import Path. It is the last step: on
	// failure the client has nothing.
	Adopt func(ctx context.Context) error
}
