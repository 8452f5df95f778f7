package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A Place is where in a conversation something was said.
type Place string

// The places. What the model thinks is none of them: nobody said it.
const (
	Prompt Place = "prompt" // by the user, also a shell command, or while a turn ran
	Reply  Place = "reply"
	Tool   Place = "tool"   // its name and what it was given
	Result Place = "result" // of a tool, or of the user's shell command
)

// A Passage is something that was said, a text of one or many lines. It is a stranger's.
type Passage struct {
	Place Place
	Text  string
}

// Passages returns what a line of a conversation says, with the id of its record, which another line
// may repeat. Lines before it need not have been read: where turns begin does not matter here.
func Passages(r Reader, line []byte) (id string, said []Passage) {
	e := r.Read(0, line)
	if e.Aside {
		return "", nil
	}
	say := func(p Place, text string) {
		if strings.TrimSpace(text) != "" {
			said = append(said, Passage{p, text})
		}
	}
	for _, p := range e.Parts {
		switch p.Kind {
		case Asked, Queued, Added:
			say(Prompt, p.Text)
		case Task:
			say(Prompt, strings.TrimSpace(p.Name+"\n"+p.Text))
		case Said:
			say(Reply, p.Text)
		case Call:
			say(Tool, called(p))
		case Answer, Shell:
			say(Result, p.Text)
		}
	}
	return e.ID, said
}

// called is a tool's call: its name with what says most about it, and then all other texts that it was
// given.
func called(p Part) string {
	first := foremost(p.Input)
	parts := texts(nil, p.Input, maxInputs)
	if i := slices.Index(parts, first); i >= 0 {
		parts = slices.Delete(parts, i, i+1)
	}
	return strings.Join(append([]string{p.Name + "(" + first + ")"}, parts...), "\n")
}

// maxInputs is how deeply the texts that a tool is given may lie.
const maxInputs = 20

// texts adds the texts in a value.
func texts(list []string, v gjson.Result, depth int) []string {
	switch {
	case v.Type == gjson.String:
		list = append(list, Unquote(v))
	case v.Type == gjson.JSON && depth > 0:
		v.ForEach(func(_, v gjson.Result) bool {
			list = texts(list, v, depth-1)
			return true
		})
	}
	return list
}
