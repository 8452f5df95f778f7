package transcript

import (
	"cmp"
	"strings"
	"time"
)

// A Summary is what happened in a turn, without its sub-agents.
type Summary struct {
	Prompt string   // as in [FileTurn]; "" if the turn started before these bytes
	Queued []string // what the user typed, and the agent received, while the turn ran
	Reply  string   // text of the last message with any, its blocks joined by newlines; the error of a failed turn
	Model  string   // model that wrote the last message

	Tools   map[string]int    // calls by the tool's name; nil if there were none
	Context int64             // tokens that the last request sent: input, cache writes and cache reads
	Output  int64             // tokens that the model wrote in all messages
	Tokens  map[string]Tokens // of all messages, by the model's name; nil if there were none

	Compactions int
	Interrupted bool // the user stopped it
	APIError    bool // it ended in an error of the model's service
	Answered    bool // it ended in an answer: the agent has nothing left to do

	Cwd string // the directory that the agent was in at the end

	Started time.Time // time of the record that starts the turn, or else of the first that counts
	Ended   time.Time // time of the last thing said or done by the agent, or of the interruption
}

// Summarise reads the lines of one turn: segment[t.Start:t.End] of a
// [FileTurn].
func Summarise(r Reader, turn []byte) Summary {
	s := summary{seen: make(once), took: make(map[string]took)}
	for at, line := range lines(turn) {
		if e := r.Read(at, line); !e.Subagent && s.seen.first(e.ID) {
			s.add(&e)
		}
	}
	s.Reply = strings.TrimSpace(strings.Join(s.reply, "\n"))
	for _, m := range s.took {
		s.spend(m.model, m.tokens)
	}
	for _, t := range s.Tokens {
		s.Output += t.Output
	}
	return s.Summary
}

type summary struct {
	Summary
	opened  bool
	asked   asked
	reply   []string        // texts of one message
	replyID string          // of that message
	seen    once            // ids of records and of calls
	took    map[string]took // by the message's id: each of its lines has figures, the last are right
}

type took struct {
	model  string
	tokens Tokens
}

func (s *summary) add(e *Entry) {
	if s.Started.IsZero() {
		s.Started = e.At
	}
	if t := e.Opens; t != nil && !s.opened { // another client of the session's may begin one meanwhile
		s.opened = true
		s.Prompt, s.Started, s.Cwd = strings.Clone(t.Prompt), t.At, t.Cwd
	}
	if prompt, ok := s.asked.prompt(e); ok {
		s.Prompt = strings.Clone(prompt)
	}
	if e.Compacted != nil {
		s.Compactions++
	}
	s.Cwd, s.Model = cmp.Or(e.Cwd, s.Cwd), cmp.Or(e.Model, s.Model)
	s.count(e)
	s.follow(e)
	if e.Ended {
		s.Ended = e.At
	}
}

// follow notes what is said and done, and whether the turn is over.
func (s *summary) follow(e *Entry) {
	switch by := e.by(); {
	case by == model:
		s.Ended, s.APIError, s.Interrupted, s.Answered = e.At, e.Failed, false, e.Answers && !e.Interrupted
	case e.Opens != nil:
	case by == machine || e.Interrupted:
		s.Ended, s.Answered = e.At, false
	}
	s.Interrupted = s.Interrupted || e.Interrupted
	said := e.said()
	if strings.TrimSpace(said) != "" {
		if e.Message == "" || e.Message != s.replyID {
			s.reply, s.replyID = nil, e.Message
		}
		s.reply = append(s.reply, strings.Clone(said))
	}
	for _, p := range e.Parts {
		switch {
		case p.Kind == Queued:
			s.Queued = append(s.Queued, strings.Clone(p.Text))
		case p.Kind == Call && s.seen.first(p.Call):
			if s.Tools == nil {
				s.Tools = make(map[string]int)
			}
			s.Tools[p.Name]++
		}
	}
}

func (s *summary) count(e *Entry) {
	s.Context = cmp.Or(e.Context, s.Context)
	switch {
	case e.Tokens == (Tokens{}):
	case e.Message == "":
		s.spend(s.Model, e.Tokens)
	default:
		t := e.Tokens
		t.Output = cmp.Or(t.Output, s.took[e.Message].tokens.Output)
		s.took[e.Message] = took{s.Model, t}
	}
}

func (s *summary) spend(model string, t Tokens) {
	if s.Tokens == nil {
		s.Tokens = make(map[string]Tokens)
	}
	s.Tokens[model] = s.Tokens[model].Plus(t)
}
