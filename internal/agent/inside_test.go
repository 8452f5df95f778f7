package agent

import (
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/session"
)

// played is an agent that says of its client what the test wants.
func played(name string, client hooks.Environment) *Agent {
	return &Agent{Name: name, Programs: []string{name}, Client: func(func(string) string) hooks.Environment { return client }}
}

func none(string) string { return "" }
func descends(from ...session.Process) func() []session.Process {
	return func() []session.Process { return from }
}

func TestInside(t *testing.T) {
	t.Parallel()
	a, b := hooks.Environment{SessionID: "a", PID: 10}, hooks.Environment{SessionID: "b", PID: 20}
	for _, tt := range []struct {
		name      string
		a, b      hooks.Environment
		ancestors []session.Process
		want      string
	}{
		{name: "nobody", want: "a"},
		{name: "the first", a: a, want: "a"},
		{name: "the second", b: b, want: "b"},
		{name: "the second, which the first one runs", a: a, b: b, ancestors: []session.Process{{PID: 30, Name: "sh"}, {PID: 21, Name: "b"}, {PID: 11, Name: "a"}}, want: "b"},
		{name: "the first, which the second one runs", a: a, b: b, ancestors: []session.Process{{PID: 11, Name: "a"}, {PID: 21, Name: "b"}}, want: "a"},
		{name: "known by its process", a: a, b: b, ancestors: []session.Process{{PID: 20, Name: "node"}, {PID: 10, Name: "node"}}, want: "b"},
		{name: "no ancestor is known", a: a, b: b, want: "a"},
	} {
		got, client := inside(none, []*Agent{played("a", tt.a), played("b", tt.b)}, descends(tt.ancestors...))
		if got.Name != tt.want || client != got.Client(none) {
			t.Errorf("%s: %s, %+v, want %s", tt.name, got.Name, client, tt.want)
		}
	}
}

// TestBorrower: a client that runs the default agent's hooks may be run by the default agent, or run it.
func TestBorrower(t *testing.T) {
	t.Parallel()
	a, b := hooks.Environment{SessionID: "a", PID: 10}, hooks.Environment{PID: 20}
	sh := session.Process{PID: 30, Name: "sh"}
	for _, tt := range []struct {
		name      string
		a         hooks.Environment
		borrows   bool
		ancestors []session.Process
		want      bool
	}{
		{name: "the default agent's own hook", a: a, ancestors: []session.Process{sh, {PID: 10, Name: "a"}}},
		{name: "borrowed", borrows: true, ancestors: []session.Process{sh, {PID: 20, Name: "node"}}, want: true},
		{name: "by a client that the default agent runs", a: a, borrows: true, ancestors: []session.Process{sh, {PID: 20, Name: "node"}, {PID: 10, Name: "a"}}, want: true},
		{name: "the default agent, which the borrower runs", a: a, borrows: true, ancestors: []session.Process{sh, {PID: 10, Name: "node"}, {PID: 20, Name: "node"}}},
		{name: "the same, by its program's name", borrows: true, ancestors: []session.Process{sh, {PID: 11, Name: "a"}, {PID: 20, Name: "node"}}},
		{name: "no ancestor is known", borrows: true, want: true},
		{name: "no ancestor is known, and the default agent's session is", a: a, borrows: true},
	} {
		first, second := played("a", tt.a), played("b", b)
		second.Borrows = func(func(string) string) bool { return tt.borrows }
		got, ok := borrower(none, []*Agent{first, second}, descends(tt.ancestors...))
		if ok != tt.want || ok && got.Name != "b" {
			t.Errorf("%s: %v, %v", tt.name, got, ok)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"CLAUDECODE=1", "CLAUDE_PID=7", "AI_AGENT=x", "AI_AGENT=a=b", "GEMINI_CLI=1", "CURSOR_AGENT=true"} {
		name, _, _ := strings.Cut(v, "=")
		if got := Marks([]string{"HOME=/home/dev", v}); !slices.Equal(got, []string{name}) {
			t.Errorf("the marks of %s are %q", v, got)
		}
	}
	if got := Marks([]string{
		"HOME=/home/dev", "CLAUDE_PROJECT_DIR=/", "CLAUDECODES=1", "CLAUDECODE=", "CLAUDECODE=0", "AI_AGENT=", "AI_AGENT=0", "AI_AGENT=false", "AI_AGENT=False", "AI_AGENT", "x",
	}); got != nil {
		t.Errorf("%q are marks", got)
	}
	for name, want := range map[string]bool{"claude": true, "qwen": true, "bash": false, "": false} {
		if IsClient(name) != want {
			t.Errorf("%q is a client: %t", name, !want)
		}
	}
}
