package hooks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	installed, all := string(golden(t, "object", "installed")), len(entries)
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

		plugins []Plugin
	}{
		{
			name: "nothing",
			want: []string{"missing: UserPromptSubmit, Stop, StopFailure, SessionEnd: no hook runs git-agent-turn", "missing: SessionStart, PreToolUse, PostToolBatch, PreCompact: no hook runs git-agent-handoff"},
		},
		{name: "well", files: map[string]string{user: installed, project: "\n"}, count: all},
		{name: "for a team", files: map[string]string{project: installed}, count: all},
		{name: "the same in two files runs once", files: map[string]string{user: installed, project: installed}, count: 2 * all},
		{
			name:  "some events are missing",
			files: map[string]string{user: stop("git-agent-turn hook || true")},
			want:  []string{"missing: UserPromptSubmit, StopFailure, SessionEnd: no hook runs git-agent-turn", "missing: SessionStart, PreToolUse, PostToolBatch, PreCompact: no hook runs git-agent-handoff"},
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
			name:    "plugin elsewhere",
			plugins: []Plugin{{Name: "home/plugins/git-agent"}},
		},
		{
			name: "plugin beside settings",
			files: map[string]string{
				user:    `{"enabledPlugins":{"git-agent@git-agent-local":true}}`,
				project: installed,
			},
			count: all,
		},
		{
			name:  "plugin that a team has switched on",
			files: map[string]string{project: `{"enabledPlugins":{"git-agent@git-agent-local":true}}`},
			want:  []string{"missing: UserPromptSubmit, Stop, StopFailure, SessionEnd: no hook runs git-agent-turn", "missing: SessionStart, PreToolUse, PostToolBatch, PreCompact: no hook runs git-agent-handoff"},
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
			var settings []Settings
			for _, name := range []string{user, project, local, managed} {
				settings = append(settings, Settings{Path: filepath.Join(dir, filepath.FromSlash(name)), Managed: name == managed, Team: name == project})
			}
			r := Inspect(entries, settings, tt.plugins...)
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
	dir := files(t, map[string]string{"settings.json": string(golden(t, "object", "installed"))})
	path := filepath.Join(dir, "settings.json")

	// In the home directory the user's settings and the project's are one file.
	r := Inspect(entries, []Settings{{Path: path}, {Path: path, Team: true}})
	if len(r.Installed) != len(entries) || len(r.Findings) != 0 {
		t.Errorf("at home: %+v", r)
	}
	if got, want := r.Installed[1], (Installed{Event: "Stop", Program: "git-agent-turn", Command: "git-agent-turn hook || true", Path: path, Line: 17, form: r.Installed[1].form}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	r = Inspect(entries, nil)
	if len(r.Findings) != 2 || r.Findings[0].Problem != Missing || r.Findings[1].Problem != Missing {
		t.Errorf("nowhere: %+v", r)
	}
}

func TestOther(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		plugins []Plugin
		want    string
	}{{nil, ""}, {[]Plugin{{Name: "own"}}, ""}, {[]Plugin{{Name: "own"}, {Name: "b"}}, "b"}, {[]Plugin{{Name: "b"}}, "b"}} {
		if got := (&Report{Plugins: tt.plugins}).Other("own"); got != tt.want {
			t.Errorf("of %q: %q", tt.plugins, got)
		}
	}
}

// What an administrator has set, nobody else can change.
func TestInspectManaged(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"own": `{"disableAllHooks":true}`, "managed": `{"disableAllHooks":true,"allowManagedHooksOnly":true}`})
	r := Inspect(nil, []Settings{{Path: filepath.Join(dir, "own")}, {Path: filepath.Join(dir, "managed"), Managed: true}})
	var got []bool
	for _, f := range r.Findings {
		got = append(got, f.Managed)
	}
	if !slices.Equal(got, []bool{false, true, true}) {
		t.Errorf("of %v are managed: %v", r.Findings, got)
	}
}

// An administrator's directory comes on top of their file, the last name last.
func TestInspectDropIns(t *testing.T) {
	t.Parallel()
	const only, on, off = "managed.d/", `{"allowManagedHooksOnly":true}`, `{"allowManagedHooksOnly":false}`
	for _, tt := range []struct {
		files map[string]string
		want  string // the file at fault
	}{
		{map[string]string{"managed.json": on}, "managed.json"},
		{map[string]string{only + "10-hooks.json": on}, only + "10-hooks.json"},
		{map[string]string{only + "10-hooks.json": on, only + "20-hooks.json": off}, ""},
		{map[string]string{only + "20-hooks.json": on, only + "10-hooks.json": off, "managed.json": on}, only + "20-hooks.json"},
		{map[string]string{only + "20-other.json": "{}", only + "10-hooks.json": on}, only + "10-hooks.json"},
		{map[string]string{only + ".hidden.json": on, only + "README": on}, ""},
	} {
		dir := files(t, tt.files)
		var at string
		for _, f := range (Setup{Managed: filepath.Join(dir, "managed.json")}).Inspect(Places{}).Findings {
			rel, _ := filepath.Rel(dir, f.Path)
			at += filepath.ToSlash(rel)
			if f.Problem != ManagedOnly || !f.Managed {
				t.Errorf("%v: %+v", tt.files, f)
			}
		}
		if at != tt.want {
			t.Errorf("%v: at fault is %q, want %q", tt.files, at, tt.want)
		}
	}
}

// A directory that cannot be read is told.
func TestInspectUnreadable(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"managed.d": "a file"})
	r := (Setup{Managed: filepath.Join(dir, "managed.json")}).Inspect(Places{})
	if len(r.Findings) != 1 || r.Findings[0].Path != filepath.Join(dir, "managed.d") {
		t.Errorf("found are %+v", r.Findings)
	}
}
