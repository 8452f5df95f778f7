package page

import (
	"fmt"
	"strings"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

func reader(t *turns.Turn) transcript.Reader { return agent.Of(t.Agent).Reader() }

// facts returns other things known of a turn, as names and values.
func facts(t *turns.Turn, company []string) [][2]string {
	var list [][2]string
	add := func(name, value string) {
		if value != "" {
			list = append(list, [2]string{name, value})
		}
	}
	add("Agent", strings.TrimSpace(t.Agent+" "+t.Model))
	add("Session", t.Session)
	add("Branch", t.Branch)
	add("Commit", t.Code.String())
	add("Base", turns.BaseOf(t))
	add("Imported", t.Proof())
	for _, who := range company {
		add("Beside", who)
	}
	if t.Change().Unsure() {
		add("Unsure", "more may be this turn's change (?): git agent-turn show "+t.After().String())
	}
	add("Tools", cmdline.Tally(t.Tools))
	if t.Context > 0 {
		add("Context", fmt.Sprintf("%d tokens, %d written", t.Context, t.Output))
	}
	for _, a := range t.Agents {
		add("Sub-agent", strings.TrimPrefix(turns.SideLine(a), "sub-agent "))
	}
	if t.AgentsLeft > 0 {
		add("Sub-agents", fmt.Sprintf("%d more left out", t.AgentsLeft))
	}
	for _, w := range t.Worktrees {
		add("Worktree", turns.WorktreeLine(w))
	}
	if t.Compactions > 0 {
		add("Compacted", cmdline.Plural(t.Compactions, "time"))
	}
	return list
}

// agents adds to d what the turn's sub-agents did.
func (w *writing) agents(told *turns.Conversations, t *turns.Turn, d *detail, p *prose) {
	for _, a := range t.Agents {
		one := &subagentPacket{ID: a.ID, Line: strings.TrimPrefix(turns.SideLine(a), "sub-agent ")}
		segment, err := told.Subagent(t, a.ID)
		if err != nil {
			one.Missing = err.Error()
		} else {
			s := read(transcript.Own(reader(t)), segment, !w.without(Results), p)
			one.Steps = s.steps
			if s.prompt != "" {
				one.Steps = append([]*step{{Kind: "asked", Text: short(s.prompt)}}, one.Steps...)
			}
			if s.reply != "" {
				one.Steps = append(one.Steps, &step{Kind: "said", Tree: p.tree(s.reply)})
			}
		}
		d.Agents = append(d.Agents, one)
		for _, s := range d.Steps {
			if s.Kind == "call" && a.Call != "" && s.call == a.Call {
				s.Agent = a.ID
			}
		}
	}
}
