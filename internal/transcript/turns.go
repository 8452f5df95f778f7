package transcript

import (
	"slices"
	"strings"
	"time"
)

// A Turn is the place of a turn in a segment, and the content of its first record.
type Turn struct {
	// The turn is segment[Start:End], whole lines. It ends where the next one starts, or with the
	// segment: what the client notes after the last answer (cost, titles, a /compact) belongs to
	// the turn before it.
	Start, End int

	UUID     string // of the user record that starts it: this key survives a fork by the client
	PromptID string // "prompt_id" of the hooks; all old turns share one after a fork by the client
	Prompt   string // what the user typed, not bounded; "/name args" for a slash command, "!command" for a shell command
	Origin   string // human, sdk, task_notification; "" in files of old clients
	Source   string // typed, queued, sdk, system; "" for slash commands and in files of old clients
	Cwd      string // the directory that the agent was in
	At       time.Time
}

// Turns finds the turns that start in a segment, in order. Bytes before the first continue the
// previous turn.
//
// A turn starts at a user record with a turnOrigin, except the summary of a compaction, which
// repeats that of the running turn. If no record of the segment has a turnOrigin (old clients do
// not write it), a turn starts at a user record with a new promptId that is not a tool's result,
// said by the client, a mark of an interruption or a local command.
//
// The user records directly before it with the same promptId belong to it: the command line of a
// shell command, a reminder before the note of a finished task.
func Turns(segment []byte) []Turn {
	o := newOpener()
	var turns []Turn
	for at, line := range lines(segment) {
		r, _ := decode(line) // anything else is the zero record, which starts nothing
		if t, ok := o.open(at, r); ok {
			if n := len(turns); n > 0 {
				turns[n-1].End = t.Start
			}
			t.End = len(segment)
			turns = append(turns, t)
		}
	}
	return turns
}

// An opener recognises the records that start a turn, given all records of a segment in order.
type opener struct {
	exact   bool            // a turnOrigin was seen
	started map[string]bool // uuids of starts
	known   map[string]bool // promptIds of starts and of tools' results

	running string // promptId of the last turn that started
	lead    lead
}

// A lead is what may prove to belong to the next turn.
type lead struct {
	at       int
	promptID string
	shell    string // the command line of a shell command
}

func newOpener() *opener {
	return &opener{started: make(map[string]bool), known: make(map[string]bool)}
}

// open reports whether r, whose line begins at at, starts a turn. It does not set End.
func (o *opener) open(at int, r record) (Turn, bool) {
	switch {
	case r.sidechain:
		return Turn{}, false
	case r.kind == "assistant":
		o.lead = lead{}
		return Turn{}, false
	case r.kind != "user":
		return Turn{}, false
	case !o.starts(r):
		o.follow(at, r)
		return Turn{}, false
	}
	t := Turn{
		Start: at, UUID: r.uuid, PromptID: r.promptID, Prompt: typed(r.message.text()),
		Origin: r.origin, Source: r.source, Cwd: r.cwd, At: parseTime(r.timestamp),
	}
	if r.promptID != "" && r.promptID == o.lead.promptID {
		t.Start = o.lead.at
		if o.lead.shell != "" {
			t.Prompt = "!" + o.lead.shell
		}
	}
	o.started[r.uuid], o.known[r.promptID] = true, true
	o.running, o.lead = r.promptID, lead{}
	return t, true
}

// starts reports whether a user record of the main chain starts a turn.
func (o *opener) starts(r record) bool {
	if r.origin != "" {
		o.exact = true
	}
	switch {
	case r.summary, r.uuid != "" && o.started[r.uuid]:
		return false
	case r.origin != "":
		return true
	case r.message.result:
		o.known[r.promptID] = true
		return false
	}
	fresh := r.promptID == "" || !o.known[r.promptID]
	return !o.exact && fresh && !r.meta && r.message.blocks > 0 && !local(r.message.text())
}

// follow keeps a user record that starts no turn as a lead, unless it belongs to the running turn.
func (o *opener) follow(at int, r record) {
	if r.promptID == "" || r.promptID == o.running {
		o.lead = lead{}
		return
	}
	if r.promptID != o.lead.promptID {
		o.lead = lead{at: at, promptID: r.promptID}
	}
	if shell, ok := between(r.message.text(), "<bash-input>", "</bash-input>"); ok {
		o.lead.shell = shell
	}
}

// local reports whether a user record's text is the client's note of its own action.
func local(text string) bool {
	return slices.ContainsFunc([]string{interruption, "<command-name>", "<local-command-", "<bash-"},
		func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// typed returns a prompt as the user typed it. The client notes a slash command in tags.
func typed(text string) string {
	name, ok := between(text, "<command-name>", "</command-name>")
	if !ok || !strings.HasPrefix(text, "<command-") {
		return text
	}
	args, _ := between(text, "<command-args>", "</command-args>")
	return strings.TrimSpace(name + " " + args)
}

// between returns the part of s between the first open and the last end after it.
func between(s, open, end string) (string, bool) {
	_, s, _ = strings.Cut(s, open)
	i := strings.LastIndex(s, end)
	return s[:max(0, i)], i >= 0
}
