//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"gitagent/test/gittest"
)

// delegate makes a rule by which the model launches agents, all at once, and waits for them.
func (r *rig) delegate(word, answer string, prompts ...string) rule {
	calls, steps := []any{}, []reply{}
	for _, prompt := range prompts {
		input := map[string]any{"description": "look around", "prompt": prompt}
		if strings.HasPrefix(prompt, "COPY") {
			input["more"] = map[string]any{"fork_context": true} // Codex can give it the conversation so far
		}
		calls = append(calls, map[string]any{"type": "tool_use", "name": "Agent", "input": input})
	}
	steps = append(steps, reply{"content": calls})
	if r.kind.program() == "codex" {
		for range prompts {
			steps = append(steps, reply{"tool": "Wait"})
		}
	}
	return on(word, append(steps, say(answer))...)
}

// nest lets agents that were launched launch others.
func (r *rig) nest() {
	r.t.Helper()
	switch c := r.kind.(type) {
	case codex:
		config, err := os.ReadFile(c.configFile(r))
		gittest.Must(r.t, err)
		replaceFile(r.t, c.configFile(r), append(config, "\n[agents]\nmax_depth = 2\n"...))
	case openCode:
		path := c.settings(r)
		config, err := os.ReadFile(path)
		gittest.Must(r.t, err)
		const own = `"subagent_depth": 2, "agent": {"general": {"permission": {"task": "allow"}}}`
		replaceFile(r.t, path, append([]byte("{\n  "+own+","), config[1:]...))
	}
}

// subagents has turns in which the agent launches others: two at once, one of them failing; one that launches another; in Codex
// one that gets the conversation so far. Their work is with the turn, apart from its own, and each is counted once.
func subagents(r *rig) {
	r.nest()
	r.mock.play(
		r.delegate("TBOTH", "both are back", "SUBTASK list the files", "TERR hello"),
		r.delegate("TNEST", "it is back", "OUTER look around"), r.delegate("OUTER", "the other is back", "SUBTASK list the files"),
		r.delegate("TCOPY", "it is back", "COPY look around"), on("COPY", say("copied")),
	)
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	words := []string{"T1", "TBOTH", "TNEST", "T3"}
	ran := [][]string{nil, {"done 1", "failed 0"}, {"done 1", "done 1"}, nil}
	if r.kind.program() == "codex" {
		words, ran = slices.Insert(words, 3, "TCOPY"), slices.Insert(ran, 3, []string{"done 1"})
		ran[2] = []string{"done 1", "done 2"} // it waits by a tool
		ran[3] = []string{"done 0"}
	}
	wants := []want{r.done("T1")}
	for _, word := range words[1:] {
		r.play(r.repo.Dir, session, word+" hello").ok()
		wants = append(wants, r.done(word))
	}
	all := 0
	for i, t := range r.check(wants...) {
		var got []string
		for _, a := range t.Agents {
			got = append(got, a.did())
			all += a.Tokens.output()
			shown := r.command(r.repo.Dir, "show", t.Mission+"/"+strconv.Itoa(t.Turn), "--conversation", "--full")
			if a.Call == "" || a.Bytes == 0 || !strings.Contains(shown, "-- sub-agent "+a.ID) || !strings.Contains(shown, "\n  @ > ") {
				r.t.Errorf("%v: %+v is shown as\n%s", t, a, shown)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, ran[i]) {
			r.t.Errorf("%v has the sub-agents %+v, want %q", t, t.Agents, ran[i])
		}
		all += t.Tokens.output()
	}
	if asked := r.mock.wrote(); all != asked {
		r.t.Errorf("the turns and their sub-agents have written %d tokens, the model says %d\n%s", all, asked, r.report())
	}
}

// wrote is how many tokens the model has written in conversations.
func (m *mock) wrote() int {
	m.t.Helper()
	n := 0
	for _, q := range m.requests() {
		if !q.Side && q.Status == 200 {
			n += q.Reply.Usage.Output
		}
	}
	return n
}
