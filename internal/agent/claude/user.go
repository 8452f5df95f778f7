package claude

import (
	"cmp"
	"strings"

	"gitagent/internal/transcript"
)

// A said is a user record, with what it says: the user's words, the client's in his place, and what
// tools answered.
type said struct {
	*record
	blocks  int
	text    string
	files   []transcript.Attached
	answers []transcript.Part
}

// decodeSaid decodes the content of a user record. What lies bare in a list of blocks is none of them.
func decodeSaid(r *record) *said {
	s := &said{record: r}
	var list []transcript.Part
	list, s.blocks = parts(r.message.content, false)
	for _, p := range list {
		if p.Kind == transcript.Answer {
			s.answers = append(s.answers, p)
		}
	}
	s.text, s.files = text(list), files(list)
	return s
}

// opening returns the parts of a record that starts a turn.
func (s *said) opening() []transcript.Part {
	switch {
	case s.origin == "task_notification":
		return []transcript.Part{task(s.text)}
	case strings.HasPrefix(s.text, "<bash-"): // the record before it has the command
		return append(printed(s.text), s.answers...)
	}
	asked := transcript.Part{Kind: transcript.Asked, Text: typed(s.text), Files: s.files}
	return append([]transcript.Part{asked}, s.answers...)
}

// going returns the parts of a record that starts none.
func (s *said) going() []transcript.Part {
	list := s.answers
	add := func(kind transcript.Kind, text string) []transcript.Part {
		if strings.TrimSpace(text) == "" {
			return list
		}
		return append(list, transcript.Part{Kind: kind, Text: text})
	}
	switch {
	case s.text == interruption+"]", s.text == interruption+" for tool use]":
		return list
	case strings.HasPrefix(s.text, interruption):
		return add(transcript.Told, s.text)
	case s.summary:
		return add(transcript.Gist, s.text)
	case strings.HasPrefix(s.text, "<command-name>"):
		return add(transcript.Asked, typed(s.text))
	case strings.HasPrefix(s.text, "<bash-input>"):
		shell, _ := between(s.text, "<bash-input>", "</bash-input>")
		return add(transcript.Asked, "!"+shell)
	case strings.HasPrefix(s.text, "<local-command-"), strings.HasPrefix(s.text, "<bash-"):
		return append(list, printed(s.text)...)
	case s.meta || len(list) > 0:
		return add(transcript.Told, s.text)
	}
	return add(transcript.Added, s.text)
}

// printed is what a shell command of the user printed, or a command of the client.
func printed(text string) (list []transcript.Part) {
	for _, name := range []string{"bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr"} {
		if out, ok := between(text, "<"+name+">", "</"+name+">"); ok && strings.TrimSpace(out) != "" {
			list = append(list, transcript.Part{Kind: transcript.Shell, Text: out})
		}
	}
	return list
}

// task is how a task ended that ran in the background.
func task(text string) transcript.Part {
	summary, _ := between(text, "<summary>", "</summary>")
	status, _ := between(text, "<status>", "</status>")
	p := transcript.Part{Kind: transcript.Task, Name: cmp.Or(summary, status)}
	if p.Text, _ = between(text, "<result>", "</result>"); p.Name == "" && p.Text == "" {
		p.Text = text
	}
	return p
}
