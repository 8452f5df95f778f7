package turns

import (
	"gitagent/internal/transcript"
)

// A piece is one turn's share of a segment.
type piece struct {
	start, end int // bytes of the segment
	promptID   string
	summary    transcript.Summary
	last       bool // the turn that the signal ends: the worktree is as it left it
}

// pieces cuts a segment into turns. Usually there is one. There are more when no event told of a turn's end:
// the user interrupted it, and a prompt that waited in the queue ran next.
//
// What lies before the first turn to be recorded goes with it. At a new session that is everything
// before the turn whose prompt we saw: the hooks may have been installed in the middle of a conversation.
// The turn of a prompt that is only about to begin is left for the next segment.
func (r *recording) pieces(f flushed) []piece {
	turns := transcript.Turns(f.Bytes)
	end := len(f.Bytes)
	if i := r.announced(turns); i >= 0 {
		end = turns[i].Start
		turns = turns[:i]
	}
	current := len(turns) - 1
	if r.Event == Stopped || r.Event == Erred {
		for i := len(turns) - 1; i >= 0; i-- {
			if turns[i].PromptID == r.PromptID && r.PromptID != "" {
				current = i
				break
			}
		}
	}
	if current >= 0 {
		end = turns[current].End
	}
	first := current
	switch {
	case r.state.Open != nil:
		for i := current; i >= 0; i-- { // after a fork by the client all old turns share one id: the last one counts
			if turns[i].PromptID == r.state.Open.PromptID {
				first = i
				break
			}
		}
	case r.continues(f) && !r.rerecords():
		first = 0
	}
	if current < 0 || first < 0 {
		return []piece{{end: end, summary: transcript.Summarise(f.Bytes[:end]), last: !r.running}}
	}
	var list []piece
	for i := first; i <= current; i++ {
		p := piece{start: turns[i].Start, end: turns[i].End, promptID: turns[i].PromptID, last: i == current && !r.running}
		p.summary = transcript.Summarise(f.Bytes[p.start:p.end])
		if i == first {
			p.start = 0
		}
		list = append(list, p)
	}
	return list
}

// announced returns the place of the turn that a prompt event names, -1 if it is not there yet. A turn that is about
// to begin never is. If it is there, it has been running unannounced, because its prompt had waited in the
// queue, and the event is about another prompt that was typed meanwhile.
func (r *recording) announced(turns []transcript.Turn) int {
	if r.Event == Prompted && r.PromptID != "" {
		for i, t := range turns {
			if t.PromptID == r.PromptID {
				return i
			}
		}
	}
	return -1
}

// unannounced reports whether the segment holds turns that no event has told of: a prompt that had waited in the
// queue ran, and was interrupted. At the first segment of a session nothing counts:
// the hooks may have been installed in the middle of a conversation.
func (r *recording) unannounced(f flushed) bool {
	turns := transcript.Turns(f.Bytes)
	if i := r.announced(turns); i >= 0 {
		turns = turns[:i]
	}
	return r.continues(f) && len(turns) > 0
}

// continues reports whether the segment begins where this session's last turn of this mission ended. If the session
// has recorded to another mission since, the turns in between are that one's.
func (r *recording) continues(f flushed) bool {
	return f.from > 0 && r.state.Last != nil && r.state.Last.Mission == string(r.id)
}
