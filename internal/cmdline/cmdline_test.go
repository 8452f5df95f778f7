package cmdline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"gitagent/test/gittest"
)

var errNothing = errors.New("nothing there")

// testApp has one of everything; its commands print their input.
func testApp() *cli.App {
	show := func(c *cli.Context) error {
		fmt.Fprintf(c.App.Writer, "%s args=%q", c.Command.Name, c.Args().Slice())
		for _, name := range []string{"json", "all", "mission", "question", "n"} {
			if c.IsSet(name) {
				value := c.Value(name)
				if name == "question" {
					value = c.StringSlice(name)
				}
				fmt.Fprintf(c.App.Writer, " %s=%v", name, value)
			}
		}
		fmt.Fprintln(c.App.Writer)
		return nil
	}
	return &cli.App{
		Name:  "git-agent-test",
		Usage: "show what arrives",
		Commands: slices.Concat(Group(LookBack, []*cli.Command{
			{
				Name:      "list",
				Usage:     "list the turns",
				ArgsUsage: "[<turn>...]",
				Action:    show,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "json", Usage: "one object per line"},
					&cli.BoolFlag{Name: "all", Usage: "every mission"},
					OneOf(&cli.StringFlag{Name: "mission", Usage: "of `<id>`"}, "ab", "cd"),
					&cli.StringSliceFlag{Name: "question", Usage: "ask `<text>`"},
					&cli.IntFlag{Name: "n", Usage: "at most `<count>`"},
					&cli.BoolFlag{Name: "secret", Aliases: []string{"hush"}, Hidden: true},
				},
				BashComplete: func(c *cli.Context) {
					fmt.Fprintf(c.App.Writer, "typed=%q mission=%q args=%q\n", Typed(c.Context), c.String("mission"), c.Args().Slice())
					Propose(c, "12", "say\x1b\n"+strings.Repeat("äx", 100))
					Propose(c, "1\n2", "two lines")
				},
			},
			{
				Name: "log",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "all"},
				},
				Subcommands: []*cli.Command{
					{Name: "start", Usage: "begin", Action: show, Flags: []cli.Flag{&cli.BoolFlag{Name: "json"}}},
					{Name: "show", Usage: "render", Action: show},
				},
			},
		}...), Group(Share, []*cli.Command{
			{Name: "hook", SkipFlagParsing: true, Action: show},
			{Name: "pwd", Action: func(c *cli.Context) error {
				dir, err := os.Getwd()
				fmt.Fprintln(c.App.Writer, dir)
				return err
			}},
			{Name: "fail", Action: func(c *cli.Context) error {
				switch c.Args().First() {
				case "hint":
					return Hint(errors.New("no"), "try yes")
				case "usage":
					return fmt.Errorf("outer: %w", Usagef("wrong %d", 1))
				case "notfound":
					return NotFoundf("no turns")
				case "sentinel":
					return fmt.Errorf("read turn: %w", errNothing)
				case "status":
					return cli.Exit("status of its own", 128)
				case "lines":
					return errors.New("first\nsec\x1bond")
				case "cancel":
					ctx, cancel := context.WithCancel(c.Context)
					cancel()
					return ctx.Err()
				}
				panic("at the disco")
			}},
			{Name: "ghost", Hidden: true, Action: show},
		}...)),
	}
}

func runTest(t *testing.T, app *cli.App, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	app.Writer, app.ErrWriter = &out, &errs
	status = run(t.Context(), app, append([]string{"git-agent-test"}, args...), nil, nil, []error{errNothing})
	return out.String(), errs.String(), status
}

