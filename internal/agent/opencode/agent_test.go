package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/gittest"
)

func TestInstall(t *testing.T) {
	t.Parallel()
	places := hooks.Places{Config: t.TempDir()}
	path := filepath.Join(places.Config, "plugin", "git-agent.js")
	problems := func() (all []hooks.Problem) {
		for _, f := range Inspect(places).Findings {
			all = append(all, f.Problem)
		}
		return all
	}
	apply := func(plan func(hooks.Places, bool) (*hooks.Edit, error)) {
		t.Helper()
		e, err := plan(places, false)
		gittest.Must(t, err)
		gittest.Must(t, e.Apply())
	}
	write := func(path, text string) {
		t.Helper()
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want := func(what string, want ...hooks.Problem) {
		t.Helper()
		if got := problems(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	want("nothing", hooks.Missing)
	apply(Install)
	want("installed")
	write(path, string(plugin)+"\n")
	want("changed by hand", hooks.Changed)
	write(path, strings.Replace(string(plugin), "plugin ", "plugin 0.", 1))
	want("another version", hooks.Changed)
	apply(Install)
	want("installed again")
	write(filepath.Join(places.Config, "plugins", "git-agent.js"), string(plugin))
	want("twice", hooks.Twice)
	gittest.Must(t, os.RemoveAll(filepath.Join(places.Config, "plugins")))
	apply(Remove)
	want("removed", hooks.Missing)
	apply(Remove)
	write(path, "// mine\n")
	if _, err := Install(places, false); err == nil {
		t.Error("another's file would be replaced")
	}
	apply(Remove)
	if data, err := os.ReadFile(path); err != nil || string(data) != "// mine\n" {
		t.Errorf("another's file: %q, %v", data, err)
	}
	if _, err := Install(places, true); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("in a project: %v", err)
	}
}

func TestConfigDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "/home/dev"}, "/home/dev/.config/opencode"},
		{map[string]string{"HOME": "/home/dev", "XDG_CONFIG_HOME": "/c"}, "/c/opencode"},
		{map[string]string{"HOME": "/home/dev", "XDG_CONFIG_HOME": "c"}, "/home/dev/.config/opencode"},
		{nil, ""},
	} {
		if got := ConfigDir(func(name string) string { return tt.env[name] }); got != filepath.FromSlash(tt.want) {
			t.Errorf("%v: got %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pid, id string
		want    hooks.Environment
	}{
		{"12", "ses_df66c3548ffebYgP3dFv5wDzLh", hooks.Environment{PID: 12, SessionID: "ses_df66c3548ffebYgP3dFv5wDzLh"}},
		{"-1", "../x", hooks.Environment{}},
	} {
		env := map[string]string{pidVariable: tt.pid, sessionVariable: tt.id}
		if got := Client(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
	}
	for _, name := range []string{pidVariable, sessionVariable} {
		if !strings.Contains(string(plugin), name) {
			t.Errorf("the plugin doesn't set %s", name)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, session, prompt, want string }{
		{"", "", "", "opencode"},
		{"/r", "ses_1", "-go", "opencode /r --session=ses_1 --prompt=-go"},
	} {
		command := Command(tt.dir, tt.session, tt.prompt)
		if got := strings.Join(command, " "); got != tt.want || !Interactive(command) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	for _, command := range []string{"", "opencode run hello", "opencode serve", "opencode --version", "opencode --pure run x"} {
		if Interactive(strings.Fields(command)) {
			t.Errorf("%q is said to talk to a person", command)
		}
	}
}

func TestContinues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{`{"continues":"msg_1","after":"msg_2"}` + "\n{}\n", "msg_1"},
		{`{"continues":"","after":""}` + "\n", ""},
		{`{"continues":"../x"}` + "\n", ""},
		{`{"id":"msg_1"}` + "\n", ""},
		{`{"continues":"msg_1"}`, ""},
		{"", ""},
		{strings.Repeat("x", 1<<20), ""},
	} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		gittest.Must(t, os.WriteFile(path, []byte(tt.text), 0o600))
		jumps := strings.HasPrefix(tt.text, `{"continues"`) && strings.Contains(tt.text, "\n")
		if got, jumped, err := Continues(path, 0); got != tt.want || jumped != jumps || err != nil {
			t.Errorf("%.40q: got %q, %t, %v", tt.text, got, jumped, err)
		}
		if got, jumped, err := Continues(path, 1); got != "" || jumped || err != nil {
			t.Errorf("%.40q: a later turn jumps to %q, %v", tt.text, got, err)
		}
	}
}

// TestPluginCalls: two calls of a tool are two events. What is the same to the letter counts as one that
// was told twice, and an agent that calls the same tool again would never hear of its context.
func TestPluginCalls(t *testing.T) {
	t.Parallel()
	_, after, _ := strings.Cut(string(plugin), `"tool.execute.after"`)
	call, _, found := strings.Cut(after, "\n    }),")
	if !found || !strings.Contains(call, "tool_use_id: callID") {
		t.Errorf("the payload after a tool doesn't say which call it is:\n%s", call)
	}
}
