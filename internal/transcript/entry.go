package transcript

import (
	"time"

	"github.com/tidwall/gjson"
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

// An Entry is what one line says. The zero Entry says nothing.
type Entry struct {
	ID    string // of the record: the client may write one twice, and the second counts for nothing; "" for none
	At    time.Time
	Cwd   string // the directory that the agent is in; "" if the line doesn't say
	Aside bool   // it is a sub-agent's, and no part of the conversation

	// Opens is set if a turn begins here. Its Prompt may be empty: then it is the text of the first
	// part of kind [Asked] that follows. End is not set.
	Opens *Turn

	Parts []Part // what is said, in order

	// Of the model's message of which the line is a part:
	Message string // its id, by which its lines are known: its tokens count once
	Model   string // that wrote it, or from now on writes
	Variant string // the client's own name of the model, see [Usage]
	Window  int64  // how many tokens the model's context has; 0 if the line doesn't say
	Context int64  // tokens that the request sent: all of the input
	Tokens  Tokens // of this message so far; the last line that has any is right
	Answers bool   // the message wants nothing more: it is an answer

	Compacted   *Compacted // the client has compacted the conversation
	Interrupted bool       // the user has stopped the turn
	Failed      bool       // the model's service has failed; the parts have the error's text
	Ended       bool       // the client notes the turn's end
}

// Tokens are what a model read and wrote. Together, the first three are what it was sent.
type Tokens struct {
	Input      int64 `json:"input,omitempty"`       // neither read from a cache nor written to one
	CacheRead  int64 `json:"cache_read,omitempty"`  //
	CacheWrite int64 `json:"cache_write,omitempty"` //
	Output     int64 `json:"output,omitempty"`      // with what it thought
}

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
	Name   string       // of a Call: the tool; of Other: what the client calls it
	Input  gjson.Result // of a Call: what the tool is given
	Failed bool         // of an Answer
	Files  []Attached   // of what was asked, and of an Answer: what is not text
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
