//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/contextmeter"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// twice delivers an event as settings and a plugin do: to two processes at the same time. It returns what
// they say to the agent, and what to the user.
func (h *host) twice(name string, payload []byte) (agent, user []string) {
	h.t.Helper()
	program := "git-agent-turn"
	switch name {
	case "SessionStart", "PreCompact", "PostToolBatch", "PostToolUse":
		program = "git-agent-handoff"
	}
	said := make([]string, 2)
	var both sync.WaitGroup
	for i, args := range [][]string{{"hook"}, {"hook", "--via", "plugin"}} {
		both.Go(func() { said[i] = h.run(bytes.NewReader(payload), program, args...) })
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
	gittest.Must(h.t, err)
	var st contextmeter.Memory
	gittest.Must(h.t, json.Unmarshal(data, &st))
	return st.Calls
}

// TestEverythingTwice: every event of every session arrives twice at the same time. Nothing is recorded,
// handed off, counted or told twice, and nothing is lost.
func TestEverythingTwice(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
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
	gittest.Check(t)
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

// TestOneOfTwoKilled: of the two processes that get the end of a turn or of a session one is killed, at any
// moment. The other one does what that left undone, and nothing is done twice.
func TestOneOfTwoKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	rounds := gittest.Size(60, 10)
	h := newHost(t)
	random := rand.New(rand.NewPCG(3, 4))
	usual, kills := 50*time.Millisecond, 0
	either := func(e replay.Event) {
		t.Helper()
		program := "git-agent-turn"
		if e.Name == "SessionStart" {
			program = "git-agent-handoff"
		}
		cmds := []*exec.Cmd{
			h.command(bytes.NewReader(e.Payload()), program, "hook"),
			h.command(bytes.NewReader(e.Payload()), program, "hook", "--via", "plugin"),
		}
		if e.Name == "SessionStart" || e.Name == "UserPromptSubmit" {
			cmds = cmds[:1]
		}
		began := time.Now()
		for _, cmd := range cmds {
			gittest.Must(t, cmd.Start())
		}
		victim := -1
		if len(cmds) == 2 {
			victim = random.IntN(2)
			for end := time.Duration(random.Int64N(int64(usual))); time.Since(began) < end; {
				// At any moment, also in the middle of a system call of ours.
			}
			_ = cmds[victim].Process.Kill() // it may have ended
		}
		for i, cmd := range cmds {
			switch err := cmd.Wait(); {
			case i != victim && err != nil:
				t.Errorf("the hook of %s that was not killed: %v", e.Name, err)
			case i == victim && err != nil:
				kills++
				usual += usual / 20
			case i == victim:
				usual -= usual / 10
			}
		}
	}
	config := gittest.TempDir(t)
	for n := 0; n < rounds || kills < rounds/2; n++ {
		c := replay.New(config, h.Dir, either)
		h.client = c
		c.PID = 4000 + n
		c.Start("startup")
		for turn := range 2 {
			c.Prompt(fmt.Sprint("turn ", turn))
			h.Write("file", fmt.Sprint(n, turn))
			c.Stop("done")
			if got := strings.Count(h.run(nil, "git-agent-turn", "list", "--mission", h.mission(), "--json"), "\n"); got != turn+1 {
				t.Errorf("round %d: %d turns after turn %d", n, got, turn+1)
			}
		}
		c.End("other")
		if got := len(h.handoffs()); got != 1 {
			t.Errorf("round %d: %d handoffs", n, got)
		}
	}
	h.check()
}
