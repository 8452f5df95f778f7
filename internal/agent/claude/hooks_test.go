package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	agenttest.Settings(t, Hooks, ConfigDir, "/r/.claude/settings.json", map[string]string{
		"HOME=/home/dev":                      "/home/dev/.claude/settings.json",
		"HOME=/home/dev CLAUDE_CONFIG_DIR=/c": "/c/settings.json",
	})
	if got := ConfigDir(env(nil)); got != "" {
		t.Errorf("without a home directory: got %q", got)
	}
}

// What is installed is found in each place that the client looks at, and is well.
func TestInspect(t *testing.T) {
	t.Parallel()
	text, err := hooks.Install(nil, Hooks.Entries)
	gittest.Must(t, err)
	installed := string(text)
	const silent, administered = `{"disableAllHooks":true}`, `{"allowManagedHooksOnly":true}`
	for _, tt := range []struct {
		name     string
		files    map[string]string
		count    int // of hooks
		plugins  int
		problems []hooks.Problem
	}{
		{name: "the user's", files: map[string]string{"home/settings.json": installed}, count: len(Hooks.Entries)},
		{name: "the project's", files: map[string]string{"repo/.claude/settings.json": installed}, count: len(Hooks.Entries)},
		{name: "one's own of the project", files: map[string]string{"repo/.claude/settings.local.json": installed}, count: len(Hooks.Entries)},
		{
			name: "silenced", files: map[string]string{"home/settings.json": installed, "repo/.claude/settings.local.json": silent},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.Disabled},
		},
		{
			name: "administered", files: map[string]string{"home/settings.json": installed, "managed.json": administered},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.ManagedOnly},
		},
		{
			name: "not administered", files: map[string]string{"home/settings.json": installed, "repo/.claude/settings.json": administered},
			count: len(Hooks.Entries),
		},
		{
			name: "administered by a server", files: map[string]string{"home/settings.json": installed, "home/remote-settings.json": administered},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.ManagedOnly},
		},
		{
			name: "silenced by a server, whatever a file says", files: map[string]string{"home/settings.json": installed, "home/remote-settings.json": silent, "managed.json": `{"disableAllHooks":false}`},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.Disabled},
		},
		{
			name: "silenced by a file, whatever a server says", files: map[string]string{"home/settings.json": installed, "home/remote-settings.json": `{"disableAllHooks":false}`, "managed.json": silent},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.Disabled},
		},
		{
			name: "a server's that are damaged", files: map[string]string{"home/settings.json": installed, "home/remote-settings.json": "{"},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.NotJSON},
		},
		{
			name: "administered by a program", files: map[string]string{"home/settings.json": installed, "managed.d/10.json": `{"policyHelper":{"path":"/opt/policy"}}`},
			count: len(Hooks.Entries), problems: []hooks.Problem{hooks.Elsewhere},
		},
		{
			name: "a program that nobody asks", files: map[string]string{"home/settings.json": installed, "repo/.claude/settings.json": `{"policyHelper":{"path":"/opt/policy"}}`},
			count: len(Hooks.Entries),
		},
		{name: "a plugin", files: map[string]string{"home/settings.json": `{"enabledPlugins":{"git-agent@here":true}}`}, plugins: 1},
		{name: "a plugin in the skills folder", files: map[string]string{"home/skills/git-agent/.claude-plugin/plugin.json": "{}"}, plugins: 1},
		{
			name: "a skill is not a plugin", files: map[string]string{"home/settings.json": installed, "home/skills/git-agent/SKILL.md": ""},
			count: len(Hooks.Entries),
		},
		{name: "none", problems: []hooks.Problem{hooks.Missing, hooks.Missing}},
	} {
		dir := t.TempDir()
		for name, content := range tt.files {
			write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
		}
		places := hooks.Places{Config: filepath.Join(dir, "home"), Project: filepath.Join(dir, "repo")}
		setup := Hooks
		setup.Managed = filepath.Join(dir, "managed.json")
		r := setup.Inspect(places)
		var problems []hooks.Problem
		for _, f := range r.Findings {
			problems = append(problems, f.Problem)
		}
		if len(r.Installed) != tt.count || len(r.Plugins) != tt.plugins || !slices.Equal(problems, tt.problems) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

// What can't be read from here is told: where it is, and that only an administrator can change it.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		write(t, path, content)
		return path
	}
	helper, helpers := file("helper.json", `{"policyHelper":{"path":"/opt/policy"}}`), file("helpers.json", `{"policyHelpers":{"linux":{}}}`)
	plain, windows, apart := file("plain.json", `{}`), file("windows.json", `{"wslInheritsWindowsSettings":true}`), file("apart.json", `{"wslInheritsWindowsSettings":false}`)
	for _, tt := range []struct {
		name     string
		files    []hooks.Settings
		policies []string
		windows  string
		want     []string
	}{
		{name: "nothing", files: []hooks.Settings{{Path: plain, Managed: true}, {Path: filepath.Join(dir, "none"), Managed: true}}},
		{name: "a plist", policies: []string{"/Library/a.plist"}, want: []string{"/Library/a.plist"}},
		{name: "a registry", policies: []string{`HKLM\x`, `HKCU\x`}, want: []string{`HKLM\x`, `HKCU\x`}},
		{name: "programs", files: []hooks.Settings{{Path: helper, Managed: true}, {Path: helpers, Managed: true, Sent: true}}, want: []string{helper, helpers}},
		{name: "a program in the user's own file", files: []hooks.Settings{{Path: helper}}},
		{name: "Windows", windows: windows, want: []string{windows}},
		{name: "Windows, but not for here", windows: apart},
	} {
		r := new(hooks.Report)
		elsewhere(r, tt.files, tt.policies, tt.windows)
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Path)
			if f.Problem != hooks.Elsewhere || !f.Managed || !strings.HasPrefix(f.String(), f.Path+": ") {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: told of %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestPluginHooks: the plugin has the hooks that init installs, and nothing of it is heard where our programs are
// not, but for one message.
func TestPluginHooks(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../plugin/hooks/hooks.json")
	gittest.Must(t, err)
	var file struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Type, Command, If string
				Timeout           int
			}
		}
	}
	gittest.Must(t, json.Unmarshal(data, &file))
	if len(file.Hooks) != len(Hooks.Entries) {
		t.Errorf("%d events, want %d", len(file.Hooks), len(Hooks.Entries))
	}
	for _, e := range Hooks.Entries {
		groups := file.Hooks[e.Event]
		if len(groups) == 0 || groups[0].Matcher != e.Matcher || len(groups[0].Hooks) != max(1, len(e.If)) {
			t.Errorf("%s: %+v", e.Event, groups)
			continue
		}
		program, _, _ := strings.Cut(e.Command, " ")
		want := "command -v " + program + " >/dev/null || exit 0; " + program + " hook --via plugin || exit 1"
		for i, h := range groups[0].Hooks {
			rule := ""
			if e.If != nil {
				rule = e.If[i]
			}
			if h.Type != "command" || h.Command != want || h.Timeout != e.Timeout || h.If != rule {
				t.Errorf("%s: %+v, want %q with %d s and the rule %q", e.Event, h, want, e.Timeout, rule)
			}
		}
		if more := groups[1:]; (len(more) != 0) != (e.Event == "SessionStart") {
			t.Errorf("%s: %+v", e.Event, more)
		}
	}
}

