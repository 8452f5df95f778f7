package hooks

import (
	"bytes"
	"errors"
	"testing"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestReadClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		want Client
	}{
		{
			name: "hook of a plugin",
			env: map[string]string{
				"CLAUDE_PROJECT_DIR": "/home/dev/repo", "CLAUDE_PID": "20123",
				"CLAUDE_CODE_SESSION_ID": "5b603d06-8528-4d54-8275-dcebec74b87e", "CLAUDE_PLUGIN_ROOT": "/home/dev/plugin",
			},
			want: Client{ProjectDir: "/home/dev/repo", PID: 20123, SessionID: "5b603d06-8528-4d54-8275-dcebec74b87e", PluginRoot: "/home/dev/plugin"},
		},
		{
			name: "command run by the agent",
			env:  map[string]string{"CLAUDE_CODE_SESSION_ID": "s"},
			want: Client{SessionID: "s"},
		},
		{
			name: "nonsense",
			env:  map[string]string{"CLAUDE_PROJECT_DIR": "repo", "CLAUDE_PID": "-1", "CLAUDE_CODE_SESSION_ID": "../x"},
		},
		{name: "nothing"},
	} {
		if got := ReadClient(env(tt.env)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestAgent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent         Agent
		env           map[string]string
		user, project string
	}{
		{Claude, map[string]string{"HOME": "/home/dev"}, "/home/dev/.claude/settings.json", "/r/.claude/settings.json"},
		{Claude, map[string]string{"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": "/c"}, "/c/settings.json", "/r/.claude/settings.json"},
		{Codex, map[string]string{"HOME": "/home/dev"}, "/home/dev/.codex/hooks.json", "/r/.codex/hooks.json"},
		{Codex, map[string]string{"HOME": "/home/dev", "CODEX_HOME": "/c"}, "/c/hooks.json", "/r/.codex/hooks.json"},
	} {
		if got := tt.agent.UserSettings(tt.agent.ConfigDir(env(tt.env))); got != tt.user {
			t.Errorf("%s with %v: got %s, want %s", tt.agent, tt.env, got, tt.user)
		}
		if got := tt.agent.ProjectSettings("/r"); got != tt.project {
			t.Errorf("%s: got %s, want %s", tt.agent, got, tt.project)
		}
	}
	if got := Claude.ConfigDir(env(nil)); got != "" {
		t.Errorf("without a home directory: got %q", got)
	}
}

func TestParseAgent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Agent{"claude": Claude, "claude-code": Claude, "codex": Codex} {
		if got, err := ParseAgent(name); got != want || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if _, err := ParseAgent("opencode"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("opencode: got error %v", err)
	}
	if _, err := ParseAgent("x"); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("x: got error %v", err)
	}
}

// Installed hooks must be recognised when they are read again, and must not block the agent.
func TestEntries(t *testing.T) {
	t.Parallel()
	for _, a := range []Agent{Claude, Codex} {
		if len(a.Entries()) == 0 {
			t.Errorf("%s: no entries", a)
		}
		for _, e := range a.Entries() {
			if m := program().FindStringSubmatch(e.Command); m == nil || "git-agent-"+m[1] != e.program() {
				t.Errorf("%s: %q is not recognised", a, e.Command)
			}
			if !bytes.HasSuffix([]byte(e.Command), []byte(" || true")) || e.Timeout <= 0 {
				t.Errorf("%s: %+v could fail or hang", a, e)
			}
		}
	}
}