// TestFlags checks that flags reach their command wherever they stand. Like the other tests of run
// it is not parallel: urfave/cli keeps its help flag in a global variable.
func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		args string // separated by spaces; '_' stands for an empty word
		want string
	}{
		{"list", `list args=[]`},
		{"list --json", `list args=[] json=true`},
		{"list 12 --json", `list args=["12"] json=true`},
		{"list --mission m 12 --json 13", `list args=["12" "13"] json=true mission=m`},
		{"list 12 --mission=m=1", `list args=["12"] mission=m=1`},
		{"list 12 -mission m", `list args=["12"] mission=m`},
		{"list --mission --json", `list args=[] mission=--json`},
		{"list --mission _ 12", `list args=["12"] mission=`},
		{"list --json=false 1", `list args=["1"] json=false`},
		{"list -- --json", `list args=["--json"]`},
		{"list --json -- -- x", `list args=["--" "x"] json=true`},
		{"list 12 -- claude -p --json", `list args=["12" "claude" "-p" "--json"]`},
		{"list -3", `list args=["-3"]`},
		{"list -3 --json", `list args=["-3"] json=true`},
		{"list -n -3", `list args=[] n=-3`},
		{"list -n=5 x", `list args=["x"] n=5`},
		{"list -n5 x", `list args=["x"] n=5`},
		{"list -n-5", `list args=[] n=-5`},
		{"list - --json", `list args=["-"] json=true`},
		{"list _ --json", `list args=[""] json=true`},
		{"list help", `list args=["help"]`},
		{"list h", `list args=["h"]`},
		{"list mission --mission m", `list args=["mission"] mission=m`},
		{"list --question a,b --question c", `list args=[] question=[a,b c]`},
		{"log start x --json", `start args=["x"] json=true`},
		{"log --all start", `start args=[] all=true`},
		{"log start --all", `start args=[] all=true`},
		{"hook --nope -x --json a", `hook args=["--nope" "-x" "--json" "a"]`},
		{"hook -h", `hook args=["-h"]`},
		{"hook -- a", `hook args=["--" "a"]`},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields(tt.args)
			for i, arg := range args {
				if arg == "_" {
					args[i] = ""
				}
			}
			stdout, stderr, status := runTest(t, testApp(), args...)
			if got := strings.TrimSuffix(stdout, "\n"); got != tt.want || stderr != "" || status != 0 {
				t.Errorf("got  %s\nwant %s\nstderr %q, status %d", got, tt.want, stderr, status)
			}
		})
	}
}

// TestPaths checks that paths are kept apart from arguments, and flags still reach the command.
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		args, want string
		status     int
	}{
		{"diff", `args=[] paths=[] stat=false`, 0},
		{"diff 3 --stat", `args=["3"] paths=[] stat=true`, 0},
		{"diff 3 -- a --stat", `args=["3"] paths=["a" "--stat"] stat=false`, 0},
		{"diff --stat -- a -- b", `args=[] paths=["a" "--" "b"] stat=true`, 0},
		{"diff 3 --", `args=["3"] paths=[] stat=false`, 0},
		{"diff -- 3", `args=[] paths=["3"] stat=false`, 0},
		{"diff 3 4 -- a", "", 2}, // one argument, not two
		{"-C . diff 3 -- -x", `args=["3"] paths=["-x"] stat=false`, 0},
		{"-- diff", `args=[] paths=[] stat=false`, 0},
		{"-- diff 3 --stat -- a", `args=["3"] paths=["a"] stat=true`, 0},
		{"diff --grep --help 3 -- a", `args=["3"] paths=["a"] stat=false`, 0}, // which is a value
	} {
		app := &cli.App{Name: "git-agent-test", Commands: []*cli.Command{{
			Name:  "diff",
			Flags: []cli.Flag{&cli.BoolFlag{Name: "stat"}, &cli.StringFlag{Name: "grep"}},
			Action: WithPaths(OptionalArg("turn", func(c *cli.Context) error {
				fmt.Fprintf(c.App.Writer, "args=%q paths=%q stat=%v", c.Args().Slice(), Paths(c), c.Bool("stat"))
				return nil
			})),
		}}}
		stdout, stderr, status := runTest(t, app, strings.Fields(tt.args)...)
		if stdout != tt.want || status != tt.status {
			t.Errorf("%q: got %s, want %s; stderr %q, status %d", tt.args, stdout, tt.want, stderr, status)
		}
	}
}

// TestRootFlags checks a program without commands.
func TestRootFlags(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"a1b2c3d4/12 --before", `args=["a1b2c3d4/12"] before=true`},
		{"--before list", `args=["list"] before=true`},
		{"", `args=[] before=false`},
	} {
		app := &cli.App{
			Name:  "git-agent-test",
			Flags: []cli.Flag{&cli.BoolFlag{Name: "before"}},
			Action: func(c *cli.Context) error {
				fmt.Fprintf(c.App.Writer, "args=%q before=%v", c.Args().Slice(), c.Bool("before"))
				return nil
			},
		}
		stdout, stderr, status := runTest(t, app, strings.Fields(tt.args)...)
		if stdout != tt.want || status != 0 {
			t.Errorf("%q: got %s, want %s; stderr %q, status %d", tt.args, stdout, tt.want, stderr, status)
		}
	}
}

