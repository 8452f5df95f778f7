package pi

import (
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
		{map[string]string{"HOME": "/home/dev"}, "/home/dev/.pi/agent"},
		{map[string]string{"HOME": "/home/dev", "PI_CODING_AGENT_DIR": "/c"}, "/c"},
		{map[string]string{"HOME": "/home/dev", "PI_CODING_AGENT_DIR": "~/c"}, "/home/dev/c"},
		{map[string]string{"HOME": "/home/dev", "PI_CODING_AGENT_DIR": "c"}, "/home/dev/.pi/agent"},
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
		{"12", "01a21ade-1bfc-7407-b132-6613148adeb7", hooks.Environment{PID: 12, SessionID: "01a21ade-1bfc-7407-b132-6613148adeb7"}},
		{"-1", "a.b", hooks.Environment{}},
	} {
		env := map[string]string{pidVariable: tt.pid, sessionVariable: tt.id}
		if got := Client(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
	}
	for _, name := range []string{pidVariable, sessionVariable} {
		if !strings.Contains(string(extension), name) {
			t.Errorf("the extension doesn't set %s", name)
		}
	}
}

// TestEvent: the prompt of an event is the one that the file's reader has.
func TestEvent(t *testing.T) {
	t.Parallel()
	e, err := Event(strings.NewReader(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/r","prompt":"<skill name=\"tidy\" location=\"/s/SKILL.md\">\nTidy.\n</skill>\n\nall of it"}`))
	gittest.Must(t, err)
	if e.Prompt != "/skill:tidy all of it" {
		t.Errorf("got %q", e.Prompt)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		session, prompt string
		want            []string
	}{
		{"", "", []string{"pi"}},
		{"s", "", []string{"pi", "--session", "s"}},
		{"s", "-x", []string{"pi", "--session", "s", "--", "-x"}},
		{"", "install", []string{"pi", "--", "install"}},
		{"", "@a is a file", []string{"pi", "--", " @a is a file"}},
	} {
		if got := Command("/home/dev/wt", tt.session, tt.prompt); !slices.Equal(got, tt.want) || !Interactive(got) {
			t.Errorf("%q %q: got %q", tt.session, tt.prompt, got)
		}
	}
	for command, want := range map[string]bool{
		"": false, "pi -p x": false, "pi --mode json x": false, "pi --mode text": true, "pi install x": false, "pi auth login": false,
		"pi --print": false, "pi -c": true, "pi hello": true, "pi -- -p": true, "pi --version": false,
	} {
		if got := Interactive(strings.Fields(command)); got != want {
			t.Errorf("%q talks to a person: %t", command, got)
		}
	}
}

func TestWithSession(t *testing.T) {
	t.Parallel()
	if got, ok := WithSession([]string{"pi", "--fork", "x", "go"}, "s"); !ok || !slices.Equal(got, []string{"pi", "--session-id", "s", "--fork", "x", "go"}) {
		t.Errorf("got %q", got)
	}
	for _, word := range []string{"--session", "--session-id", "-c", "--resume", "--no-session"} {
		if _, ok := WithSession([]string{"pi", word, "x"}, "s"); ok {
			t.Errorf("%s, and another session", word)
		}
	}
}
