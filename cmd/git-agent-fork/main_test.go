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
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/test/cmdlinetest"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

func TestMain(m *testing.M) {
	testscript.Main(gittest.Tests{M: m}, map[string]func(){"git-agent-fork": func() { execute(context.Background()) }}) // without limits
}

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
			env.Setenv("HASH", fmt.Sprintf("[0-9a-f]{%d}", gittest.Digits()))
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "check":
				return gittest.Checking(), nil
			case "agent":
				return command.ByAgent(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"session": recordSession, "exchange": exchange, "accept": accept, "status": status, "turn": turn, "undo": undo,
		},
	})
}

func TestManual(t *testing.T) {
	t.Parallel()
	cmdlinetest.Manual(t, newApp(), "../../docs")
}

// exchange pushes all missions of the current directory's repository to origin, or fetches those of
// origin:
//
//	exchange push|fetch
func exchange(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: exchange push|fetch")
	}
	ctx := context.Background()
	repo, err := git.Find(ts.MkAbs("."))
	ts.Check(err)
	origin, err := remote.Open(ctx, workspace.New(repo, config.Default()), "origin")
	ts.Check(err)
	if args[0] == "push" {
		_, err = origin.PushAll(ctx, nil)
	} else {
		_, err = origin.Fetch(ctx)
	}
	ts.Check(err)
}

// accept accepts a mission that somebody unknown has recorded:
//
//	accept <mission>
func accept(ts *testscript.TestScript, neg bool, args []string) {
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

// recordSession records a session in the current directory, one turn for each prompt, in the mission with
// that id:
//
//	session <id> <agent> <prompt>...
//
// Turn n writes the file <id>-n.txt.
func recordSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: session <id> <agent> <prompt>...")
	}
	dir := ts.MkAbs(".")
	repo, err := git.Find(dir)
	ts.Check(err)
	w := workspace.New(repo, config.Default())
	c := replay.New(ts.MkAbs(filepath.Join("..", "client")), dir, func(e replay.Event) {
		what := recorder.Stopped
		if e.Name == "UserPromptSubmit" {
			what = recorder.Prompted
		}
		_, err := recorder.Record(context.Background(), w, recorder.Signal{
			FlushWait: time.Second, Event: what, At: e.At, Agent: args[1], Session: e.Session, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.Reply, Transcript: e.Transcript,
		})
		ts.Check(err)
	})
	c.Session = c.Session[:len(c.Session)-8] + args[0]
	c.Path = filepath.Join(filepath.Dir(c.Path), c.Session+".jsonl")
	for i, prompt := range args[2:] {
		c.Prompt(prompt)
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.txt", args[0], i+1)), []byte(prompt+"\n"), 0o666))
		c.Stop("answer to " + prompt)
	}
}

// status runs a command that has to end with an exit status:
//
//	status <status> <command>...
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
