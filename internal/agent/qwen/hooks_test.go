package qwen

import (
	"testing"

	"gitagent/test/agenttest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	agenttest.Settings(t, Hooks, ConfigDir, "/r/.qwen/settings.json", map[string]string{
		"HOME=/home/dev":               "/home/dev/.qwen/settings.json",
		"HOME=/home/dev QWEN_HOME=/c":  "/c/settings.json",
		"HOME=/home/dev QWEN_HOME=~/c": "/home/dev/c/settings.json",
	})
}

func TestInstall(t *testing.T) {
	t.Parallel()
	agenttest.Installs(t, Hooks, "{\n  \"disableAllHooks\": true\n}\n")
	for _, e := range Hooks.Entries {
		if e.Timeout >= 1000 {
			t.Errorf("%s: the client takes %d for milliseconds", e.Event, e.Timeout)
		}
	}
}
