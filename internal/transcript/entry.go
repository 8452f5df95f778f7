package transcript

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/usage"
)

// A Reader translates the lines of one conversation, in order. Each agent has
// its own. It may remember what it read, such as the model.
//
// It trusts nothing: for a line that the client would not write it returns the
// zero Entry. It does not panic, takes linear time, and keeps little.
type Reader interface {
	// Read translates the line at an offset of the segment, without its
	// newline. The Entry must not refer to line, which the caller may reuse.
	Read(at int, line []byte) Entry
}

// Remember returns what makes readers for several passes over the same lines:
// what one has read the others need not, and none may change.
func Remember(reader func() Reader) func() Reader {
	m := &memory{reader: reader()}
	return func() Reader {
		m.next = 0
		return m
	}
}

type memory struct {
	reader Reader
	said   []Entry
	next   int // of said
}

func (m *memory) Read(at int, line []byte) Entry {
	if m.next == len(m.said) {
		m.said = append(m.said, m.reader.Read(at, line))
	}
	m.next++
	return m.said[m.next-1]
}

// A Meter is a Reader with a faster way to read a line's model and context: few
// lines of hundreds of megabytes have them.
type Meter interface {
	// Meter returns Read's At, Aside, Model, Variant, Window, Context and
	// Compacted. With answered set, it may leave out those of an answer.
	Meter(line []byte, answered bool) Entry
}

// An Entry is what one line says. The zero Entry says nothing.
type Entry struct {
	ID       string // the record's, "" for none; a client may write one twice, and the second doesn't count
	At       time.Time
	Cwd      string // the directory that the agent is in; "" if the line doesn't say
	Subagent bool   // it is a sub-agent's, and no part of the conversation

	// Opens is set if a turn begins here. If its Prompt is empty, the first
	// [Asked] part that follows has it. End is not set.
	Opens *FileTurn
	// PromptID is the id of the turn that the input belongs to, or "". Only
	// [Wait] needs it, for clients that write late.
	PromptID string

	Parts []Part // what is said, in order
	Todos []Todo // the agent's whole list from here on; nil if the line leaves it as it is

	// The model's message that the line is a part of:
	Message string // the id that its lines share: its tokens count once
	Model   string // the model that wrote it, or writes from now on
	Variant string // the client's own name of the model, see [ContextUse]
	Window  int64  // how many tokens the model's context has; 0 if the line doesn't say
	Context int64  // tokens that the request sent: all of the input
	Tokens  Tokens // of this message so far; the last line that has any is right
	Answers bool   // the message wants nothing more: it is an answer
	Stopped bool   // the client says that the model has stopped here, and not for a tool; for [Wait], too

	Compacted   *Compacted // the client has compacted the conversation
	Interrupted bool       // the user has stopped the turn
	Failed      bool       // the model's service has failed; the parts have the error's text
	Ended       bool       // the client notes the turn's end
}

// Tokens are what a model read and wrote.
type Tokens = usage.Tokens

// A Compacted describes a compaction of the conversation.
type Compacted struct {
	Auto   bool  // because the context was full, not on the user's request
	Tokens int64 // of the context before it; 0 if unknown
	Left   int64 // the client's estimate of the context after it; 0 if unknown
}

// A Part is a piece of what is said.
type Part struct {
	Kind   Kind
	Text   string         // what is said; none for a Call
	Call   string         // the id shared by a Call and its Answer; "" if the client gives none
	Name   string         // of a Call: the tool; of a Task: its summary; of Other: the client's word for it
	Input  gjson.Result   // of a Call: what the tool is given
	Failed bool           // of an Answer
	Ended  evidence.Ended // of an Answer or a Task: how a command ended, as the client tells
	Files  []Attached     // in what was asked, in an Answer or in Other: what is not text
}

// An Attached is an image or a document in a conversation.
type Attached struct {
	Kind  string // image, document
	Media string // its media type; "" if unknown
	Size  int64  // bytes; 0 if unknown
}

// A Kind is the speaker and kind of a part.
type Kind int

// The kinds of parts.
const (
	Asked   Kind = iota + 1 // by the user: begins a turn, or is a command that the client itself carries out
	Queued                  // by the user, while the turn ran
	Added                   // in the user's place in a turn, perhaps by the user: shown as Told, but found as Asked
	Said                    // by the model
	Thought                 // by the model, for itself
	Call                    // of a tool
	Answer                  // of a tool
	Shell                   // output of the user's own command
	Task                    // by the client: a task in the background has ended, with its result
	Gist                    // by the client: what a compaction has left
	Told                    // by the client, in the user's place
	Other                   // a block of the model's that is none of these, as the client wrote it
)

type speaker int

const (
	nobody  speaker = iota
	user            // or the client in the user's place
	machine         // a tool that the agent has called
	model
)

// by returns who says the entry: the model if any part is the model's.
func (e *Entry) by() speaker {
	if e.Answers || e.Failed {
		return model
	}
	by := nobody
	for _, p := range e.Parts {
		switch p.Kind {
		case Said, Thought, Call, Other:
			return model
		case Answer:
			by = machine
		case Asked, Added, Shell, Task, Gist, Told:
			by = max(by, user)
		}
	}
	return by
}

// said returns what the model says in the entry, joined by newlines.
func (e *Entry) said() string {
	first := slices.IndexFunc(e.Parts, func(p Part) bool { return p.Kind == Said })
	if first < 0 {
		return ""
	}
	said, more := e.Parts[first].Text, []string(nil)
	for _, p := range e.Parts[first+1:] {
		if p.Kind == Said {
			more = append(more, p.Text)
		}
	}
	if more == nil {
		return said
	}
	return said + "\n" + strings.Join(more, "\n")
}