// TestPluginCommand: what the plugin's hooks do where our program is not, works, and breaks.
func TestPluginCommand(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	data, err := os.ReadFile("../../../plugin/hooks/hooks.json")
	gittest.Must(t, err)
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	gittest.Must(t, json.Unmarshal(data, &file))
	for _, tt := range []struct {
		name           string
		script         string // of both programs; "" for none
		status         int
		stdout, stderr string
		said           bool // that there is no program
	}{
		{name: "missing", said: true},
		{name: "works", script: "echo '{}'", stdout: "{}\n"},
		{name: "broken", script: "echo why >&2; exit 2", status: 1, stderr: "why\n"}, // 2 would make the agent go on
	} {
		dir := t.TempDir()
		if tt.script != "" {
			for _, program := range []string{"git-agent-turn", "git-agent-handoff"} {
				gittest.Must(t, os.WriteFile(filepath.Join(dir, program), []byte("#!"+sh+"\n"+tt.script+"\n"), 0o755))
			}
		}
		for event, groups := range file.Hooks {
			for i, g := range groups {
				cmd := exec.Command(sh, "-c", g.Hooks[0].Command)
				cmd.Env = []string{"PATH=" + dir}
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
					t.Fatal(err)
				}
				if i == 0 {
					if got := cmd.ProcessState.ExitCode(); got != tt.status || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
						t.Errorf("%s, %s: status %d, %q, %q", tt.name, event, got, &stdout, &stderr)
					}
					continue
				}
				var said struct{ SystemMessage string }
				if err := json.Unmarshal(stdout.Bytes(), &said); (err == nil && said.SystemMessage != "") != tt.said || stderr.Len() > 0 {
					t.Errorf("%s, %s says %q, %q", tt.name, event, &stdout, &stderr)
				}
			}
		}
	}
}

// TestDescribe: the version of a plugin is that of what the client runs.
func TestDescribe(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(name, content string) { write(t, filepath.Join(config, filepath.FromSlash(name)), content) }
	version := func(when, want string) {
		t.Helper()
		p := hooks.Plugin{Name: "git-agent@git-agent"}
		describe(config, &p)
		if p.Remove != "claude plugin uninstall git-agent@git-agent" || p.Update != "claude plugin update git-agent@git-agent" {
			t.Errorf("%+v", p)
		}
		if p.Version != want {
			t.Errorf("%s: %q", when, p.Version)
		}
	}
	version("without files", "")
	write("plugins/installed_plugins.json", `{"plugins":{"git-agent@git-agent":[{"version":"1.0.0"}]}}`)
	write("plugins/known_marketplaces.json", `{"git-agent":{"source":{"source":"github","repo":"dev/git-agent"}}}`)
	version("from a repository", "1.0.0")
	share, err := json.Marshal(filepath.Join(config, "share"))
	gittest.Must(t, err)
	write("plugins/known_marketplaces.json", `{"git-agent":{"source":{"source":"directory","path":`+string(share)+`}}}`)
	version("from a directory that is gone", "1.0.0")
	write("share/plugin/.claude-plugin/plugin.json", `{"version":"1.1.0"}`)
	version("from a directory", "1.1.0")
	if got := Plugin(filepath.Join(config, "share")); got != "" {
		t.Errorf("without a marketplace: %q", got)
	}
	write("share/.claude-plugin/marketplace.json", `{}`)
	if got, want := Plugin(filepath.Join(config, "share")), "claude plugin install git-agent --marketplace "; !strings.HasPrefix(got, want) {
		t.Errorf("with a marketplace: %q", got)
	}
}
