package recorder_test

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// annotate adds a field to a file of a mission's ledger, as a later version of this program, or
// another program, may.
func annotate(l *lab.Lab, id record.ID, file, field string) {
	l.T.Helper()
	content := l.Git("show", id.Ref()+":"+file)
	l.Put(id, file, strings.TrimSuffix(content, "}")+","+field+"}\n")
}

// TestUnknownFieldsAreKept: when a turn is recorded again, and when mission.json is written again.
func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "first", nil)
	c.Prompt("write")
	l.Write("file", "wrong\n")
	c.Block("done", "no")
	annotate(l, id, "turns/0000/000002.json", `"annotation":{"by":"dev","stars": 5}`)
	annotate(l, id, "mission.json", `"colour":"blue"`)
	c.Tool("Edit")
	l.Write("file", "right\n")
	c.StopAgain("done again")
	if record := l.Git("show", id.Ref()+":turns/0000/000002.json"); !strings.HasSuffix(record, `,"annotation":{"by":"dev","stars":5}}`) || !strings.Contains(record, "done again") {
		t.Errorf("the record is %s", record)
	}
	if mission := l.Git("show", id.Ref()+":mission.json"); !strings.HasSuffix(mission, `,"colour":"blue"}`) {
		t.Errorf("mission.json is %s", mission)
	}
	l.Turn(c, "third", nil)
	if record := l.Git("show", id.Ref()+":turns/0000/000003.json"); strings.Contains(record, "annotation") {
		t.Errorf("another turn's record is %s", record)
	}
	l.Verify(id)
}

// TestLaterVersion: a mission that a later version has written is not written to. The turn is not
// recorded, and the error says why.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "first", nil)
	tip := l.Git("rev-parse", id.Ref())
	hash, err := l.Feed(`{"v":2,"id":"`+string(id)+`","everything":"is different"}`+"\n", "hash-object", "-w", "--stdin")
	gittest.Must(t, err)
	tree, err := l.Feed("100644 blob "+hash+"\tmission.json\n", "mktree")
	gittest.Must(t, err)
	later := l.Git("commit-tree", "-m", "later", "-p", tip, tree)
	l.Git("update-ref", id.Ref(), later)
	l.Accept(id)
	c.Hook = func(e replay.Event) {
		if _, err := l.TryRecord(e); err == nil || !strings.Contains(err.Error(), "version") {
			t.Errorf("%s: %v, want an error about the version", e.Name, err)
		}
	}
	c.Prompt("second")
	c.Stop("done")
	if now := l.Git("rev-parse", id.Ref()); now != later {
		t.Errorf("the ledger was written to")
	}
}

// TestWithoutPromptIDs: a client that does not say which turn its events belong to.
func TestWithoutPromptIDs(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Hook = func(e replay.Event) {
		e.PromptID, e.Transcript = "", ""
		l.Record(e)
	}
	var wants []lab.Want
	for i := range 3 {
		wants = append(wants, l.Turn(c, fmt.Sprint("turn ", i), l.Writes("file", fmt.Sprint(i))))
	}
	c.Prompt("interrupted")
	c.Esc()
	wants = append(wants, lab.Want{Prompt: "interrupted", Outcome: "interrupted"}, l.Turn(c, "last", nil))
	c.End("other")
	l.Check(lab.Own(c), wants...)
	l.Quiet()
	l.Fsck()
}
