package transcript

import (
	"iter"
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
// may repeat. It looks at nothing but the line: where turns begin does not matter here.
func Passages(line []byte) (uuid string, said []Passage) {
	r, ok := decode(line)
	if !ok || r.sidechain {
		return "", nil
	}
	say := func(p Place, text string) {
		if strings.TrimSpace(text) != "" {
			said = append(said, Passage{p, text})
		}
	}
	switch {
	case r.queued != "":
		say(Prompt, r.queued)
	case r.kind == "assistant" && (r.message.model != synthetic || r.apiError):
		for block := range content(line) {
			if block.Type == gjson.String {
				say(Reply, text(block))
				continue
			}
			switch block.Get("type").Str {
			case "text":
				say(Reply, text(block.Get("text")))
			case "tool_use":
				say(Tool, called(block))
			}
		}
	case r.kind == "user" && !r.summary:
		for block := range content(line) {
			if block.IsObject() && block.Get("type").Str == "tool_result" {
				var m message
				m.decodeContent(block.Get("content"))
				say(Result, m.text())
			}
		}
		if said == nil && (r.origin != "" || !r.meta) {
			said = spoken(r.message.text())
		}
	}
	return r.uuid, said
}

// spoken is what a user record says that has no result of a tool.
func spoken(text string) []Passage {
	switch {
	case strings.TrimSpace(text) == "" || strings.HasPrefix(text, interruption):
		return nil
	case strings.HasPrefix(text, "<bash-input>"):
		shell, _ := between(text, "<bash-input>", "</bash-input>")
		return []Passage{{Prompt, "!" + shell}}
	case strings.HasPrefix(text, "<bash-"), strings.HasPrefix(text, "<local-command-"):
		return []Passage{{Result, text}}
	}
	return []Passage{{Prompt, typed(text)}}
}

// content yields the blocks of a message, or its text.
func content(line []byte) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		v := gjson.GetBytes(line, "message.content")
		if v.Type == gjson.String {
			yield(v)
		} else if v.IsArray() {
			v.ForEach(func(_, block gjson.Result) bool { return yield(block) })
		}
	}
}

// called is a tool's call: its name with what says most about it, and then all other texts that it was
// given.
func called(block gjson.Result) string {
	input := block.Get("input")
	first := foremost(input)
	parts := texts(nil, input, maxInputs)
	if i := slices.Index(parts, first); i >= 0 {
		parts = slices.Delete(parts, i, i+1)
	}
	return strings.Join(append([]string{text(block.Get("name")) + "(" + first + ")"}, parts...), "\n")
}

// maxInputs is how deeply the texts that a tool is given may lie.
const maxInputs = 20

// texts adds the texts in a value.
func texts(list []string, v gjson.Result, depth int) []string {
	switch {
	case v.Type == gjson.String:
		list = append(list, text(v))
	case v.Type == gjson.JSON && depth > 0:
		v.ForEach(func(_, v gjson.Result) bool {
			list = texts(list, v, depth-1)
			return true
		})
	}
	return list
}
