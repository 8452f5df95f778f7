package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/command"
	"gitagent/internal/fetcher"
	"gitagent/internal/pusher"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/test/cmdlinetest"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

func TestMain(m *testing.M) {
	testscript.Main(gittest.Tests{M: m}, map[string]func(){"git-agent-fork": func() { execute(command.InTests(context.Background())) }}) // without limits
}

func TestScripts(t *testing.T) {
	t.Parallel()
	cmdlinetest.Scripts(t, nil, map[string]cmdlinetest.Command{"session": recordSession, "exchange": exchange, "turn": turn, "undo": undo})
}

func TestManual(t *testing.T) {
	t.Parallel()
	cmdlinetest.Manual(t, newApp(), "../../docs")
}

// TestPowers: every command, with those that are hidden, is in the table of powers.
func TestPowers(t *testing.T) {
	t.Parallel()
	cmdlinetest.Powers(t, newApp())
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
	origin, err := remote.Open(ctx, cmdlinetest.Workspace(ts), "origin")
	ts.Check(err)
	if args[0] == "push" {
		_, err = pusher.PushAll(ctx, origin, nil)
	} else {
		_, err = fetcher.Fetch(ctx, origin)
	}
	ts.Check(err)
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
	w := cmdlinetest.Workspace(ts)
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
