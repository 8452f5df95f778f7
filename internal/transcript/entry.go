package transcript

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/spent"
)

// A Reader reads the lines of one conversation, in their order, and says in common words what they
// say. Each agent has its own, since each client writes a file of its own kind. It may remember what it
// read: a turn's id from the line before, the model that answers from now on.
//
// Nothing is trusted: a line that is not what the client writes gives the zero Entry. A Reader doesn't
// panic, takes no more than linear time, and keeps no more than it needs of a line.
type Reader interface {
	// Read says what the line says that begins at an offset of the segment. line lacks its newline; it
	// belongs to the caller, and what is returned must not refer to it.
	Read(at int, line []byte) Entry
}

// A Meter is a Reader that can tell faster than by Read what a line says of the model and of its context:
// a session has hundreds of megabytes, and few of its lines say that.
type Meter interface {
	// Meter says of At, Aside, Model, Variant, Window, Context and Compacted what Read would. answered
	// tells that the last answer is known: of an answer nothing need be said.
	Meter(line []byte, answered bool) Entry
}

// An Entry is what one line says. The zero Entry says nothing.
type Entry struct {
	ID    string // of the record: the client may write one twice, and the second counts for nothing; "" for none
	At    time.Time
	Cwd   string // the directory that the agent is in; "" if the line doesn't say
	Aside bool   // it is a sub-agent's, and no part of the conversation

	// Opens is set if a turn begins here. Its Prompt may be empty: then it is the text of the first
	// part of kind [Asked] that follows. End is not set.
	Opens *Turn
	// PromptID is that of the turn to which what was asked, or is told, belongs; "" if the line doesn't
	// say. Only [Wait] needs it, of clients that write late.
	PromptID string

	Parts []Part // what is said, in order
	Todos []Todo // the agent's whole list from here on; nil if the line leaves it as it is

	// Of the model's message of which the line is a part:
	Message string // its id, by which its lines are known: its tokens count once
	Model   string // that wrote it, or from now on writes
	Variant string // the client's own name of the model, see [Usage]
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
type Tokens = spent.Tokens

// A Compacted says how a conversation was compacted.
type Compacted struct {
	Auto   bool  // because the context was full, not on the user's request
	Tokens int64 // of the context before it; 0 if unknown
	Left   int64 // the client's estimate of the context after it; 0 if unknown
}

// A Part is a piece of what is said.
type Part struct {
	Kind   Kind
	Text   string       // what is said; of a Call, nothing
	Call   string       // of a Call and its Answer: the id that both share; "" if the client gives none
	Name   string       // of a Call: the tool; of a Task: its summary; of Other: what the client calls it
	Input  gjson.Result // of a Call: what the tool is given
	Failed bool         // of an Answer
	Files  []Attached   // of what was asked, of an Answer and of Other: what is not text
}

// An Attached is an image or a document in a conversation.
type Attached struct {
	Kind  string // image, document
	Media string // its media type; "" if unknown
	Size  int64  // bytes; 0 if unknown
}

// A Kind says whose a part is, and what.
type Kind int

// The kinds of parts.
const (
	Asked   Kind = iota + 1 // by the user: what begins a turn, or a command that the client carries out itself
	Queued                  // by the user, while the turn ran
	Added                   // in the user's place in a turn, perhaps by the user: it is shown as Told, but found as Asked
	Said                    // by the model
	Thought                 // by the model, for itself
	Call                    // of a tool
	Answer                  // of a tool
	Shell                   // what a command of the user's own printed
	Task                    // by the client: a task in the background has ended, with its result
	Gist                    // by the client: what a compaction has left
	Told                    // by the client, in the user's place
	Other                   // a block of the model's that is none of these, as the client wrote it
)

// Whose an entry is.
type speaker int

const (
	nobody  speaker = iota
	user            // or the client in the user's place
	machine         // a tool that the agent has called
	model
)

// by returns whose the entry is: the model's if there is anything of the model's in it.
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

// said returns the text of the model's message that the entry has, its pieces separated by newlines.
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
