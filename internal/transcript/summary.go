package transcript

import (
	"cmp"
	"strings"
	"time"
)

// A Summary is what happened in a turn, on the main chain: sub-agents have files of their own.
type Summary struct {
	Prompt string   // as in [Turn]; "" if the turn started before these bytes
	Queued []string // what the user typed while the turn ran, and the agent received then
	Reply  string   // text of the last message that has any, its blocks separated by newlines; the error of a failed turn
	Model  string   // model that wrote the last message

	Tools   map[string]int // calls by the tool's name; nil if there were none
	Context int64          // tokens that the last request sent: input, cache writes and cache reads
	Output  int64          // tokens that the model wrote in all messages

	Compactions int
	Interrupted bool // the user stopped it
	APIError    bool // it ended in an error of the model's service
	Answered    bool // it ended in an answer: nothing that the agent wanted to do is left

	Cwd string // the directory that the agent was in at the end

	Started time.Time // time of the record that starts the turn, or else of the first that counts
	Ended   time.Time // time of the last thing said or done by the agent, or of the interruption
}

// interruption begins the text of the user record that marks an Esc; "for tool use" or "]" follows it.
const interruption = "[Request interrupted by user"

// Summarise reads the lines of one turn: segment[t.Start:t.End] of a [Turn].
func Summarise(turn []byte) Summary {
	s := summary{
		opener: newOpener(),
		seen:   make(once),
		output: make(map[string]int64),
	}
	for at, line := range lines(turn) {
		if r, ok := decode(line); ok && !r.sidechain && s.seen.first(r.uuid) {
			s.add(at, r)
		}
	}
	s.Reply = strings.TrimSpace(strings.Join(s.reply, "\n"))
	for _, n := range s.output {
		s.Output += n
	}
	return s.Summary
}

type summary struct {
	Summary
	opener  *opener
	reply   []string         // texts of one message
	replyID string           // of that message
	seen    once             // uuids of records, ids of tool calls
	output  map[string]int64 // by message id: each line of a message has a figure, the last is right
}

func (s *summary) add(at int, r record) {
	now := parseTime(r.timestamp)
	if s.Started.IsZero() {
		s.Started = now
	}
	t, opens := s.opener.open(at, r)
	switch {
	case opens:
		s.Prompt, s.Started, s.Cwd = t.Prompt, now, r.cwd
	case r.kind == "system":
		s.Compactions++
	case r.queued != "":
		s.Queued = append(s.Queued, r.queued)
	case r.kind == "assistant":
		s.assistant(r, now)
	case r.message.result:
		s.Answered = false
		s.until(r, now)
	case strings.HasPrefix(r.message.text(), interruption):
		s.Interrupted, s.Answered = true, false
		s.until(r, now)
	}
}

// until notes that the turn went on until this record.
func (s *summary) until(r record, now time.Time) { s.Ended, s.Cwd = now, cmp.Or(r.cwd, s.Cwd) }

func (s *summary) assistant(r record, now time.Time) {
	m := &r.message
	if m.model == synthetic && !r.apiError {
		return // "No response requested.", which the client adds after a turn that was cut off
	}
	s.until(r, now)
	s.APIError, s.Interrupted = r.apiError, false
	text := m.text()
	said := strings.TrimSpace(text) != ""
	s.Answered = !r.apiError && len(m.tools) == 0 && m.stop != "tool_use" && (said || m.stop != "") // old clients note no reason
	if said {
		if m.id == "" || m.id != s.replyID {
			s.reply, s.replyID = nil, m.id
		}
		s.reply = append(s.reply, text)
	}
	if m.model == synthetic {
		return
	}
	if m.model != "" {
		s.Model = m.model
	}
	for _, tool := range m.tools {
		if !s.seen.first(tool.id) {
			continue
		}
		if s.Tools == nil {
			s.Tools = make(map[string]int)
		}
		s.Tools[tool.name]++
	}
	if m.usage.context > 0 {
		s.Context = m.usage.context
	}
	if m.id == "" {
		s.Output += m.usage.output
	} else if m.usage.output > 0 {
		s.output[m.id] = m.usage.output
	}
}
