package hook

import (
	"slices"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/agent"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	second := agent.All()[1]
	for _, tt := range []struct {
		args []string
		want *agent.Agent // nil for none
		err  bool
	}{
		{nil, nil, false},
		{[]string{"--agent"}, nil, false},
		{[]string{"--agent", second.Program}, second, false},
		{[]string{"x", "--agent", second.Name}, second, false},
		{[]string{"--agent", "-x"}, nil, true},
	} {
		if got, err := named(tt.args); got != tt.want || (err != nil) != tt.err {
			t.Errorf("%q: %v, %v, want %v", tt.args, got, err, tt.want)
		}
	}
	if other, err := named([]string{"--agent", "emacs"}); err != nil || other.Name != "emacs" {
		t.Errorf("an agent without a folder: %v, %v", other, err)
	}
}

func TestVia(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args   []string
		plugin bool
		rest   []string
	}{
		{nil, false, nil},
		{[]string{"--via"}, false, nil},
		{[]string{"--via", "settings"}, false, nil},
		{[]string{"--via", "plugin"}, true, []string{}},
		{[]string{"--agent", "claude", "--via", "plugin", "x"}, true, []string{"--agent", "claude", "x"}},
	} {
		if got := viaPlugin(tt.args); got != tt.plugin {
			t.Errorf("%q: %t", tt.args, got)
		} else if got && !slices.Equal(withoutVia(tt.args), tt.rest) {
			t.Errorf("%q without it: %q, want %q", tt.args, withoutVia(tt.args), tt.rest)
		}
	}
}

// The environment of a process that serves several clients asks for another session's mission.
func TestAsked(t *testing.T) {
	t.Setenv("GIT_AGENT_MISSION", "a1b2c3d4")
	for shared, want := range map[bool]string{false: "a1b2c3d4", true: ""} {
		if got := (&hook{client: hooks.Environment{Shared: shared}}).asked(); got != want {
			t.Errorf("shared %t: %q", shared, got)
		}
	}
}
