package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/command"
	"gitagent/test/cmdlinetest"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) {
	// Built with the race detector, every process of ours would sleep for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	testscript.Main(tests{gittest.Tests{M: m}}, map[string]func(){"git-agent-handoff": func() { execute(command.InTests(context.Background())) }}) // without limits
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
	cmdlinetest.Scripts(t, func(env *testscript.Env) error {
		env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+turnProgram)
		players, err := newPlayers()
		if err != nil {
			return err
		}
		env.Values["players"] = players
		env.Defer(players.end)
		return nil
	}, map[string]cmdlinetest.Command{"play": play, "big": big, "fsck": fsck, "says": says, "event": event, "key": key, "recording": recording, "step": step, "shows": shows})
}

// recording switches it on in the current directory's repository, without any
// agent's hooks.
func recording(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(os.MkdirAll(ts.MkAbs(".git/agent"), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(".git/agent/enabled"), nil, 0o666))
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

// TestPowers: every command, with those that are hidden, is in the table of powers.
func TestPowers(t *testing.T) {
	t.Parallel()
	cmdlinetest.Powers(t, newApp())
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
