package claude

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/hooks"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		user string
	}{
		{map[string]string{"HOME": "/home/dev"}, "/home/dev/.claude/settings.json"},
		{map[string]string{"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": "/c"}, "/c/settings.json"},
	} {
		places := hooks.Places{Config: Agent{}.ConfigDir(env(tt.env)), Project: "/r"}
		if got := filepath.ToSlash(settings(places, false)); got != tt.user {
			t.Errorf("with %v: got %s, want %s", tt.env, got, tt.user)
		}
		if got := filepath.ToSlash(settings(places, true)); got != "/r/.claude/settings.json" {
			t.Errorf("a project's: got %s", got)
		}
	}
	if got := (Agent{}).ConfigDir(env(nil)); got != "" {
		t.Errorf("without a home directory: got %q", got)
	}
}

// What is installed is found in each place that the client looks at, and is well.
func TestInspect(t *testing.T) {
	t.Parallel()
	text, err := hooks.Install(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	installed := string(text)
	const silent, administered = `{"disableAllHooks":true}`, `{"allowManagedHooksOnly":true}`
	for _, tt := range []struct {
		name     string
		files    map[string]string
		count    int // of hooks
		plugins  int
		problems []hooks.Problem
	}{
		{name: "the user's", files: map[string]string{"home/settings.json": installed}, count: len(entries)},
		{name: "the project's", files: map[string]string{"repo/.claude/settings.json": installed}, count: len(entries)},
		{name: "one's own of the project", files: map[string]string{"repo/.claude/settings.local.json": installed}, count: len(entries)},
		{
			name: "silenced", files: map[string]string{"home/settings.json": installed, "repo/.claude/settings.local.json": silent},
			count: len(entries), problems: []hooks.Problem{hooks.Disabled},
		},
		{
			name: "administered", files: map[string]string{"home/settings.json": installed, "managed.json": administered},
			count: len(entries), problems: []hooks.Problem{hooks.ManagedOnly},
		},
		{
			name: "not administered", files: map[string]string{"home/settings.json": installed, "repo/.claude/settings.json": administered},
			count: len(entries),
		},
		{name: "a plugin", files: map[string]string{"home/settings.json": `{"enabledPlugins":{"git-agent@here":true}}`}, plugins: 1},
		{name: "a plugin in the skills folder", files: map[string]string{"home/skills/git-agent/.claude-plugin/plugin.json": "{}"}, plugins: 1},
		{
			name: "a skill is not a plugin", files: map[string]string{"home/settings.json": installed, "home/skills/git-agent/SKILL.md": ""},
			count: len(entries),
		},
		{name: "none", problems: []hooks.Problem{hooks.Missing, hooks.Missing}},
	} {
		dir := t.TempDir()
		for name, content := range tt.files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		places := hooks.Places{Config: filepath.Join(dir, "home"), Project: filepath.Join(dir, "repo")}
		r := inspect(places, filepath.Join(dir, "managed.json"))
		var problems []hooks.Problem
		for _, f := range r.Findings {
			problems = append(problems, f.Problem)
		}
		if len(r.Installed) != tt.count || len(r.Plugins) != tt.plugins || !slices.Equal(problems, tt.problems) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}
