package droid

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestFiles: a session is a file in the directory of its project.
func TestFiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(project, name, text string) {
		t.Helper()
		dir := filepath.Join(config, sessions, project)
		gittest.Must(t, os.MkdirAll(dir, 0o700))
		gittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	start := func(dir string) string { return `{"type":"session_start","cwd":"` + dir + `"}` + "\n" }
	write("-home-dev-repo", "aa1.jsonl", start("/home/dev/repo"))
	write("-home-dev-repo", "aa1.settings.json", "{}")
	write("-home-dev-repo-sub", "aa2.jsonl", start("/home/dev/repo/sub")+"{}\n")
	write("-home-dev-other", "ab3.jsonl", start("/home/dev/other"))
	write("-home-dev-other", "ab4.jsonl", "{}")
	write("-home-dev-other", "a b.jsonl", start("/home/dev/repo"))
	ids := func(files []transcript.File, err error) (ids []string) {
		t.Helper()
		gittest.Must(t, err)
		for _, f := range files {
			if filepath.Base(f.Path) != f.Session+extension || f.Size == 0 {
				t.Errorf("a file is %+v", f)
			}
			ids = append(ids, f.Session)
		}
		slices.Sort(ids)
		return ids
	}
	if got := ids(Files(config, "aa")); !slices.Equal(got, []string{"aa1", "aa2"}) {
		t.Errorf("files = %q", got)
	}
	if got := ids(History(config, []string{"/home/dev/repo", "/x"})); !slices.Equal(got, []string{"aa1", "aa2"}) {
		t.Errorf("history = %q", got)
	}
	if got := ids(Files(filepath.Join(config, "none"), "")); got != nil {
		t.Errorf("without sessions: %q", got)
	}
}

func TestConfigDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "/home/dev"}, "/home/dev/.factory"},
		{map[string]string{"HOME": "/home/dev", "FACTORY_HOME_OVERRIDE": "/f"}, "/f/.factory"},
	} {
		if got := filepath.ToSlash(ConfigDir(func(name string) string { return tt.env[name] })); got != tt.want {
			t.Errorf("with %v: got %s, want %s", tt.env, got, tt.want)
		}
	}
}

// TestInstall: our hooks come and go, and what turns them off is found.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, team := range []bool{false, true} {
		places := hooks.Places{Config: filepath.Join(t.TempDir(), ".factory"), Project: t.TempDir()}
		path := filepath.Join(places.Config, "settings.json")
		if team {
			path = filepath.Join(places.Project, ".factory", "settings.json")
		}
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		const before = `{"hooks":{"hooksDisabled":true},"model":"x"}` + "\n"
		gittest.Must(t, os.WriteFile(path, []byte(before), 0o600))
		edit, err := Hooks.Install(places, team)
		gittest.Must(t, err)
		gittest.Must(t, edit.Apply())
		data, err := os.ReadFile(path)
		gittest.Must(t, err)
		if n := strings.Count(string(data), "hook --agent droid || true"); n != len(Hooks.Entries) {
			t.Errorf("%d hooks are installed: %s", n, data)
		}
		if r := Hooks.Inspect(places); len(r.Installed) != len(Hooks.Entries) || len(r.Findings) != 1 || r.Findings[0].Problem != hooks.Disabled {
			t.Errorf("inspected: %+v", r)
		}
		edit, err = Hooks.Remove(places, team)
		gittest.Must(t, err)
		gittest.Must(t, edit.Apply())
		if data, err := os.ReadFile(path); err != nil || string(data) != before {
			t.Errorf("left is %s (%v)", data, err)
		}
	}
}
