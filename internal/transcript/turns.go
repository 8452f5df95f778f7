package transcript

import "time"

// A Turn is a turn's place in a segment, and its first record.
type Turn struct {
	// The turn is segment[Start:End], whole lines. It ends where the next one
	// starts, or with the segment: what the client notes after the last answer
	// (cost, titles, a /compact) belongs to it.
	Start, End int

	UUID     string // of the record that starts it: this key survives a fork by the client
	PromptID string // "prompt_id" of the hooks; all old turns share one after a fork by the client
	Prompt   string // what the user typed, unbounded; "/name args" for a slash command, "!command" for a shell command
	Origin   string // human, sdk, task_notification; "" if the client doesn't say
	Source   string // typed, queued, sdk, system; "" if the client doesn't say
	Cwd      string // the directory that the agent was in
	At       time.Time
}

// Turns returns the turns that start in a segment, in order.
func Turns(r Reader, segment []byte) []Turn {
	var turns []Turn
	var asked asked
	for at, line := range lines(segment) {
		e := r.Read(at, line)
		if t := e.Opens; t != nil {
			if n := len(turns); n > 0 {
				turns[n-1].End = t.Start
			}
			t.End = len(segment)
			turns = append(turns, *t)
		}
		if prompt, ok := asked.prompt(&e); ok {
			turns[len(turns)-1].Prompt = prompt
		}
	}
	return turns
}

// asked is set while a turn's prompt is missing: its first record lacked it.
type asked bool

// prompt returns the turn's prompt when an entry contains it.
func (waits *asked) prompt(e *Entry) (string, bool) {
	if e.Opens != nil {
		*waits = e.Opens.Prompt == ""
	}
	if !bool(*waits) || e.Aside {
		return "", false
	}
	for _, p := range e.Parts {
		if p.Kind == Asked {
			*waits = false
			return p.Text, true
		}
	}
	return "", false
}