// TestProgramWithArguments checks a program that takes arguments besides commands.
func TestProgramWithArguments(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"list", "list []"},
		{"list list", `list ["list"]`},
		{"12", `program ["12"]`},
		{"12 list", `program ["12" "list"]`},
		{"-- list", `program ["list"]`},
	} {
		says := func(who string) cli.ActionFunc {
			return func(c *cli.Context) error {
				_, err := fmt.Fprintf(c.App.Writer, "%s %q", who, c.Args().Slice())
				return err
			}
		}
		app := &cli.App{
			Name: "git-agent-test", ArgsUsage: "[<turn>]", Action: says("program"),
			Commands: []*cli.Command{{Name: "list", Action: says("list")}},
		}
		stdout, stderr, status := runTest(t, app, strings.Fields(tt.args)...)
		if stdout != tt.want || status != 0 {
			t.Errorf("%q: got %s, want %s; stderr %q, status %d", tt.args, stdout, tt.want, stderr, status)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		stderr string
	}{
		{"", 2, "git-agent-test: error: no command given\ngit-agent-test: hint: list the commands with: git agent-test -h\n"},
		{"log", 2, "git-agent-test: error: no command given\ngit-agent-test: hint: list the commands with: git agent-test log -h\n"},
		{"lst", 2, "git-agent-test: error: unknown command \"lst\"\ngit-agent-test: hint: did you mean list?\n"},
		{"xyzzy", 2, "git-agent-test: error: unknown command \"xyzzy\"\ngit-agent-test: hint: list the commands with: git agent-test -h\n"},
		{"help nope", 2, "git-agent-test: error: unknown command \"nope\"\ngit-agent-test: hint: list the commands with: git agent-test -h\n"},
		{"log strat", 2, "git-agent-test: error: unknown command \"strat\"\ngit-agent-test: hint: did you mean start?\n"},
		{"list --jsno", 2, "git-agent-test: error: unknown flag \"--jsno\"\ngit-agent-test: hint: did you mean --json?\n"},
		{"list 1 --xyzzy=3", 2, "git-agent-test: error: unknown flag \"--xyzzy\"\ngit-agent-test: hint: list the flags with: git agent-test list -h\n"},
		{"--json list", 2, "git-agent-test: error: unknown flag \"--json\"\ngit-agent-test: hint: list the flags with: git agent-test -h\n"},
		{"list --mission", 2, "git-agent-test: error: --mission needs a value\n"},
		{"list -n x", 2, "git-agent-test: error: invalid value \"x\" for flag -n: parse error\n"},
		{"list --json=maybe", 2, "git-agent-test: error: --json takes no value\n"},
		{"-v", 2, "git-agent-test: error: unknown flag \"-v\"\ngit-agent-test: hint: list the flags with: git agent-test -h\n"},
		{"fail hint", 1, "git-agent-test: error: no\ngit-agent-test: hint: try yes\n"},
		{"fail usage", 2, "git-agent-test: error: outer: wrong 1\n"},
		{"fail notfound", 3, "git-agent-test: error: no turns\n"},
		{"fail sentinel", 3, "git-agent-test: error: read turn: nothing there\n"},
		{"fail status", 1, "git-agent-test: error: status of its own\n"},
		{"fail lines", 1, "git-agent-test: error: first\nsec\\x1bond\n"},
		{"fail cancel", 1, "git-agent-test: error: context canceled\n"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			stdout, stderr, status := runTest(t, testApp(), strings.Fields(tt.args)...)
			if status != tt.status || stderr != tt.stderr || stdout != "" {
				t.Errorf("status %d, want %d\nstderr %q\nwant   %q\nstdout %q", status, tt.status, stderr, tt.stderr, stdout)
			}
		})
	}
}

