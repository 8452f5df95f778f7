package missionstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/agent"
	"gitagent/internal/git/object"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// TestForkWithin: a fork at a step of a turn has the conversation up to the answer before it, and its first
// turn stores what it has of that turn, so that it can be forked again.
func TestForkWithin(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "first", l.Writes("f", "one\n"))
	c.Prompt("second")
	var call string
	c.Hook = func(e replay.Event) { call = e.Calls[0].ID }
	c.Call("Edit", map[string]any{}, l.Writes("f", "two\n"))
	step := l.Tree()
	c.Call("Write", map[string]any{}, l.Writes("g", "three\n"))
	last := call
	c.Call("Write", map[string]any{}, l.Writes("h", "four\n"))
	c.Hook = func(e replay.Event) { l.Record(e) }
	c.Stop("done")
	source := l.List(lab.Own(c))[1]

	f := l.ForkOf(source)
	f.From = object.NewHash(l.Git("commit-tree", "-m", "step", "-p", source.Base.String(), step))
	f.Call = last
	done := l.Fork(f)
	if done.Why != nil {
		t.Fatal(done.Why)
	}
	wt := l.At(filepath.Join(filepath.Dir(l.Dir), "fork"))
	if got := wt.Tree(); got != step {
		t.Errorf("the worktree is %s, want the step", got)
	}
	placed, err := os.ReadFile(done.File)
	gittest.Must(t, err)
	if text := string(placed); strings.Count(text, last) != 2 || strings.Contains(text, call) {
		t.Errorf("the conversation is\n%s", text)
	}
	if got := transcript.Turns(agent.Default().Reader(), placed); len(got) != 2 || got[1].Prompt != "second" {
		t.Errorf("the conversation has the turns %+v", got)
	}

	next := replay.New(l.Config, wt.Dir, func(e replay.Event) { wt.Record(e) })
	next.Session, next.Path = f.Session, done.File
	next.Resume()
	wt.Turn(next, "third", wt.Writes("f", "five\n"))
	list := wt.List(f.ID)
	if len(list) != 2 || list[1].ID() != (record.TurnID{Mission: f.ID, Turn: 2}) || list[1].Prompt != "third" || list[1].Transcript.After != 1 {
		t.Fatalf("the fork has the turns %+v", list)
	}
	wt.Holds(list[1], "second")
	wt.Holds(list[1], "third")
	f = l.ForkOf(source)
	f.ID, f.Session, f.Worktree, f.Call = "f0f0f0f1", agent.Default().NewSession(), filepath.Join(filepath.Dir(l.Dir), "other"), "no-such-call"
	if done, err := missionstore.Fork(t.Context(), l.Workspace(l.Dir), f); err != nil || done.Why == nil {
		t.Errorf("forked at a call that is not there: %v", err)
	}
}
