package recorder_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/usage"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// A helper is a sub-agent of a client.
type helper struct {
	t    *testing.T
	c    *replay.Client
	id   string
	path string
}

// newHelper starts a sub-agent.
func newHelper(l *lab.Lab, t *testing.T, c *replay.Client, id, kind string) *helper {
	t.Helper()
	dir := filepath.Join(strings.TrimSuffix(c.Path, ".jsonl"), "subagents")
	gittest.Must(t, os.MkdirAll(dir, 0o700))
	h := &helper{t, c, id, filepath.Join(dir, "agent-"+id+".jsonl")}
	h.about(kind, false)
	h.write(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "look for " + id}})
	return h
}

func (h *helper) about(kind string, finished bool) {
	h.t.Helper()
	data, err := json.Marshal(map[string]any{"agentType": kind, "toolUseId": "toolu_" + h.id, "finished": finished})
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(h.path, ".jsonl")+".meta.json", data, 0o600)
	}
	gittest.Must(h.t, err)
}

func (h *helper) write(record map[string]any) {
	h.t.Helper()
	record["isSidechain"], record["agentId"], record["uuid"] = true, h.id, replay.NewID()
	line, err := json.Marshal(record)
	gittest.Must(h.t, err)
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err == nil {
		err = f.Close()
	}
	gittest.Must(h.t, err)
}

// says lets the sub-agent's model say a block of a message.
func (h *helper) says(message string, block map[string]any, stop string, output int) {
	h.t.Helper()
	h.write(map[string]any{"type": "assistant", "message": map[string]any{
		"id": message, "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": stop, "content": []any{block},
		"usage": map[string]any{"input_tokens": 10, "output_tokens": output},
	}})
}

func (h *helper) calls(message string, output int) {
	h.says(message, map[string]any{"type": "tool_use", "id": replay.NewID(), "name": "Grep", "input": map[string]any{}}, "tool_use", output)
}

func (h *helper) answers(message, text string, output int) {
	h.says(message, map[string]any{"type": "text", "text": text}, "end_turn", output)
}

// stored is what a turn has stored of a sub-agent, "" for nothing.
func stored(l *lab.Lab, t *turns.Turn, id string) string {
	l.T.Helper()
	var b bytes.Buffer
	if err := turns.WriteSubagent(l.T.Context(), l.GitRepo(), t, id, &b); err != nil {
		return ""
	}
	return b.String()
}

func haiku(input, output int64) usage.ByModel {
	return usage.ByModel{"claude-haiku-4-5": {Input: input, Output: output}}
}

// ran checks what a turn's record says of its only sub-agent.
func ran(l *lab.Lab, t *turns.Turn, id string, outcome record.Outcome, calls int, tokens usage.ByModel) record.Subagent {
	l.T.Helper()
	if len(t.Agents) != 1 {
		l.T.Fatalf("turn %d has the sub-agents %+v, want %s", t.Turn, t.Agents, id)
	}
	s := t.Agents[0]
	if s.ID != id || s.Outcome != outcome || s.Calls != calls || !maps.Equal(s.Tokens, tokens) {
		l.T.Errorf("turn %d has the sub-agent %+v, want %s %s with %d calls and %v", t.Turn, s, id, outcome, calls, tokens)
	}
	return s
}

func TestSubAgent(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	c.Prompt("delegate")
	c.Tool("Agent")
	h := newHelper(l, t, c, "a1", "general-purpose")
	h.calls("m1", 1)
	h.calls("m1", 4)
	h.answers("m2", "found it with password hunter2: https://dev:hunter2hunter2@example.invalid/", 5)
	h.about("general-purpose", true)
	internal := newHelper(l, t, c, "compacts", "")
	internal.answers("m3", "a summary", 5)
	c.Stop("done")
	l.Turn(c, "go on", nil)
	list := l.List(lab.Own(c))
	s := ran(l, list[0], "a1", record.Done, 2, haiku(20, 9))
	if s.Type != "general-purpose" || s.Call != "toolu_a1" || s.From != 0 || s.To == 0 {
		t.Errorf("the record says %+v", s)
	}
	text := stored(l, list[0], "a1")
	if len(text) != s.Bytes || strings.Count(text, "\n") != 4 || strings.Contains(text, "hunter2hunter2") || !strings.Contains(text, "[redacted:url-password]") {
		t.Errorf("stored are %d bytes of %d:\n%s", len(text), s.Bytes, text)
	}
	if len(list[1].Agents) != 0 {
		t.Errorf("the turn after has %+v", list[1].Agents)
	}
	l.Holds(list[0], "delegate")
	if m := l.SpentIn(lab.Own(c)); !maps.Equal(m.Spent.Agents, haiku(20, 9)) || !maps.Equal(m.Spent.Models, lab.Messages(3)) {
		t.Errorf("the mission has taken %+v", m.Spent)
	}
	l.Verify(lab.Own(c))
	l.Quiet()

	// A fork has it, and the client's file may go.
	gittest.Must(t, os.RemoveAll(filepath.Dir(h.path)))
	f := l.ForkOf(list[1])
	l.Fork(f)
	if got := stored(l, l.List(lab.ForkID)[0], "a1"); got != text {
		t.Errorf("the fork has\n%s", got)
	}
}

