package claude

import (
	"testing"

	"gitagent/hooks"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		want hooks.Environment
	}{
		{
			name: "hook of a plugin",
			env: map[string]string{
				"CLAUDE_PROJECT_DIR": "/home/dev/repo", "CLAUDE_PID": "20123",
				"CLAUDE_CODE_SESSION_ID": "5b603d06-8528-4d54-8275-dcebec74b87e", "CLAUDE_PLUGIN_ROOT": "/home/dev/plugin",
			},
			want: hooks.Environment{ProjectDir: "/home/dev/repo", PID: 20123, SessionID: "5b603d06-8528-4d54-8275-dcebec74b87e", PluginRoot: "/home/dev/plugin"},
		},
		{
			name: "command run by the agent",
			env:  map[string]string{"CLAUDE_CODE_SESSION_ID": "s"},
			want: hooks.Environment{SessionID: "s"},
		},
		{
			name: "nonsense",
			env:  map[string]string{"CLAUDE_PROJECT_DIR": "repo", "CLAUDE_PID": "-1", "CLAUDE_CODE_SESSION_ID": "../x"},
		},
		{name: "nothing"},
	} {
		if got := Client(env(tt.env)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
