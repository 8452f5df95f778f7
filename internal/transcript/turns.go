package transcript

import "time"

// A Turn is the place of a turn in a segment, and the content of its first record.
type Turn struct {
	// The turn is segment[Start:End], whole lines. It ends where the next one starts, or with the
	// segment: what the client notes after the last answer (cost, titles, a /compact) belongs to
	// the turn before it.
	Start, End int

	UUID     string // of the record that starts it: this key survives a fork by the client
	PromptID string // "prompt_id" of the hooks; all old turns share one after a fork by the client
	Prompt   string // what the user typed, not bounded; "/name args" for a slash command, "!command" for a shell command
	Origin   string // human, sdk, task_notification; "" if the client doesn't say
	Source   string // typed, queued, sdk, system; "" if the client doesn't say
	Cwd      string // the directory that the agent was in
	At       time.Time
}

// Turns finds the turns that start in a segment, in order. Bytes before the first continue the
// previous turn.
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

// asked waits for the prompt of a turn whose first record lacks it.
type asked bool

// prompt returns the prompt of the turn that runs, when it is told.
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
