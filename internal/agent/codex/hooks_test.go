package codex

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
	agenttest.Settings(t, Hooks, ConfigDir, "/r/.codex/hooks.json", map[string]string{
		"HOME=/home/dev":               "/home/dev/.codex/hooks.json",
		"HOME=/home/dev CODEX_HOME=/c": "/c/hooks.json",
	})
}

func TestInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	places := hooks.Places{Config: filepath.Join(dir, "codex"), Project: filepath.Join(dir, "repo")}
	edit, err := Hooks.Install(places, false)
	gittest.Must(t, err)
	gittest.Must(t, edit.Apply())
	r := Hooks.Inspect(places)
	if len(r.Installed) != len(Hooks.Entries) || len(r.Findings) != 1 || r.Findings[0].Problem != hooks.Untrusted {
		t.Errorf("installed: %+v", r)
	}
}

// What a user has trusted goes by position: an event that is new goes behind those that were installed before, and
// a group behind the others of its event.
func TestInstallAppends(t *testing.T) {
	t.Parallel()
	before, err := hooks.Install(nil, Hooks.Entries[:len(Hooks.Entries)-1])
	gittest.Must(t, err)
	text := strings.Replace(string(before), `"Stop": [`, `"Stop": [{"hooks": [{"type": "command", "command": "mine"}]},`, 1)
	dir := t.TempDir()
	path := filepath.Join(dir, "hooks.json")
	gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	edit, err := Hooks.Install(hooks.Places{Config: dir}, false)
	gittest.Must(t, err)
	kept := strings.TrimRight(text, " \n}")
	kept = kept[:strings.LastIndexByte(kept, ']')] // the end of the last event
	if got := string(edit.After); !strings.HasPrefix(got, kept) || strings.Count(got, "Interrupt") != 1 || strings.Index(got, "Interrupt") < len(kept) {
		t.Errorf("from\n%s\nto\n%s", text, got)
	}
}
