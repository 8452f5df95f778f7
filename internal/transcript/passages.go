package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A Place is where in a conversation something was said.
type Place string

// The places. Thoughts are not among them: nothing is said there.
const (
	Prompt Place = "prompt" // by the user: prompts, shell commands, messages during a turn
	Reply  Place = "reply"
	Tool   Place = "tool"   // the tool's name and input
	Result Place = "result" // of a tool, or of the user's shell command
)

// A Passage is an untrusted text that was said, of one or more lines.
type Passage struct {
	Place Place
	Text  string
}

// Passages returns what a line says and its record's id, which another line may
// repeat. r need not have read the lines before.
func Passages(r Reader, line []byte) (id string, said []Passage) {
	e := r.Read(0, line)
	if e.Subagent {
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

// called returns a tool's name, its foremost argument, then its other texts.
func called(p Part) string {
	first := foremost(p.Input)
	parts := texts(nil, p.Input, maxInputs)
	if i := slices.Index(parts, first); i >= 0 {
		parts = slices.Delete(parts, i, i+1)
	}
	return strings.Join(append([]string{p.Name + "(" + first + ")"}, parts...), "\n")
}

const maxInputs = 20

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
