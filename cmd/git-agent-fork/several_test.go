package main

import (
	"slices"
	"testing"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		prompts []string
		agents  []string
		times   int
		want    []string // nil for a usage error
		on      []string // names of the agents that go on; nil for the turn's
	}{
		{name: "one without a prompt", want: []string{""}},
		{name: "three without a prompt", times: 3, want: []string{"", "", ""}},
		{name: "one for all", prompts: []string{"a"}, times: 2, want: []string{"a", "a"}},
		{name: "one", prompts: []string{"a"}, want: []string{"a"}},
		{name: "one for each", prompts: []string{"a", "b"}, want: []string{"a", "b"}},
		{name: "as many", prompts: []string{"a", "a"}, times: 2, want: []string{"a", "a"}},
		{name: "too few", prompts: []string{"a", "b"}, times: 3},
		{name: "too many", prompts: []string{"a", "b"}, times: 1},
		{name: "an empty one", prompts: []string{"a", ""}},
		{name: "a blank one for all", prompts: []string{" \n"}, times: 2},
		{name: "most", times: 32, want: make([]string, 32)},
		{name: "more", times: 33},
		{name: "more prompts", prompts: slices.Repeat([]string{"a"}, 33)},
		{name: "one agent", agents: []string{"codex"}, want: []string{""}, on: []string{"codex"}},
		{
			name: "an agent for each, by any of its names", agents: []string{"claude-code", "codex", "claude"},
			want: []string{"", "", ""}, on: []string{"claude-code", "codex", "claude-code"},
		},
		{
			name: "one prompt for several agents", prompts: []string{"a"}, agents: []string{"codex", "claude"},
			want: []string{"a", "a"}, on: []string{"codex", "claude-code"},
		},
		{
			name: "one agent for several prompts", prompts: []string{"a", "b"}, agents: []string{"codex"},
			want: []string{"a", "b"}, on: []string{"codex", "codex"},
		},
		{
			name: "one agent several times", agents: []string{"codex"}, times: 2,
			want: []string{"", ""}, on: []string{"codex", "codex"},
		},
		{name: "neither one nor one for each", prompts: []string{"a", "b", "c"}, agents: []string{"codex", "claude"}},
		{name: "an unknown agent", agents: []string{"emacs"}},
		{name: "no agent", agents: []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := share(tt.prompts, tt.agents, tt.times)
			var prompts, on []string
			for _, o := range got {
				prompts = append(prompts, o.prompt)
				if o.agent != nil {
					on = append(on, o.agent.Name)
				}
			}
			if !slices.Equal(prompts, tt.want) || !slices.Equal(on, tt.on) || (err == nil) != (tt.want != nil) {
				t.Errorf("share(%q, %q, %d) = %q of %q, %v; want %q of %q", tt.prompts, tt.agents, tt.times, prompts, on, err, tt.want, tt.on)
			}
		})
	}
}

// A window of tmux has the environment of its server: what says where sessions are comes along.
func TestOurs(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "CODEX_HOME"} {
		dir := t.TempDir()
		t.Setenv(name, dir)
		if env := ours(); !slices.Contains(env, name+"="+dir) {
			t.Errorf("%s is not in %q", name, env)
		}
	}
}
