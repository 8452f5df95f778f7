package main

import (
	"context"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/checkout"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/test/cmdlinetest"
)

// turn records what has changed in the current directory, which is on the branch of a mission or
// belongs to the mission that is named:
//
//	turn <prompt> [<mission>]
func turn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: turn <prompt> [<mission>]")
	}
	w := cmdlinetest.Workspace(ts)
	id, err := w.Mission(context.Background())
	ts.Check(err)
	if len(args) == 2 {
		id, err = record.ParseID(args[1])
		ts.Check(err)
	}
	_, err = recorder.Record(context.Background(), w, recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Mission: id, Prompt: args[0], Outcome: record.Done, Strict: true,
	})
	ts.Check(err)
}

// undo takes back the last step in the current directory's worktree:
//
//	undo
func undo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: undo")
	}
	_, err := checkout.Undo(context.Background(), cmdlinetest.Workspace(ts), time.Now(), checkout.Merging{}, nil)
	ts.Check(err)
}
