package cmdlinetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// A Command is a command of scripts, given its arguments, and whether it has
// to fail.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Scripts runs the scripts of testdata/script, each in a directory and with a
// home of its own, $WORK. $HASH matches a hash. A setup that is not nil adds
// to that.
//
// Of the program's own commands two are called by those that all scripts
// have: play by turn, and recording by repo.
func Scripts(t *testing.T, setup func(*testscript.Env) error, own map[string]Command) {
	t.Helper()
	commands := map[string]Command{
		"accept": accept, "commit": commit, "keep": keep, "lines": lines, "prints": prints, "quiet": quiet, "repo": repo(own["recording"]), "status": status, "trust": trustKey,
		"turn": turn(own["play"]), "write": write,
	}
	maps.Copy(commands, own)
	lasting := gittest.Lasting(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, v := range gittest.Env(env.WorkDir) {
				if name, value, _ := strings.Cut(v, "="); name != "PATH" && name != "TMPDIR" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("LASTING", filepath.Join(lasting, filepath.Base(env.WorkDir)))
			env.Setenv("HASH", fmt.Sprintf("[0-9a-f]{%d}", gittest.Digits()))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			if setup == nil {
				return nil
			}
			return setup(env)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "check":
				return gittest.Checking(), nil
			case "nightly":
				return gittest.Whole(), nil
			case "root":
				return os.Getuid() == 0, nil
			case "lfs": // as tools, it must not be missing in CI
				_, err := exec.LookPath("git-lfs")
				if err != nil && os.Getenv("CI") == "" {
					return false, nil
				}
				return err == nil, err
			case "reftable": // new repositories have their refs in tables
				return os.Getenv("GIT_DEFAULT_REF_FORMAT") == name, nil
			case "hooks": // git has hooks by configuration
				out, _ := exec.Command("git", "hook", "-h").Output()
				return bytes.Contains(out, []byte("git hook list")), nil
			case "sha256":
				return gittest.Format() == name, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: commands,
	})
}

// accept accepts a mission of the current directory's repository as it is, as
// a person does on a terminal:
//
//	accept <mission>
func accept(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: accept <mission>")
	}
	w, id := Workspace(ts), record.ID(args[0])
	refs, err := w.Repo.Refs(context.Background(), id.Ref())
	ts.Check(err)
	ts.Check(w.Trust.Accept(refs[id.Ref()], id))
}

// trustKey lists a key as trusted, as a person does on a terminal:
//
//	trust <name> <file>
func trustKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: trust <name> <file>")
	}
	key, err := trust.ParseKey(strings.TrimSpace(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(trust.ReadKeys(filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "git-agent"), "").Add(context.Background(), args[0], key))
}

// Workspace is that of the current directory, with the default settings.
func Workspace(ts *testscript.TestScript) *workspace.Workspace {
	repo, err := git.Find(ts.MkAbs("."))
	ts.Check(err)
	return workspace.New(repo, config.Default())
}

// keep runs a command that must succeed, and keeps what it prints in a file:
//
//	keep ../refs git for-each-ref
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keep <file> <command>...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile("stdout")), 0o666))
}

// prints runs a command that must succeed, and print what is in a file:
//
//	prints ../refs git for-each-ref
func prints(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: prints <file> <command>...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	if got, want := ts.ReadFile("stdout"), ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%s", diff.Diff("stdout", []byte(got), args[0], []byte(want)))
	}
}

// quiet runs a command that must succeed, and print nothing:
//
//	quiet git status --porcelain
func quiet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: quiet <command>...")
	}
	ts.Check(ts.Exec(args[0], args[1:]...))
	if ts.ReadFile("stdout") != "" {
		ts.Fatalf("it prints something")
	}
}

// lines runs a command that must succeed, and print so many lines that are not
// empty:
//
//	lines 2 git agent-turn list
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: lines <number> <command>...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	n := 0
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if line != "\n" {
			n++
		}
	}
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("it prints %d lines, want %s", n, args[0])
	}
}

// status runs a command that must exit with the given status, and print
// nothing on standard output:
//
//	status 3 git agent-turn show 12
//	status 1+ git agent-turn doctor
//
// With + it must print something.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status <status>[+] <command>...")
	}
	Ends(ts, args[0], args[1:]...)
}

// Ends runs a command that must end as a script's command status says.
func Ends(ts *testscript.TestScript, status string, command ...string) {
	got := 0
	if err := ts.Exec(command[0], command[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	want, prints := strings.CutSuffix(status, "+")
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
	if prints != (ts.ReadFile("stdout") != "") {
		ts.Fatalf("exit status %d, and printing is %v", got, !prints)
	}
}

// repo makes a repository named repo, whose first commit has the files that
// are named, and goes into it. With recording, turns are recorded there:
//
//	repo [recording] [<file>=<line> | <file><<other>]...
//
// Of a file one line is given, or the file below $WORK that it is a copy of.
func repo(recording Command) Command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("usage: repo [recording] [<file>=<line> | <file><<other>]...")
		}
		ts.Check(ts.Exec("git", "init", "-q", "-b", "main", "repo"))
		ts.Check(ts.Chdir("repo"))
		records := len(args) > 0 && args[0] == "recording"
		if records {
			args = args[1:]
		}
		commit(ts, false, append([]string{"first"}, args...))
		if records {
			recording(ts, false, nil)
		}
	}
}

// commit commits all that is in the worktree, with files named as those of
// [repo]:
//
//	commit <message> [<file>=<line> | <file><<other>]...
func commit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: commit <message> [<file>=<line> | <file><<other>]...")
	}
	give(ts, args[1:])
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "--allow-empty", "-m", args[0]))
}

// turn plays a turn in which files are written, named as those of [repo]. The
// agent answers "done":
//
//	turn <id> <prompt> [<file>=<line> | <file><<other>]...
func turn(play Command) Command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: turn <id> <prompt> [<file>=<line> | <file><<other>]...")
		}
		play(ts, false, []string{args[0], "prompt", args[1]})
		give(ts, args[2:])
		play(ts, false, []string{args[0], "stop", "done"})
	}
}

// give writes files, each named with what is in it.
func give(ts *testscript.TestScript, files []string) {
	for _, file := range files {
		at := strings.IndexAny(file, "=<")
		if at < 0 {
			ts.Fatalf("%q is no <file>=<line> and no <file><<other>", file)
		}
		content := file[at+1:] + "\n"
		if file[at] == '<' {
			content = ts.ReadFile(filepath.Join(ts.Getenv("WORK"), file[at+1:]))
		}
		put(ts, file[:at], content)
	}
}

// put writes a file, and makes the directories that it lies in.
func put(ts *testscript.TestScript, file, content string) {
	path := ts.MkAbs(file)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	ts.Check(os.WriteFile(path, []byte(content), 0o666))
}

// write writes a file of some lines, and makes the directories it lies in:
//
//	write <file> [<line>]...
func write(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: write <file> [<line>]...")
	}
	var content strings.Builder
	for _, line := range args[1:] {
		content.WriteString(line + "\n")
	}
	put(ts, args[0], content.String())
}

// Executable is the path of a program in $PATH.
func Executable(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	ts.Fatalf("%s is not in PATH", name)
	return ""
}
