package hooks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	installed, all := string(golden(t, "object", "installed")), len(Claude.Entries())
	const (
		user    = "home/.claude/settings.json"
		project = "repo/.claude/settings.json"
		local   = "repo/.claude/settings.local.json"
		managed = "etc/managed-settings.json"
	)
	stop := func(command string) string {
		return `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + command + `"}]}]}}`
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string // problem: finding, paths relative
		count int      // hooks installed
	}{
		{
			name: "nothing",
			want: []string{"missing: UserPromptSubmit, Stop, StopFailure, SessionEnd: no hook runs git-agent-turn", "missing: SessionStart, PostToolBatch, PreCompact: no hook runs git-agent-handoff"},
		},
		{name: "well", files: map[string]string{user: installed, project: "\n"}, count: all},
		{name: "for a team", files: map[string]string{project: installed}, count: all},
		{name: "the same in two files runs once", files: map[string]string{user: installed, project: installed}, count: 2 * all},
		{
			name:  "some events are missing",
			files: map[string]string{user: stop("git-agent-turn hook || true")},
			want:  []string{"missing: UserPromptSubmit, StopFailure, SessionEnd: no hook runs git-agent-turn", "missing: SessionStart, PostToolBatch, PreCompact: no hook runs git-agent-handoff"},
			count: 1,
		},
		{
			name:  "another command, in one file only",
			files: map[string]string{user: installed, local: stop("git agent-turn hook")},
			want: []string{
				`changed: repo/.claude/settings.local.json: Stop: the command is "git agent-turn hook", not "git-agent-turn hook || true"`,
				"twice: home/.claude/settings.json: Stop: git-agent-turn runs twice, the other hook is in repo/.claude/settings.local.json",
			},
			count: all + 1,
		},
		{
			name: "shell form beside exec form",
			files: map[string]string{
				user:    installed,
				project: `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"git-agent-turn","args":["hook"]}]}]}}`,
			},
			want: []string{
				`changed: repo/.claude/settings.json: Stop: the command is "git-agent-turn hook", not "git-agent-turn hook || true"`,
				"twice: home/.claude/settings.json: Stop: git-agent-turn runs twice, the other hook is in repo/.claude/settings.json",
			},
			count: all + 1,
		},
		{
			name:  "silenced",
			files: map[string]string{user: installed, local: `{"disableAllHooks":true}`},
			want:  []string{"disabled: repo/.claude/settings.local.json: disableAllHooks turns off every hook, whichever file it is in"},
			count: all,
		},
		{
			name:  "not silenced",
			files: map[string]string{user: installed, project: `{"disableAllHooks":false,"allowManagedHooksOnly":true}`},
			count: all,
		},
		{
			name:  "administered",
			files: map[string]string{user: installed, managed: `{"allowManagedHooksOnly":true}`},
			want:  []string{"managed only: etc/managed-settings.json: allowManagedHooksOnly turns off the hooks of all other files and of plugins"},
			count: all,
		},
		{
			name:  "not JSON",
			files: map[string]string{user: "{\n  // mine\n}", project: installed},
			want:  []string{"not JSON: home/.claude/settings.json:2:3: not strict JSON: invalid character '/' looking for beginning of object key string"},
			count: all,
		},
		{
			name:  "wrong type of one event",
			files: map[string]string{user: strings.Replace(installed, "[", `"x", "y": [`, 1)},
			want: []string{
				"wrong type: home/.claude/settings.json:3:25: hooks.UserPromptSubmit is a string, want an array",
				"missing: UserPromptSubmit: no hook runs git-agent-turn",
			},
			count: all - 1,
		},
		{
			name:  "wrong type of all",
			files: map[string]string{user: installed, project: `{"hooks":[]}`},
			want:  []string{"wrong type: repo/.claude/settings.json:1:10: hooks is an array, want an object"},
			count: all,
		},
		{
			name:  "not a file",
			files: map[string]string{user: installed, project + "/x": ""},
			want:  []string{"unreadable: read repo/.claude/settings.json: not a file"},
			count: all,
		},
		{
			name:  "plugin",
			files: map[string]string{user: `{"enabledPlugins":{"git-agent@git-agent-local":true,"other@git-agent-local":true}}`},
		},
		{
			name:  "plugin in the skills folder",
			files: map[string]string{"home/.claude/skills/git-agent/.claude-plugin/plugin.json": "{}"},
		},
		{
			name:  "a skill is not a plugin",
			files: map[string]string{user: installed, "home/.claude/skills/git-agent/SKILL.md": ""},
			count: all,
		},
		{
			name: "plugin beside settings",
			files: map[string]string{
				user:    installed,
				project: `{"enabledPlugins":{"git-agent@git-agent-local":true}}`,
			},
			want: []string{
				"twice: git-agent@git-agent-local: UserPromptSubmit, Stop, StopFailure, SessionEnd: git-agent-turn runs twice, the other hook is in home/.claude/settings.json",
				"twice: git-agent@git-agent-local: SessionStart, PostToolBatch, PreCompact: git-agent-handoff runs twice, the other hook is in home/.claude/settings.json",
			},
			count: all,
		},
		{
			name: "plugin switched off here",
			files: map[string]string{
				user:  `{"enabledPlugins":{"git-agent@git-agent-local":true},` + installed[1:],
				local: `{"enabledPlugins":{"git-agent@git-agent-local":false}}`,
			},
			count: all,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, tt.files)
			r := Inspect(Claude, Places{
				Config:  filepath.Join(dir, "home", ".claude"),
				Project: filepath.Join(dir, "repo"),
				Managed: filepath.Join(dir, filepath.FromSlash(managed)),
			})
			var got []string
			for _, f := range r.Findings {
				got = append(got, string(f.Problem)+": "+strings.ReplaceAll(f.String(), dir+string(filepath.Separator), ""))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if len(r.Installed) != tt.count {
				t.Errorf("installed %+v, want %d", r.Installed, tt.count)
			}
		})
	}
}

func TestInspectPlaces(t *testing.T) {
	t.Parallel()
	installed, err := Install(nil, Codex.Entries())
	if err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{".claude/settings.json": string(golden(t, "object", "installed")), ".codex/hooks.json": string(installed)})

	// In the home directory the user's settings and the project's are one file.
	r := Inspect(Claude, Places{Config: filepath.Join(dir, ".claude"), Project: dir})
	if len(r.Installed) != len(Claude.Entries()) || len(r.Findings) != 0 {
		t.Errorf("at home: %+v", r)
	}
	if got, want := r.Installed[1], (Installed{Event: "Stop", Program: "git-agent-turn", Command: "git-agent-turn hook || true", Path: filepath.Join(dir, ".claude", "settings.json"), Line: 17, form: r.Installed[1].form}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	r = Inspect(Codex, Places{Config: filepath.Join(dir, ".codex"), Project: filepath.Join(dir, "repo")})
	if len(r.Installed) != len(Codex.Entries()) || len(r.Findings) != 0 {
		t.Errorf("codex: %+v", r)
	}
	r = Inspect(Claude, Places{})
	if len(r.Findings) != 2 || r.Findings[0].Problem != Missing || r.Findings[1].Problem != Missing {
		t.Errorf("nowhere: %+v", r)
	}
}
