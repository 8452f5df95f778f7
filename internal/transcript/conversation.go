package transcript

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"time"
)

// A File is one conversation that a client has on disk.
type File struct {
	Session string // its id, safe as a file name
	Path    string
	Size    int64 // bytes; 0 if not looked up
	Runs    bool  // the client's process is alive, if that can be told

	// What the client notes of where the conversation began, if anything but
	// its turns says that.
	Dir    string
	Commit string // HEAD's
	Remote string // URL that the repository was cloned from

	Err error // why it can't be read, if that is known
}

// A SubagentFile is a sub-agent with its conversation in a separate file.
type SubagentFile struct {
	ID    string // the client's; it can be a file name
	Path  string
	Type  string // what kind of agent the client calls it; "" if unknown
	Call  string // id of the call by which it was started; "" if unknown
	Start int64  // where its own conversation begins in the file; before that it repeats its parent's
	Size  int64  // of the file, bytes
	Over  bool   // the client says that it has ended
	// Lines are what it did since the last turn, if the client keeps that in the
	// session's file: then there is no other. "" if it has one.
	Lines string
}

// Own returns a reader for a sub-agent's file, where its lines are not aside.
func Own(r Reader) Reader { return own{r} }

type own struct{ Reader }

func (o own) Read(at int, line []byte) Entry {
	e := o.Reader.Read(at, line)
	e.Subagent = false
	return e
}

// ErrEmpty reports a conversation that is empty and so can't be continued.
var ErrEmpty = errors.New("the conversation is empty")

// A Cut is a conversation up to a turn, to become a session of its own.
type Cut struct {
	// Lines are the turns' lines, in order, without newlines, each valid until
	// the next one. An error ends them.
	Lines   iter.Seq2[[]byte, error]
	Foreign bool   // they are untrusted: what speaks in the client's own name is left out
	Session string // the id of the new session
	At      time.Time
	Config  string // the client's configuration directory
	Dir     string // where the client will be started, with symbolic links resolved
}

// A Rebuilt is the file of a new session.
type Rebuilt struct {
	Path string // where the client, or its recorder, looks for it
	// Write writes the file's content, once, as the cut's lines are read. The
	// error is theirs, or wraps [ErrEmpty] if nothing was said; w keeps its own.
	Write func(w *bufio.Writer) error
	// Adopt, unless nil, makes the client import Path. It is the last step: on
	// failure the client has nothing.
	Adopt func(ctx context.Context) error
}
