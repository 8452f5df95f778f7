package journal

import (
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Span is what the journal has about a turn of a session.
type Span struct {
	From  int64       // ms: when the turn began, at the state with which it did
	Began object.Hash // the tree of that state; zero if the journal hasn't it
	Seen  []*Entry    // what came after, of all sessions, the oldest first
	Last  *Entry      // the last state of all; nil if there is none since the turn started
}

// During returns what came since a turn of a session started. The turn is the
// last with the prompt's id or, if it has none or got one later, the first that
// began without, and no earlier than it started.
func During(repo *git.Repo, session, prompt string, started time.Time) (Span, error) {
	late, err := Newest(repo)
	if err != nil {
		return Span{}, err
	}
	since := started.UnixMilli()
	begins := func(e *Entry) bool {
		return e.Event == Prompt && e.Session == session && (prompt == "" || e.PromptID == prompt)
	}
	nameless := func(e *Entry) bool { return e.Event == Prompt && e.Session == session && e.PromptID == "" }
	before := func(e *Entry) bool { // all older ones are none of the turn's
		return prompt == "" && e.At < since || prompt != "" && begins(e)
	}
	var list []*Entry
	whole := false
	for e := range late {
		if whole = before(e); whole && prompt == "" {
			break
		}
		if list = append(list, e); whole {
			break
		}
	}
	slices.Reverse(list)
	if !whole { // there may be more than that
		if list, err = Read(repo); err != nil {
			return Span{}, err
		}
		list = slices.DeleteFunc(list, func(e *Entry) bool { return e.At < since })
	}
	s := Span{From: since, Seen: list}
	for _, e := range list {
		if !e.Tree.IsZero() {
			s.Last = e
		}
	}
	i := slices.IndexFunc(list, begins)
	if i < 0 {
		i = slices.IndexFunc(list, nameless)
	}
	if i >= 0 {
		s.From, s.Began, s.Seen = list[i].At, list[i].Tree, list[i+1:]
		if began := list[i]; !began.Base.IsZero() {
			all, err := Read(repo)
			if err != nil {
				return Span{}, err
			}
			at := slices.IndexFunc(all, func(e *Entry) bool { return e.At == began.At && begins(e) })
			earlier := slices.DeleteFunc(all[:max(0, at)], func(e *Entry) bool { return e.At <= began.At || e.Session == session })
			s.Began, s.Seen = began.Base, slices.Concat(earlier, s.Seen)
		}
	}
	return s, nil
}
