//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gitagent/internal/monitor"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// twice delivers an event as two settings files do, or settings and a plugin: to two processes at the same
// time. It returns what they say to the agent, and what to the user.
func (h *host) twice(name string, payload []byte) (agent, user []string) {
	h.t.Helper()
	program := "git-agent-turn"
	switch name {
	case "SessionStart", "PreCompact", "PostToolBatch", "PostToolUse":
		program = "git-agent-handoff"
	}
	said := make([]string, 2)
	var both sync.WaitGroup
	for i := range said {
		both.Go(func() { said[i] = h.run(bytes.NewReader(payload), program, "hook") })
	}
	both.Wait()
	for _, text := range said {
		var answer struct {
			HookSpecificOutput struct{ AdditionalContext string }
			SystemMessage      string
		}
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			h.t.Errorf("the answer to %s is %q: %v", name, text, err)
		}
		if s := answer.HookSpecificOutput.AdditionalContext; s != "" {
			agent = append(agent, s)
		}
		if s := answer.SystemMessage; s != "" {
			user = append(user, s)
		}
	}
	return agent, user
}

// calls are the tool calls that the monitor has counted.
func (h *host) calls(session string) int {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.Dir, ".git", "agent", "sessions", session+".monitor"))
	if err != nil {
		h.t.Fatal(err)
	}
	var st monitor.State
	if err := json.Unmarshal(data, &st); err != nil {
		h.t.Fatal(err)
	}
	return st.Calls
}

// TestEverythingTwice: every event of every session arrives twice at the same time. Nothing is recorded,
// handed off, counted or told twice, and nothing is lost.
func TestEverythingTwice(t *testing.T) {
	t.Parallel()
	rounds := gittest.Size(20, 5)
	h := newHost(t)
	config := gittest.TempDir(t)
	var agent, user []string
	deliver := func(e replay.Event) { agent, user = h.twice(e.Name, e.Payload()) }
	// once fails the test unless the agent was told one thing, and the user nothing.
	once := func(round int, what string) {
		t.Helper()
		if len(agent) != 1 || len(user) != 0 {
			t.Errorf("round %d, %s: the agent is told %d things, the user %q: %.100q", round, what, len(agent), user, agent)
		}
	}
	for n := range rounds {
		c := replay.New(config, h.Dir, deliver)
		h.client = c
		c.PID = 4000 + n
		if c.Start("startup"); n > 0 {
			once(n, "start") // what the last session left
		}
		c.Prompt("one")
		if n%2 == 0 {
			c.Late = true
		}
		c.Tool("Edit")
		h.Write("file", fmt.Sprint(n))
		for call := range 3 {
			payload := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":"PostToolBatch","tool_calls":[{"tool_use_id":"t%d"},{"tool_use_id":"u%d"}]}`,
				c.Session, c.Path, h.Dir, call, call)
			h.twice("PostToolBatch", []byte(payload))
		}
		if got := h.calls(c.Session); got != 6 {
			t.Errorf("round %d: %d tool calls were counted, want 6", n, got)
		}
		c.Stop("first")
		// Two compactions, one after the other: the agent is told after each.
		for range 2 {
			c.Compact("manual")
			c.Start("compact")
			once(n, "compaction")
		}
		c.Prompt("two")
		if n%3 == 0 {
			c.Fail("API Error: 500")
		} else {
			c.Stop("second")
		}
		if n%2 == 0 {
			h.run(nil, "git-agent-handoff", "write", "--mission", h.mission(), "--summary", "written")
		}
		c.End("other")
		turns := h.run(nil, "git-agent-turn", "list", "--mission", h.mission(), "--json")
		if strings.Count(turns, "\n") != 2 {
			t.Errorf("round %d: the turns are\n%s", n, turns)
		}
		// One before the compactions, between which nothing happened, and one at the end.
		want := 2
		if n%2 == 0 {
			want++ // a person's
		}
		if list := h.handoffs(); len(list) != want {
			t.Errorf("round %d: the handoffs are %+v", n, list)
		}
	}
	h.check()
}

// TestOthersTwice: the same with what other clients tell, which have other events, and other names in them.
func TestOthersTwice(t *testing.T) {
	t.Parallel()
	rounds := gittest.Size(20, 5)
	h := newHost(t)
	path := filepath.Join(gittest.TempDir(t), "rollout.jsonl")
	for n := range rounds {
		session := replay.NewID()
		mission := session[len(session)-8:]
		tell := func(name, fields string) (agent, user []string) {
			return h.twice(name, fmt.Appendf(nil, `{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":%q%s}`, session, path, h.Dir, name, fields))
		}
		tell("SessionStart", `,"source":"startup","model":"gpt-mock"`)
		for turn := range 2 {
			id := replay.NewID()
			tell("UserPromptSubmit", fmt.Sprintf(`,"turn_id":%q,"prompt":"turn %d"`, id, turn+1))
			h.Write("file", fmt.Sprint(n, turn))
			tell("PostToolUse", fmt.Sprintf(`,"turn_id":%q,"tool_name":"Bash","tool_input":{},"tool_response":"","tool_use_id":"call_%d"`, id, turn))
			tell("Stop", fmt.Sprintf(`,"turn_id":%q,"stop_hook_active":false,"last_assistant_message":"done"`, id))
		}
		tell("SessionEnd", `,"reason":"other"`)
		list := h.run(nil, "git-agent-turn", "list", "--mission", mission, "--json")
		if strings.Count(list, "\n") != 2 || !strings.Contains(list, `"turn":2`) || !strings.Contains(list, `"prompt":"turn 2"`) {
			t.Errorf("round %d: the turns are\n%s", n, list)
		}
		if got := h.calls(session); got != 2 {
			t.Errorf("round %d: %d tool calls were counted, want 2", n, got)
		}
		if list := h.run(nil, "git-agent-handoff", "list", "--mission", mission, "--json"); strings.Count(list, "\n") != 1 {
			t.Errorf("round %d: the handoffs are\n%s", n, list)
		}
	}
	h.check()
}
