package cmdlinetest

import (
	"reflect"
	"testing"
)

const page = `.Sh NAME
.Nm git-agent-test
.Sh OPTIONS
.Bl -tag
.It Fl C Ar dir
.It Fl h , Fl -help
.It Fl -version
.El
.Sh COMMANDS
.Ss list
.Bl -tag
.It Fl -json
.It Fl n Ar count , Fl -number Ar count
.It Ar turn
.El
.Ss log start
.Sh ENVIRONMENT
.It Fl -not-ours
`

func TestManual(t *testing.T) {
	t.Parallel()
	got := described(page)
	want := map[string][]string{
		"":          {"-C", "-h", "--help", "--version"},
		"list":      {"--json", "-n", "--number"},
		"log start": nil,
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	app := map[string][]string{
		"":          {"-C", "--version"},
		"list":      {"--json", "-n", "--number"},
		"log start": nil,
	}
	if problems := compare(got, app); problems != nil {
		t.Errorf("a page that says all has problems: %q", problems)
	}
	app["list"] = []string{"--json", "--all", "-n"}
	app["show"] = []string{"--patch"}
	delete(app, "log start")
	got[""] = got[""][:3]
	wantProblems := []string{
		`lacks "--version" of the command ""`,
		`lacks "--all" of the command "list"`,
		`has "--number", which the command "list" has not`,
		`lacks the command "show"`,
		`has the command "log start", which is not there`,
	}
	if problems := compare(got, app); !reflect.DeepEqual(problems, wantProblems) {
		t.Errorf("got  %q\nwant %q", problems, wantProblems)
	}
}

func TestUnshown(t *testing.T) {
	t.Parallel()
	const page = ".D1 Nm git agent-test list Oo Fl -json Oc\n.D1 Nm git agent-test log\n" +
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

func TestUnquoted(t *testing.T) {
	t.Parallel()
	const page = "It says \"no\".\n.Dl $ git agent-test --check 'make test'\n.Dl $ git agent-test --check \"make test\"\n"
	want := []string{`shows ".Dl $ git agent-test --check \"make test\"" without its quotes`}
	if got := unquoted(page); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
