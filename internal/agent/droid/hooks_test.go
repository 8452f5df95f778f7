package droid

import (
	"testing"

	"gitagent/test/agenttest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	agenttest.Settings(t, Hooks, ConfigDir, "/r/.factory/settings.json", map[string]string{
		"HOME=/home/dev": "/home/dev/.factory/settings.json",
		"HOME=/home/dev FACTORY_HOME_OVERRIDE=/c": "/c/.factory/settings.json",
	})
}

func TestInstall(t *testing.T) {
	t.Parallel()
	agenttest.Installs(t, Hooks, `{"hooks":{"hooksDisabled":true},"model":"x"}`+"\n")
}
