package recorder

import (
	"slices"
	"strings"

	"gitagent/internal/journal"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// A session may be resumed in two clients at once. Then several of its turns run
// and write into one file: the one that began last is open, others are beside it.
// They are recorded in the order in which they end.

// turnTo returns a session's state with the turn that a signal is about as the
// open one. ok is false if it is about none: the client that ends has none, and
// another one works. lives is [session.Client.Live] or a stand-in.
func turnTo(s Signal, st session.Known, lives func(session.Client) bool) (now session.Known, ok bool) {
	if st.Open == nil || about(s, st.Open, st.Client) {
		return st, true
	}
	at := slices.IndexFunc(st.Beside, func(o session.OpenTurn) bool { return about(s, &o, o.Client) })
	if at < 0 {
		again := st.Last != nil && s.PromptID != "" && st.Last.PromptID == s.PromptID
		switch {
		case !differ(s.Client, st.Client), !lives(st.Client): // the open turn was interrupted
			return st, true
		case s.Event == Ended:
			return st, false
		case s.Event != Prompted && !again:
			return st, true
		}
	}
	open := *st.Open
	open.Client, open.Shared, st.Open = st.Client, true, nil
	st.Beside = slices.Clone(st.Beside)
	if at >= 0 {
		found := st.Beside[at]
		st.Beside = slices.Delete(st.Beside, at, at+1)
		st.Open, st.Client = &found, found.Client
	}
	st.Beside = append(st.Beside, open)
	return st, true
}

// about reports whether a signal may be about a running turn of a client's.
func about(s Signal, o *session.OpenTurn, client session.Client) bool {
	if s.ends() && s.PromptID != "" && o.PromptID != "" {
		return s.PromptID == o.PromptID
	}
	return !differ(s.Client, client)
}

func differ(a, b session.Client) bool { return a.PID != 0 && b.PID != 0 && a != b }

// begun returns the turns that begin in the segment, but for those beside the
// open one, whose lines are among the others'.
func (f *inputs) begun() []transcript.FileTurn {
	list := slices.Clone(f.turns())
	for i := len(list) - 1; i >= 0; i-- {
		if !among(f.state.Beside, list[i].PromptID) {
			continue
		}
		if i > 0 {
			list[i-1].End = list[i].End
		}
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// among reports whether a turn with a prompt's id is among some that run.
func among(list []session.OpenTurn, promptID string) bool {
	return promptID != "" && slices.ContainsFunc(list, func(o session.OpenTurn) bool { return o.PromptID == promptID })
}

// goOn makes the turn that began last the open one, now that another has ended.
func goOn(st *session.Known) {
	if n := len(st.Beside) - 1; n >= 0 && st.Open == nil {
		open := st.Beside[n]
		st.Client, st.Beside = open.Client, st.Beside[:n:n]
		open.Client, st.Open = session.Client{}, &open
	}
}

// apart returns what a worktree's journal has with the other turns of a session
// as sessions of their own, by a name that [together] takes back.
func apart(seen []*journal.Entry, who, promptID string) []*journal.Entry {
	seen = slices.Clone(seen)
	for i, e := range seen {
		if e.Session == who && e.PromptID != "" && e.PromptID != promptID {
			other := *e
			other.Session += "/" + e.PromptID
			seen[i] = &other
		}
	}
	return seen
}

func together(sessions []string) []string {
	for i, s := range sessions {
		sessions[i], _, _ = strings.Cut(s, "/")
	}
	slices.Sort(sessions)
	return slices.Compact(sessions)
}
