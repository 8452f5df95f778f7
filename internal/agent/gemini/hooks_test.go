package gemini

import (
	"testing"

	"gitagent/test/agenttest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	agenttest.Settings(t, Hooks, ConfigDir, "/r/.gemini/settings.json", map[string]string{
		"HOME=/home/dev":                    "/home/dev/.gemini/settings.json",
		"HOME=/home/dev GEMINI_CLI_HOME=/c": "/c/.gemini/settings.json",
	})
}

func TestInstall(t *testing.T) {
	t.Parallel()
	agenttest.Installs(t, Hooks, "{\n  \"hooksConfig\": {\"enabled\": false}\n}\n")
}
