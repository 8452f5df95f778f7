package turns_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// annotate adds a field to a file of a mission's ledger, as a later version of this program, or
// another program, may.
func (l *lab) annotate(id record.ID, file, field string) {
	l.t.Helper()
	content := l.Git("show", id.Ref()+":"+file)
	l.put(id, file, strings.TrimSuffix(content, "}")+","+field+"}\n")
}

// put gives a file of a mission's ledger another content, by another program, and accepts that.
func (l *lab) put(id record.ID, file, content string) {
	l.t.Helper()
	l.plant(id, map[string]string{file: content})
	l.accept(id)
}

// plant adds an event to a mission's ledger that changes files, in the user's name and without his
// key, and moves the ref there, as a fetch with a refspec of the user's own would.
func (l *lab) plant(id record.ID, files map[string]string) (tip string) {
	l.t.Helper()
	w := l.In(l.Dir)
	w.Env = append(w.Env[:len(w.Env):len(w.Env)], "GIT_INDEX_FILE="+l.t.TempDir()+"/index")
	w.Git("read-tree", id.Ref())
	for name, content := range files {
		hash, err := l.Feed(content, "hash-object", "-w", "--stdin")
		if err != nil {
			l.t.Fatal(err)
		}
		w.Git("update-index", "--add", "--cacheinfo", "100644,"+hash+","+name)
	}
	l.Git("update-ref", id.Ref(), w.Git("commit-tree", "-m", "turn 1", "-p", id.Ref(), w.Git("write-tree")))
	return l.Git("rev-parse", id.Ref())
}

// accept accepts a mission as it is, as a person does.
func (l *lab) accept(id record.ID) {
	l.t.Helper()
	if err := l.recorder(l.Dir).Trust.Accept(git.NewHash(l.Git("rev-parse", id.Ref())), id); err != nil {
		l.t.Fatal(err)
	}
}

// putTurn gives a turn another record.
func (l *lab) putTurn(t turns.Turn) *turns.Turn {
	l.t.Helper()
	line, err := t.Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	l.put(t.Mission, ledger.TurnPath("turns", t.Turn, ".json"), string(line)+"\n")
	stored, err := turns.Read(context.Background(), l.recorder(l.Dir).Repo, t.Mission, t.Turn)
	if err != nil {
		l.t.Fatal(err)
	}
	return stored
}

// TestUnknownFieldsAreKept: when a turn is recorded again, and when mission.json is written again.
func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	id := own(c)
	l.turn(c, "first", nil)
	c.Prompt("write")
	l.Write("file", "wrong\n")
	c.Block("done", "no")
	l.annotate(id, "turns/0000/000002.json", `"annotation":{"by":"dev","stars": 5}`)
	l.annotate(id, "mission.json", `"colour":"blue"`)
	c.Tool("Edit")
	l.Write("file", "right\n")
	c.StopAgain("done again")
	if record := l.Git("show", id.Ref()+":turns/0000/000002.json"); !strings.HasSuffix(record, `,"annotation":{"by":"dev","stars":5}}`) || !strings.Contains(record, "done again") {
		t.Errorf("the record is %s", record)
	}
	if mission := l.Git("show", id.Ref()+":mission.json"); !strings.HasSuffix(mission, `,"colour":"blue"}`) {
		t.Errorf("mission.json is %s", mission)
	}
	l.turn(c, "third", nil)
	if record := l.Git("show", id.Ref()+":turns/0000/000003.json"); strings.Contains(record, "annotation") {
		t.Errorf("another turn's record is %s", record)
	}
	l.verify(id)
}

// TestLaterVersion: a mission that a later version has written is not written to. The turn is not
// recorded, and the error says why.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.client()
	id := own(c)
	l.turn(c, "first", nil)
	tip := l.Git("rev-parse", id.Ref())
	hash, err := l.Feed(`{"v":2,"id":"`+string(id)+`","everything":"is different"}`+"\n", "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := l.Feed("100644 blob "+hash+"\tmission.json\n", "mktree")
	if err != nil {
		t.Fatal(err)
	}
	later := l.Git("commit-tree", "-m", "later", "-p", tip, tree)
	l.Git("update-ref", id.Ref(), later)
	l.accept(id)
	c.Hook = func(e replay.Event) {
		if _, err := l.try(e); err == nil || !strings.Contains(err.Error(), "version") {
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
	l := newLab(t)
	c := l.client()
	c.Hook = func(e replay.Event) {
		e.PromptID, e.Transcript = "", ""
		l.record(e)
	}
	var wants []want
	for i := range 3 {
		wants = append(wants, l.turn(c, fmt.Sprint("turn ", i), l.write("file", fmt.Sprint(i))))
	}
	c.Prompt("interrupted")
	c.Esc()
	wants = append(wants, want{prompt: "interrupted", outcome: "interrupted"}, l.turn(c, "last", nil))
	c.End("other")
	l.check(own(c), wants...)
	l.quiet()
	l.fsck()
}
