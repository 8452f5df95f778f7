package qwen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/gittest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		user string
	}{
		{map[string]string{"HOME": "/home/dev"}, "/home/dev/.qwen/settings.json"},
		{map[string]string{"HOME": "/home/dev", "QWEN_HOME": "/c"}, "/c/settings.json"},
		{map[string]string{"HOME": "/home/dev", "QWEN_HOME": "~/c"}, "/home/dev/c/settings.json"},
	} {
		places := hooks.Places{Config: ConfigDir(func(name string) string { return tt.env[name] }), Project: "/r"}
		if got := filepath.ToSlash(Hooks.Path(places, false)); got != tt.user {
			t.Errorf("with %v: got %s, want %s", tt.env, got, tt.user)
		}
		if got := filepath.ToSlash(Hooks.Path(places, true)); got != "/r/.qwen/settings.json" {
			t.Errorf("a project's: got %s", got)
		}
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	places := hooks.Places{Config: t.TempDir()}
	path := Hooks.Path(places, false)
	const before = "{\n  \"disableAllHooks\": true\n}\n"
	gittest.Must(t, os.WriteFile(path, []byte(before), 0o600))
	apply := func(edit *hooks.Edit, err error) string {
		t.Helper()
		gittest.Must(t, err)
		gittest.Must(t, edit.Apply())
		data, err := os.ReadFile(path)
		gittest.Must(t, err)
		return string(data)
	}
	if got := apply(Hooks.Install(places, false)); strings.Count(got, "--agent qwen || true") != len(Hooks.Entries) || !strings.Contains(got, `"timeout": 60`) {
		t.Errorf("installed: %s", got)
	}
	r := Hooks.Inspect(places)
	if len(r.Installed) != len(Hooks.Entries) || len(r.Findings) != 1 || r.Findings[0].Problem != hooks.Disabled {
		t.Errorf("inspected: %+v", r)
	}
	if got := apply(Hooks.Remove(places, false)); got != before {
		t.Errorf("removed: %s", got)
	}
	for _, e := range Hooks.Entries {
		if e.Timeout >= 1000 {
			t.Errorf("%s: the client takes %d for milliseconds", e.Event, e.Timeout)
		}
	}
}