// TestPanic checks that a panic does not end with Go's own status 2.
func TestPanic(t *testing.T) {
	stdout, stderr, status := runTest(t, testApp(), "fail", "panic")
	if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "git-agent-test: error: panic: at the disco\n") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if !strings.Contains(stderr, "cmdline_test.go:") {
		t.Errorf("stderr has no stack:\n%s", stderr)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	app := &cli.App{
		Name:      "git-agent-test",
		ErrWriter: &stderr,
		Action:    func(c *cli.Context) error { return fmt.Errorf("read: %w", c.Context.Err()) },
	}
	if status := run(ctx, app, []string{"git-agent-test"}, nil, nil, nil); status != 1 || stderr.String() != "git-agent-test: error: interrupted\n" {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
}

// TestInterruptedGit: a terminal sends its signal to git as well, which may end before we know of it.
func TestInterruptedGit(t *testing.T) {
	t.Parallel()
	for signal, want := range map[string]string{"INT": "interrupted", "TERM": "interrupted", "KILL": "git rev-parse: signal: killed"} {
		var stderr bytes.Buffer
		app := &cli.App{Name: "git-agent-test", ErrWriter: &stderr, Action: func(*cli.Context) error {
			return fmt.Errorf("git rev-parse: %w", exec.Command("sh", "-c", "kill -"+signal+" $$").Run())
		}}
		if status := run(t.Context(), app, []string{"git-agent-test"}, nil, nil, nil); status != 1 || stderr.String() != "git-agent-test: error: "+want+"\n" {
			t.Errorf("%s: status %d, stderr %q", signal, status, stderr.String())
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, tt := range []struct {
		args      string
		want, not []string
	}{
		{"-h", []string{"git agent-test - show what arrives", "list ", "list the turns", "-C <dir>", "--version"}, []string{"default: false", "ghost", "VERSION:", "-v,"}},
		{"-h", []string{"\n   look back\n     list  list the turns\n     log   \n\n   share\n     hook  \n", "git agent-test help <command> opens"}, []string{"CATEGORY"}},
		{"--help", []string{"git agent-test - show what arrives"}, nil},
		{"help", []string{"git agent-test - show what arrives"}, nil},
		{"help list", []string{"git agent-test list - list the turns"}, []string{"CATEGORY"}},
		{"list -h", []string{"git agent-test list - list the turns", "[<turn>...]", "--mission <id>"}, []string{"default: false", "secret"}},
		{"list 12 --json --help", []string{"git agent-test list - list the turns"}, nil},
		{"log -h", []string{"git agent-test log", "start", "render"}, nil},
		{"--version", []string{"git-agent-test version "}, nil},
		{"list --version", []string{"git-agent-test version "}, nil},
	} {
		stdout, stderr, status := runTest(t, testApp(), strings.Fields(tt.args)...)
		if status != 0 || stderr != "" {
			t.Errorf("%q: status %d, stderr %q", tt.args, status, stderr)
		}
		for _, want := range tt.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%q: output lacks %q:\n%s", tt.args, want, stdout)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(stdout, not) {
				t.Errorf("%q: output has %q:\n%s", tt.args, not, stdout)
			}
		}
	}
}

// TestManual checks which manual page is opened for which words; where it is not installed, the help comes.
func TestManual(t *testing.T) {
	for line, want := range map[string]string{
		"--help":                "git-agent-test",
		"help":                  "git-agent-test",
		"help list":             "git-agent-test-list",
		"-C / help list":        "git-agent-test-list",
		"list --help":           "git-agent-test-list",
		"list 12 --json --help": "git-agent-test-list",
		"help log start":        "git-agent-test-log",
		"log start --help":      "git-agent-test-log",
		"help hook":             "git-agent-test-hook",
		"-h":                    "",
		"list -h":               "",
		"list help":             "",
		"list -- --help":        "",
	} {
		for _, installed := range []bool{true, false} {
			got := ""
			app := testApp()
			var out bytes.Buffer
			app.Writer, app.ErrWriter = &out, &out
			status := run(t.Context(), app, append([]string{"git-agent-test"}, strings.Fields(line)...), func(_ context.Context, page string) bool {
				got = page
				return installed
			}, nil, nil)
			if got != want || status != 0 || (out.Len() == 0) != (installed && want != "") {
				t.Errorf("%q, installed %t: page %q, want %q; status %d, printed %q", line, installed, got, want, status, &out)
			}
		}
	}
}

// TestMoved checks that an old word says the new one, and does the same.
func TestMoved(t *testing.T) {
	app := testApp()
	app.Commands = append(app.Commands, &cli.Command{Name: "ls", Hidden: true, Action: Moved("git agent-test list", app.Commands[0].Action)})
	stdout, stderr, status := runTest(t, app, "ls", "12")
	if want := "git-agent-test: warning: ls is going away; use this instead: git agent-test list\n"; stdout != "ls args=[\"12\"]\n" || stderr != want || status != 0 {
		t.Errorf("status %d, stdout %q, stderr %q, want %q", status, stdout, stderr, want)
	}
}

func TestChdir(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	gittest.Must(t, err)
	sub := filepath.Join(top, "a b")
	gittest.Must(t, os.Mkdir(sub, 0o777))
	for _, args := range [][]string{
		{"-C", sub, "pwd"},
		{"pwd", "-C", sub},
		{"pwd", "-C=" + sub},
		{"-C", top, "pwd", "-C", "a b"},
		{"-C", top, "-C", "", "-C", "a b", "pwd"},
	} {
		t.Chdir(t.TempDir())
		stdout, stderr, status := runTest(t, testApp(), args...)
		if stdout != sub+"\n" || status != 0 {
			t.Errorf("%q: got %q, want %q; stderr %q, status %d", args, stdout, sub, stderr, status)
		}
	}
	if _, stderr, status := runTest(t, testApp(), "-C", filepath.Join(top, "gone"), "pwd"); status != 1 || !strings.Contains(stderr, "error: change to ") {
		t.Errorf("missing directory: status %d, stderr %q", status, stderr)
	}
}

func TestFlagsOf(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"":          {"-C", "--version"},
		"list":      {"--json", "--all", "--mission", "--question", "-n"},
		"log":       {"--all"},
		"log start": {"--json"},
		"log show":  nil,
		"hook":      nil,
		"pwd":       nil,
		"fail":      nil,
	}
	if got := Flags(testApp()); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
