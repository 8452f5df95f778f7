package cmdlinetest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

const page = `.Sh NAME
.Nm git-agent-test-log
.Sh DESCRIPTION
.It Fl -not-ours
.Sh COMMANDS
.Ss log start
.Bl -tag
.It Fl -tmux Ar target
.El
.Ss log show
.Sh OPTIONS
.Bl -tag
.It Fl -json
.It Fl n Ar count , Fl -number Ar count
.It Ar turn
.El
.Sh ENVIRONMENT
.It Fl -not-ours
`

func TestDescribed(t *testing.T) {
	t.Parallel()
	got := described(page, "log")
	want := map[string][]string{
		"log":       {"--json", "-n", "--number"},
		"log start": {"--tmux"},
		"log show":  nil,
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	if got := described(page, ""); !reflect.DeepEqual(got, map[string][]string{"": {"--json", "-n", "--number"}}) {
		t.Errorf("the page of the program has %q", got)
	}
	app := map[string][]string{
		"log":       {"--json", "-n", "--number"},
		"log start": {"--tmux"},
		"log show":  nil,
	}
	if problems := compare(got, app); problems != nil {
		t.Errorf("a page that says all has problems: %q", problems)
	}
	app["log"] = []string{"--json", "--all", "-n"}
	app["log stop"] = []string{"--patch"}
	delete(app, "log start")
	wantProblems := []string{
		`lacks "--all" of the command "log"`,
		`has "--number", which the command "log" has not`,
		`lacks the command "log stop"`,
		`has the command "log start", which is not there`,
	}
	if problems := compare(got, app); !reflect.DeepEqual(problems, wantProblems) {
		t.Errorf("got  %q\nwant %q", problems, wantProblems)
	}
}

func TestUnshown(t *testing.T) {
	t.Parallel()
	const page = ".Nm git agent-test\n.Nm git agent-test list\n.Op Fl -json\n.Nm git agent-test log\n" +
		".Sh EXAMPLES\n.Dl $ git -C dir agent-test list --json\n.Dl $ git agent-test logs\n"
	got := unshown(page, "agent-test", []string{"", "list", "log", "trust add"})
	want := []string{
		`lacks an example of the command "log"`,
		`lacks a synopsis of the command "trust add"`,
		`lacks an example of the command "trust add"`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	app := &cli.App{Name: "git-agent-test", Commands: slices.Concat(
		cmdline.Group("look back", &cli.Command{Name: "list", Usage: "list them"}, &cli.Command{Name: "ls", Hidden: true}),
		cmdline.Group("go on", &cli.Command{Name: "start", Usage: "begin"}),
	)}
	const want = `.Sh COMMANDS
.Ss Look back
.Bl -tag -width Ds
.It Xr git-agent-test-list 1
list them
.El
.Ss Go on
.Bl -tag -width Ds
.It Xr git-agent-test-start 1
begin
.El
`
	if got := listed(app); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	const page = "It says \"no\".\n.Dl $ git agent-test --check 'make test'\n.Dl $ git agent-test --check \"make test\"\n"
	want := []string{`shows ".Dl $ git agent-test --check \"make test\"" without its quotes`}
	if got := unquoted(page); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
