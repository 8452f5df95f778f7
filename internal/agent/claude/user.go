package claude

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// A said is the content of a user record: the user's words, the client's in
// their place, and tools' answers, but no bare text among blocks.
type said struct {
	blocks  int
	text    string
	files   []transcript.Attached
	answers []transcript.Part
}

func decodeSaid(content gjson.Result) (s said) {
	var list []transcript.Part
	list, s.blocks = parts(content, false)
	s.text, s.files = text(list), files(list)
	s.answers = slices.DeleteFunc(list, func(p transcript.Part) bool { return p.Kind != transcript.Answer })
	return s
}

// opening returns the parts of a record that starts a turn.
func (r *fileLine) opening() []transcript.Part {
	switch {
	case r.origin == "task_notification":
		return []transcript.Part{task(r.text)}
	case strings.HasPrefix(r.text, "<bash-"): // the record before has the command
		return append(printed(r.text), r.answers...)
	}
	asked := transcript.Part{Kind: transcript.Asked, Text: typed(r.text), Files: r.files}
	return append([]transcript.Part{asked}, r.answers...)
}

// going returns the parts of other user records.
func (r *fileLine) going() []transcript.Part {
	list := r.answers
	add := func(kind transcript.Kind, text string) []transcript.Part {
		if strings.TrimSpace(text) == "" {
			return list
		}
		return append(list, transcript.Part{Kind: kind, Text: text})
	}
	switch {
	case r.text == interruption+"]", r.text == interruption+" for tool use]":
		return list
	case strings.HasPrefix(r.text, interruption):
		return add(transcript.Told, r.text)
	case r.summary:
		return add(transcript.Gist, r.text)
	case strings.HasPrefix(r.text, "<command-name>"):
		return add(transcript.Asked, typed(r.text))
	case strings.HasPrefix(r.text, "<bash-input>"):
		shell, _ := between(r.text, "<bash-input>", "</bash-input>")
		return add(transcript.Asked, "!"+shell)
	case strings.HasPrefix(r.text, "<local-command-"), strings.HasPrefix(r.text, "<bash-"):
		return append(list, printed(r.text)...)
	case r.meta || len(list) > 0:
		return add(transcript.Told, r.text)
	}
	return add(transcript.Added, r.text)
}

func printed(text string) (list []transcript.Part) {
	for _, name := range []string{"bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr"} {
		if out, ok := between(text, "<"+name+">", "</"+name+">"); ok && strings.TrimSpace(out) != "" {
			list = append(list, transcript.Part{Kind: transcript.Shell, Text: out})
		}
	}
	return list
}

// Reported returns what a prompt says that reports the end of a task, and any
// other as it is.
func Reported(prompt string) string {
	if !strings.HasPrefix(prompt, "<task-notification>") {
		return prompt
	}
	return task(prompt).Name
}

func task(text string) transcript.Part {
	summary, _ := between(text, "<summary>", "</summary>")
	status, _ := between(text, "<status>", "</status>")
	p := transcript.Part{Kind: transcript.Task, Name: cmp.Or(summary, status)}
	if p.Text, _ = between(text, "<result>", "</result>"); p.Name == "" && p.Text == "" {
		p.Text = text
	}
	return p
}
