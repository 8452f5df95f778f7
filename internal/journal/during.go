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

// During returns what came since a turn of a session started.
func During(repo *git.Repo, session string, started time.Time) (Span, error) {
	since := started.UnixMilli()
	late, err := Newest(repo)
	if err != nil {
		return Span{}, err
	}
	var list []*Entry
	older := false
	for e := range late {
		if older = e.At < since; older {
			break
		}
		list = append(list, e)
	}
	slices.Reverse(list)
	if !older { // there may be more than that
		all, err := Read(repo)
		if err != nil {
			return Span{}, err
		}
		list = slices.DeleteFunc(all, func(e *Entry) bool { return e.At < since })
	}
	s := Span{From: since, Seen: list}
	for _, e := range list {
		if !e.Tree.IsZero() {
			s.Last = e
		}
	}
	if i := slices.IndexFunc(list, func(e *Entry) bool { return e.Event == Prompt && e.Session == session }); i >= 0 {
		s.From, s.Began, s.Seen = list[i].At, list[i].Tree, list[i+1:]
	}
	return s, nil
}
