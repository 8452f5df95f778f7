package transcript

import (
	"context"
	"errors"
	"time"
)

// ErrEmpty reports a conversation in which nobody has said anything, so it can't be continued.
var ErrEmpty = errors.New("the conversation is empty")

// A Cut is a conversation up to a turn, which is to become a session of its own.
type Cut struct {
	Segments [][]byte // the turns' lines, in order
	Foreign  bool     // they are a stranger's: whatever speaks in the client's own name is left out
	Session  string   // the id of the new session
	At       time.Time
	Config   string // the client's configuration directory
	Dir      string // in which the client will be started, with symbolic links resolved
}

// A Rebuilt is the file of a new session.
type Rebuilt struct {
	Path   string   // where the client, or what records it, looks for it
	Pieces [][]byte // the file, to be written one after the other
	// Adopt makes the client take up what is at Path, if it keeps conversations somewhere else; nil if not.
	// It is the last step: if it fails, the client has nothing of it.
	Adopt func(ctx context.Context) error
}
