package claude

import (
	"slices"
	"strings"

	"gitagent/internal/transcript"
)

// An opener recognises the records that start a turn, given all records of a
// segment in order.
//
// A turn starts at a user record with a turnOrigin, except a compaction's
// summary, which repeats the running turn's. If no record of the segment has a
// turnOrigin (old clients do not write it), a turn starts at a user record with
// a new promptId that is not a tool's result, said by the client, a mark of an
// interruption or a local command.
//
// User records directly before it with its promptId belong to it: the line of a
// shell command, a reminder before the note of a finished task.
type opener struct {
	exact   bool            // a turnOrigin was seen
	started map[string]bool // uuids of starts
	known   map[string]bool // promptIds of starts and tools' results

	running string // promptId of the last started turn
	lead    lead
}

// A lead is what may belong to the next turn.
type lead struct {
	at       int
	promptID string
	shell    string // the line of a shell command
}

// open returns the turn that starts with r, at offset at, or nil. It does not
// set End.
func (o *opener) open(at int, r *fileLine) *transcript.FileTurn {
	if !o.starts(r) {
		o.follow(at, r)
		return nil
	}
	t := &transcript.FileTurn{
		Start: at, UUID: r.uuid, PromptID: r.promptID, Prompt: strings.Clone(typed(r.text)),
		Origin: r.origin, Source: r.source, Cwd: r.cwd, At: transcript.Moment(r.timestamp),
	}
	if r.promptID != "" && r.promptID == o.lead.promptID {
		t.Start = o.lead.at
		if o.lead.shell != "" {
			t.Prompt = "!" + o.lead.shell
		}
	}
	if o.started == nil {
		o.started = make(map[string]bool)
	}
	o.started[r.uuid] = true
	o.know(r.promptID)
	o.running, o.lead = r.promptID, lead{}
	return t
}

// starts reports whether a main chain's user record starts a turn.
func (o *opener) starts(r *fileLine) bool {
	if r.origin != "" {
		o.exact = true
	}
	switch {
	case r.summary, r.uuid != "" && o.started[r.uuid]:
		return false
	case r.origin != "":
		return true
	case len(r.answers) > 0:
		o.know(r.promptID)
		return false
	}
	fresh := r.promptID == "" || !o.known[r.promptID]
	return !o.exact && fresh && !r.meta && r.blocks > 0 && !local(r.text)
}

func (o *opener) know(promptID string) {
	if o.known == nil {
		o.known = make(map[string]bool)
	}
	o.known[promptID] = true
}

// follow keeps a record as a lead, unless it belongs to the running turn.
func (o *opener) follow(at int, r *fileLine) {
	if r.promptID == "" || r.promptID == o.running {
		o.lead = lead{}
		return
	}
	if r.promptID != o.lead.promptID {
		o.lead = lead{at: at, promptID: r.promptID}
	}
	if shell, ok := between(r.text, "<bash-input>", "</bash-input>"); ok {
		o.lead.shell = strings.Clone(shell)
	}
}

// interruption starts the record of an Esc; "for tool use" or "]" follows it.
const interruption = "[Request interrupted by user"

// local reports whether text is the client's note of the user's own action.
func local(text string) bool {
	return slices.ContainsFunc([]string{interruption, "<command-name>", "<local-command-", "<bash-"},
		func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// typed returns a prompt as typed. The client notes a slash command in tags.
func typed(text string) string {
	name, ok := between(text, "<command-name>", "</command-name>")
	if !ok || !strings.HasPrefix(text, "<command-") {
		return text
	}
	args, _ := between(text, "<command-args>", "</command-args>")
	return strings.TrimSpace(name + " " + args)
}

func between(s, open, end string) (string, bool) {
	_, s, _ = strings.Cut(s, open)
	i := strings.LastIndex(s, end)
	return s[:max(0, i)], i >= 0
}
