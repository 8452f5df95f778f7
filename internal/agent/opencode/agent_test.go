package opencode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/gittest"
)

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
		if got := OpenCode.ConfigDir(func(name string) string { return tt.env[name] }); got != filepath.FromSlash(tt.want) {
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
		env := map[string]string{OpenCode.pidVariable(): tt.pid, OpenCode.sessionVariable(): tt.id}
		if got := OpenCode.Environment(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
	}
}

// TestKilo: OpenCode under another name has its own places and variables, and nothing of OpenCode's.
func TestKilo(t *testing.T) {
	t.Parallel()
	home := func(name string) string { return map[string]string{"HOME": "/home/dev"}[name] }
	plan, err := Kilo.Hooks().Install(hooks.Places{Config: Kilo.ConfigDir(home)}, false)
	gittest.Must(t, err)
	if want := filepath.FromSlash("/home/dev/.config/kilo/plugin/git-agent.js"); plan.Path != want || !bytes.Equal(plan.After, Kilo.plugin()) {
		t.Errorf("the plugin goes to %s, want %s", plan.Path, want)
	}
	if text := string(plan.After); strings.Contains(text, "opencode") || !strings.Contains(text, "init --agent kilo\n") || !strings.Contains(text, `const program = "kilo"`) {
		t.Errorf("the plugin says\n%.500s", text)
	}
	if got, want := Kilo.conversations(home), filepath.FromSlash("/home/dev/.local/share/git-agent/kilo"); got != want {
		t.Errorf("conversations are in %s, want %s", got, want)
	}
	if got, want := Kilo.Variables(), []string{"KILO", "KILO_PID", "GIT_AGENT_KILO_PID", "GIT_AGENT_KILO_SESSION"}; !slices.Equal(got, want) {
		t.Errorf("the variables are %q, want %q", got, want)
	}
	if got := Kilo.Command("", "ses_1", ""); !slices.Equal(got, []string{"kilo", "--session=ses_1"}) {
		t.Errorf("the command is %q", got)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, session, prompt, want string }{
		{"", "", "", "opencode"},
		{"/r", "ses_1", "-go", "opencode /r --session=ses_1 --prompt=-go"},
	} {
		command := OpenCode.Command(tt.dir, tt.session, tt.prompt)
		if got := strings.Join(command, " "); got != tt.want || !OpenCode.Interactive(command) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	for _, command := range []string{"", "opencode run hello", "opencode serve", "opencode --version", "opencode --pure run x"} {
		if OpenCode.Interactive(strings.Fields(command)) {
			t.Errorf("%q is said to talk to a person", command)
		}
	}
	if command := []string{"", "config"}; !OpenCode.Interactive(command) || Kilo.Interactive(command) {
		t.Error("config is a directory of OpenCode's, and a command of Kilo's")
	}
}

// TestContinues: after which prompt a session goes on when a person has gone back.
func TestContinues(t *testing.T) {
	t.Parallel()
	message := func(id, more, role string) string {
		return `{"id":"` + id + `"` + more + `,"info":{"id":"` + id + `","role":"` + role + `"},"parts":[{"type":"text","text":"x"}]}` + "\n"
	}
	prompt := func(id string) string { return message(id, "", "user") }
	answer := func(id string) string { return message(id, "", "assistant") }
	one := prompt("p1") + answer("a1") + message("q1", `,"queued":true`, "user") + answer("a2") + prompt("p2") + answer("a3")
	for _, tt := range []struct {
		name  string
		files []string
		want  string
	}{
		{"a first file", []string{one}, ""},
		{"after a turn", []string{one, `{"after":"a1"}` + "\n"}, "p1"},
		{"after a turn that was steered", []string{one, `{"after":"a2"}` + "\n"}, "p1"},
		{"after a prompt in a turn", []string{one, `{"after":"q1"}` + "\n"}, "p1"},
		{"after the second turn", []string{one, `{"after":"a3"}` + "\n"}, "p2"},
		{"as plugins before 3 say it", []string{one, `{"continues":"q1","after":"a2"}` + "\n"}, "p1"},
		{"at the beginning", []string{one, `{"after":""}` + "\n"}, ""},
		{"twice", []string{one, `{"after":"a2"}` + "\n" + prompt("p3") + answer("a4"), `{"after":"a4"}` + "\n"}, "p3"},
		{"twice, behind the first", []string{one, `{"after":"a3"}` + "\n" + prompt("p3") + answer("a4"), `{"after":"a1"}` + "\n"}, "p1"},
		{"after words of the client", []string{one, `{"after":"a3"}` + "\n" + answer("a4"), `{"after":"a4"}` + "\n"}, "p2"},
		{
			"after a prompt that the client has repeated",
			[]string{one + `{"id":"c","info":{"id":"c","role":"user"},"parts":[{"type":"compaction","auto":true,"overflow":true}]}` + "\n" +
				`{"id":"s","info":{"id":"s","role":"assistant","summary":true},"parts":[{"type":"text","text":"so far"}]}` + "\n" + prompt("p2b") + answer("a5"), `{"after":"a5"}` + "\n"},
			"p2",
		},
		{"in a fork", []string{message("n1", `,"was":"p1"`, "user") + answer("n2"), `{"after":"n2"}` + "\n"}, "p1"},
		{"after what is nowhere", []string{one, `{"after":"x"}` + "\n"}, ""},
		{"hostile", []string{one, `{"after":"../x"}` + "\n"}, ""},
		{"a part of a line", []string{one, `{"after":"a1"`}, ""},
		{"a long line", []string{one, strings.Repeat("x", 1<<20)}, ""},
	} {
		dir, path := t.TempDir(), ""
		for n, text := range tt.files {
			path = filepath.Join(dir, "ses_1"+strings.TrimSuffix(fmt.Sprintf(".%d", n), ".0")+".jsonl")
			gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		jumps := len(tt.files) > 1 && strings.Contains(tt.files[len(tt.files)-1], "\n")
		if got, jumped, err := Continues(path, 0); got != tt.want || jumped != jumps || err != nil {
			t.Errorf("%s: got %q, %t, %v, want %q", tt.name, got, jumped, err, tt.want)
		}
		if got, jumped, err := Continues(path, 1); got != "" || jumped || err != nil {
			t.Errorf("%s: a later turn jumps to %q, %v", tt.name, got, err)
		}
	}
}

// TestPluginCalls: two calls of a tool are two events. What is the same to the letter counts as one that
// was told twice, and an agent that calls the same tool again would never hear of its context.
func TestPluginCalls(t *testing.T) {
	t.Parallel()
	_, after, _ := strings.Cut(string(OpenCode.plugin()), `"tool.execute.after"`)
	call, _, found := strings.Cut(after, "\n    }),")
	if !found || !strings.Contains(call, "tool_use_id: callID") {
		t.Errorf("the payload after a tool doesn't say which call it is:\n%s", call)
	}
}
