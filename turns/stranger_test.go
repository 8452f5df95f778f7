package turns_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/gitdiff"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// A mission that a stranger continued between two turns of ours: nothing of his is built upon, and
// nothing of his or ours is lost.
func TestContinuedByStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, key := range []bool{true, false} {
		l := lab.New(t)
		l.Keyless = !key
		c := l.Client()
		id := lab.Own(c)
		l.Turn(c, "first", nil)
		ours := l.Git("rev-parse", id.Ref())
		evil := l.Plant(id, map[string]string{"transcript/0000/000001.jsonl": "{}\n"})
		if _, err := turns.Usable(t.Context(), l.Workspace(l.Dir), l.List(id)[0]); err != nil {
			t.Errorf("turn 1, which stands before the stranger's: %v", err)
		}
		c.Prompt("second")
		l.Write("file", "mine\n")
		c.Stop("done")
		if got := l.Git("rev-list", "--first-parent", id.Ref()); !strings.Contains(got, ours) || strings.Contains(got, evil) {
			t.Errorf("key %t: the ledger goes on as\n%s\nours was %s, the stranger's %s", key, got, ours, evil)
		}
		if aside := record.ID(evil[:12]); l.Git("rev-parse", aside.Ref()) != evil {
			t.Errorf("key %t: the stranger's part is not mission %s", key, aside)
		}
		if list := l.List(id); len(list) != 2 || list[1].Transcript.After != 1 {
			t.Errorf("key %t: the turns are\n%s", key, lab.Describe(list))
		}
		l.Verify(id)
		for _, turn := range l.List(id) {
			if _, err := turns.Usable(t.Context(), l.Workspace(l.Dir), turn); err != nil {
				t.Errorf("key %t: turn %d: %v", key, turn.Turn, err)
			}
		}
		l.Turn(c, "third", nil)
		l.Verify(id)
	}
}

// A saved state is of whoever wrote its event: one that a stranger has put behind our own turn is not
// ours, not even once the mission was accepted.
func TestSavedByStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, key := range []bool{true, false} {
		l := lab.New(t)
		l.Keyless = !key
		c := l.Client()
		id := lab.Own(c)
		l.Turn(c, "first", l.Writes("file", "first\n"))
		l.Write("file", "by hand\n")
		if _, err := l.Restore(l.List(id)[0], false); err != nil {
			t.Fatal(err)
		}
		code := l.Git("commit-tree", "-m", "any", l.List(id)[0].Code.String()+"^{tree}")
		l.Git("update-ref", id.Ref(), l.Git("commit-tree", "-m", "before restoring turn 1", "-p", id.Ref(), "-p", code, id.Ref()+"^{tree}"))
		l.Accept(id)
		saved, err := turns.Saved(t.Context(), l.GitRepo(), id)
		if err != nil || len(saved) != 2 {
			t.Fatalf("%v, %v", saved, err)
		}
		w := l.Workspace(l.Dir)
		for i, want := range []string{trust.Unknown, trust.Clone} {
			if _, err := saved[i].Usable(t.Context(), w); err != nil {
				t.Error(err)
			}
			if by, err := saved[i].By(t.Context(), w); by != want || err != nil {
				t.Errorf("key %t: %s is by %s, %v; want %s", key, saved[i], by, err, want)
			}
		}
	}
}

// A stranger's mission has the id of ours, or its branch is checked out: ours begins anew.
func TestMissionOfStranger(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "first", nil)
	l.Turn(c, "second", nil)
	theirs := l.Git("rev-parse", id.Ref())
	root := l.Git("rev-list", "--max-parents=0", "--first-parent", theirs)

	other := lab.In(t, gittest.New(t))
	other.Keyless = true
	other.Git("fetch", "-q", l.Dir, "main", "+refs/agent/*:refs/agent/*")
	other.Git("switch", "-q", "-c", "agent/mission/"+string(id), "FETCH_HEAD")
	for _, turn := range other.List(id) {
		if _, err := turns.Usable(t.Context(), other.Workspace(other.Dir), turn); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("turn %d of a stranger's: %v", turn.Turn, err)
		}
		if _, err := checkout.Restore(t.Context(), other.Workspace(other.Dir), time.Now(), turn.After(), gitdiff.Paths{}, checkout.RestorePlan{}); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("restore turn %d of a stranger's: %v", turn.Turn, err)
		}
		if _, err := checkout.Revert(t.Context(), other.Workspace(other.Dir), time.Now(), turn.Before(), turn.After(), checkout.Merging{}); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("revert turn %d of a stranger's: %v", turn.Turn, err)
		}
		if _, err := missionstore.Fork(t.Context(), other.Workspace(other.Dir), missionstore.ForkPlan{Source: turn, ID: "f0f0f0f0", At: time.Now()}); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("fork turn %d of a stranger's: %v", turn.Turn, err)
		}
	}
	d := other.Client()
	other.Turn(d, "mine", nil)
	if list := other.List(id); len(list) != 1 || list[0].Prompt != "mine" {
		t.Errorf("the turns are\n%s", lab.Describe(list))
	}
	if aside := record.ID(root[:12]); other.Git("rev-parse", aside.Ref()) != theirs {
		t.Errorf("the stranger's is not mission %s", aside)
	}
	other.Verify(id)
}

// A fork knows what is known of its source, also without a key, and so does a fork of a fork.
func TestForkKnowsItsSource(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Keyless = true
	_, source := l.Three()
	from := source[1]
	for i, id := range []record.ID{"f0f0f0f0", "f1f1f1f1", "f2f2f2f2"} {
		f := l.ForkOf(from)
		f.ID, f.Worktree, f.Before = id, f.Worktree+string(id), i == 1
		l.Fork(f)
		in := l.At(f.Worktree)
		c := in.Client()
		in.Turn(c, "on "+string(id), nil)
		list := l.List(id)
		for _, turn := range list {
			if _, err := turns.Usable(t.Context(), l.Workspace(l.Dir), turn); err != nil {
				t.Errorf("fork %s, turn %d: %v", id, turn.Turn, err)
			}
		}
		from = list[len(list)-1]
	}
}

// What was recorded before anybody kept record of who wrote it is ours if a session here tells of its
// last turn, and nobody's if somebody has added to it.
func TestFromBefore(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := lab.New(t)
		l.Keyless = true
		c := l.Client()
		id := lab.Own(c)
		for range 12 {
			l.Turn(c, "again", nil)
		}
		gittest.Must(t, os.RemoveAll(filepath.Join(l.Dir, ".git", "agent", "trust")))
		if foreign {
			l.Plant(id, map[string]string{"turns/0000/000013.json": "{}\n"})
		}
		for range 2 { // a look may note something
			_, err := turns.Usable(t.Context(), l.Workspace(l.Dir), first(l, id))
			if errors.Is(err, workspace.ErrUntrusted) != foreign {
				t.Errorf("foreign %t: %v", foreign, err)
			}
		}
		if foreign {
			continue
		}
		l.Turn(c, "one more", nil)
		if list := l.List(id); len(list) != 13 {
			t.Errorf("the turns are\n%s", lab.Describe(list))
		}
		l.Verify(id)
	}
}

// first reads a mission's first turn.
func first(l *lab.Lab, id record.ID) *turns.Turn {
	l.T.Helper()
	turn, err := turns.Read(l.T.Context(), l.GitRepo(), id, 1)
	gittest.Must(l.T, err)
	return turn
}
