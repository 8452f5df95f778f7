package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/cmdlinetest"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) {
	// Built with the race detector, every process of ours would sleep for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	testscript.Main(tests{gittest.Tests{M: m}}, map[string]func(){"git-agent-handoff": func() { execute(context.Background()) }}) // without limits
}

// tests are all of them, with git-agent-turn, whose hooks record what is handed off, in a directory.
type tests struct{ all gittest.Tests }

// Run finds or builds it before the tests have a home directory of their own, as the go command keeps a cache in it.
func (t tests) Run() int {
	dir, remove, err := gittest.Installed()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	turnProgram = filepath.Join(dir, "bin")
	return t.all.Run()
}

// turnProgram is the directory of git-agent-turn, whose hooks record what is handed off.
var turnProgram string

func TestScripts(t *testing.T) {
	t.Parallel()
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
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+turnProgram)
			env.Setenv("HASH", fmt.Sprintf("[0-9a-f]{%d}", gittest.Digits()))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			players, err := newPlayers()
			if err != nil {
				return err
			}
			env.Values["players"] = players
			env.Defer(players.end)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "check" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return gittest.Checking(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"play": play, "status": status, "big": big, "fsck": fsck, "says": says, "event": event,
			"accept": acceptMission, "key": key,
		},
	})
}

// acceptMission accepts a mission of the current directory's repository as it is, as a person does on
// a terminal:
//
//	accept <mission>
func acceptMission(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: accept <mission>")
	}
	repo, err := git.Find(ts.MkAbs("."))
	ts.Check(err)
	id := record.ID(args[0])
	refs, err := repo.Refs(context.Background(), id.Ref())
	ts.Check(err)
	ts.Check(workspace.New(repo, config.Default()).Trust.Accept(refs[id.Ref()], id))
}

// key gives a home directory the key of a user:
//
//	key <directory> <name>
func key(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: key <directory> <name>")
	}
	gittest.Key(ts.MkAbs(args[0]), args[1])
}

func TestManual(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	cmdlinetest.Manual(t, newApp(), "../../docs")
}

// status runs a command that must exit with the given status:
//
//	status 3 git agent-handoff show 12
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status <status> <command>...")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = strconv.Itoa(exit.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// big writes a file that repeats a line until it has so many MiB:
//
//	big <file> <MiB> <line>
func big(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: big <file> <MiB> <line>")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	line := args[2] + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(line, size<<20/len(line)+1)), 0o666))
}