// TestSubAgentInBackground: it goes on when the turn has ended. Each turn has its part, and each message counts
// once, though its lines are in two.
func TestSubAgentInBackground(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Prompt("delegate")
	c.Tool("Agent")
	h := newHelper(l, t, c, "a1", "Explore")
	h.calls("m1", 3)
	c.Stop("it runs")
	h.calls("m1", 7)
	l.Turn(c, "something else", nil)
	l.Turn(c, "and more", nil)
	h.answers("m2", "found", 5)
	h.about("Explore", true)
	c.Prompt("<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>")
	c.Stop("I see")
	l.Turn(c, "last", nil)
	list := l.List(lab.Own(c))
	first := ran(l, list[0], "a1", record.Running, 1, haiku(10, 3))
	second := ran(l, list[1], "a1", record.Running, 1, haiku(0, 4))
	third := ran(l, list[3], "a1", record.Done, 0, haiku(10, 5))
	if first.To != second.From || second.To != third.From || len(list[2].Agents)+len(list[4].Agents) > 0 {
		t.Errorf("the parts are %+v, %+v and %+v", first, second, third)
	}
	file, err := os.ReadFile(h.path)
	gittest.Must(t, err)
	if got := stored(l, list[0], "a1") + stored(l, list[1], "a1") + stored(l, list[3], "a1"); got != string(file) {
		t.Errorf("the parts are together\n%s\nwant\n%s", got, file)
	}
	if m := l.SpentIn(lab.Own(c)); !maps.Equal(m.Spent.Agents, haiku(20, 12)) {
		t.Errorf("the mission has taken %+v", m.Spent)
	}
}

// TestSubAgentAgain: a turn that is recorded again has what its sub-agents have done, once.
func TestSubAgentAgain(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	c.Prompt("delegate")
	c.Tool("Agent")
	h := newHelper(l, t, c, "a1", "Explore")
	h.calls("m1", 3)
	c.Block("not yet", "go on")
	h.answers("m2", "found", 5)
	c.StopAgain("done")
	list := l.List(lab.Own(c))
	s := ran(l, list[0], "a1", record.Done, 1, haiku(20, 8))
	if s.From != 0 || strings.Count(stored(l, list[0], "a1"), "\n") != 3 {
		t.Errorf("stored is %+v", s)
	}
	if m := l.SpentIn(lab.Own(c)); !maps.Equal(m.Spent.Agents, haiku(20, 8)) {
		t.Errorf("the mission has taken %+v", m.Spent)
	}
	l.Verify(lab.Own(c))
}

// TestSubAgentsWithoutState: who has lost the local state stores nothing twice.
func TestSubAgentsWithoutState(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	for i, id := range []string{"a1", "a2"} {
		c.Prompt("delegate " + id)
		c.Tool("Agent")
		h := newHelper(l, t, c, id, "Explore")
		h.answers("m"+id, "found", 5)
		h.about("Explore", true)
		c.Stop("done")
		ran(l, l.List(lab.Own(c))[i], id, record.Done, 0, haiku(10, 5))
	}
	gittest.Must(t, os.RemoveAll(filepath.Join(l.Dir, ".git", "agent", "sessions")))
	c.Prompt("delegate a3")
	c.Tool("Agent")
	h := newHelper(l, t, c, "a3", "Explore")
	h.answers("ma3", "found", 5)
	c.Stop("done")
	ran(l, l.List(lab.Own(c))[2], "a3", record.Done, 0, haiku(10, 5))
}

// TestManySubAgents: what is too much for one turn is left to the next.
func TestManySubAgents(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Prompt("delegate")
	c.Tool("Agent")
	for i := range 130 {
		newHelper(l, t, c, fmt.Sprintf("a%03d", i), "Explore").answers(fmt.Sprint("m", i), "found", 5)
	}
	c.Stop("done")
	l.Turn(c, "something else", nil)
	list := l.List(lab.Own(c))
	if len(list[0].Agents) != 100 || list[0].AgentsLeft != 30 || len(list[1].Agents) != 30 || list[1].AgentsLeft != 0 {
		t.Errorf("the turns have %d sub-agents, %d left, and %d, %d left", len(list[0].Agents), list[0].AgentsLeft, len(list[1].Agents), list[1].AgentsLeft)
	}
	if m := l.SpentIn(lab.Own(c)); !maps.Equal(m.Spent.Agents, haiku(1300, 650)) {
		t.Errorf("the mission has taken %+v", m.Spent)
	}
	l.Fsck()
}
