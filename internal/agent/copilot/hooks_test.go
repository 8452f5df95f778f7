package copilot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	agenttest.Settings(t, Hooks, ConfigDir, "/r/.github/hooks/git-agent.json", map[string]string{
		"HOME=/home/dev":                 "/home/dev/.copilot/hooks/git-agent.json",
		"HOME=/home/dev COPILOT_HOME=/c": "/c/hooks/git-agent.json",
	})
}

// TestInstall: our hooks have a file of their own, which goes with them.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, project := range []bool{false, true} {
		places := hooks.Places{Config: filepath.Join(t.TempDir(), ".copilot"), Project: t.TempDir()}
		want := filepath.Join(places.Config, "hooks", "git-agent.json")
		if project {
			want = filepath.Join(places.Project, ".github", "hooks", "git-agent.json")
		}
		edit, err := Hooks.Install(places, project)
		gittest.Must(t, err)
		gittest.Must(t, edit.Apply())
		data, err := os.ReadFile(want)
		gittest.Must(t, err)
		if n := strings.Count(string(data), "hook --agent copilot || true"); n != len(Hooks.Entries) {
			t.Errorf("%d hooks are installed: %s", n, data)
		}
		if r := Hooks.Inspect(places); len(r.Installed) != len(Hooks.Entries) || len(r.Findings) != 0 {
			t.Errorf("inspected: %+v", r)
		}
		edit, err = Hooks.Remove(places, project)
		gittest.Must(t, err)
		gittest.Must(t, edit.Apply())
		if _, err := os.Stat(want); err == nil {
			t.Errorf("%s is left", want)
		}
	}
}

// TestDisabled: the settings that turn hooks off are in other files than hooks.
func TestDisabled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"home/settings.json", "repo/.github/copilot/settings.json", "repo/.github/copilot/settings.local.json"} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		places := hooks.Places{Config: filepath.Join(dir, "home"), Project: filepath.Join(dir, "repo")}
		for text, want := range map[string]bool{`{"disableAllHooks":true}`: true, `{"disableAllHooks":false}`: false, `{"disableAllHooks":true`: false} {
			gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
			found := false
			for _, f := range Hooks.Inspect(places).Findings {
				found = found || f.Problem == hooks.Disabled && f.Path == path
			}
			if found != want {
				t.Errorf("%s in %s: hooks are off: %t", text, name, found)
			}
		}
	}
}
