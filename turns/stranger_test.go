package turns_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// A mission that a stranger continued between two turns of ours: nothing of his is built upon, and
// nothing of his or ours is lost.
func TestContinuedByStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, key := range []bool{true, false} {
		l := newLab(t)
		l.keyless = !key
		c := l.client()
		id := own(c)
		l.turn(c, "first", nil)
		ours := l.Git("rev-parse", id.Ref())
		evil := l.plant(id, map[string]string{"transcript/0000/000001.jsonl": "{}\n"})
		if _, err := turns.Usable(t.Context(), l.recorder(l.Dir).Workspace, l.list(id)[0]); err != nil {
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
		if list := l.list(id); len(list) != 2 || list[1].Transcript.After != 1 {
			t.Errorf("key %t: the turns are\n%s", key, describe(list))
		}
		l.verify(id)
		for _, turn := range l.list(id) {
			if _, err := turns.Usable(t.Context(), l.recorder(l.Dir).Workspace, turn); err != nil {
				t.Errorf("key %t: turn %d: %v", key, turn.Turn, err)
			}
		}
		l.turn(c, "third", nil)
		l.verify(id)
	}
}

// A saved state is of whoever wrote its event: one that a stranger has put behind our own turn is not
// ours, not even once the mission was accepted.
func TestSavedByStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, key := range []bool{true, false} {
		l := newLab(t)
		l.keyless = !key
		c := l.client()
		id := own(c)
		l.turn(c, "first", l.write("file", "first\n"))
		l.Write("file", "by hand\n")
		if _, err := l.restore(l.list(id)[0], false); err != nil {
			t.Fatal(err)
		}
		code := l.Git("commit-tree", "-m", "any", l.list(id)[0].Code.String()+"^{tree}")
		l.Git("update-ref", id.Ref(), l.Git("commit-tree", "-m", "before restoring turn 1", "-p", id.Ref(), "-p", code, id.Ref()+"^{tree}"))
		l.accept(id)
		saved, err := turns.Saved(t.Context(), l.repo(), id)
		if err != nil || len(saved) != 2 {
			t.Fatalf("%v, %v", saved, err)
		}
		w := l.recorder(l.Dir).Workspace
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
	l := newLab(t)
	c := l.client()
	id := own(c)
	l.turn(c, "first", nil)
	l.turn(c, "second", nil)
	theirs := l.Git("rev-parse", id.Ref())
	root := l.Git("rev-list", "--max-parents=0", "--first-parent", theirs)

	other := labIn(t, gittest.New(t))
	other.keyless = true
	other.Git("fetch", "-q", l.Dir, "main", "+refs/agent/*:refs/agent/*")
	other.Git("switch", "-q", "-c", "agent/mission/"+string(id), "FETCH_HEAD")
	for _, turn := range other.list(id) {
		if _, err := turns.Usable(t.Context(), other.recorder(other.Dir).Workspace, turn); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("turn %d of a stranger's: %v", turn.Turn, err)
		}
		if _, err := other.recorder(other.Dir).Restore(t.Context(), time.Now(), turn.After(), git.Paths{}, turns.RestorePlan{}); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("restore turn %d of a stranger's: %v", turn.Turn, err)
		}
		if _, err := other.recorder(other.Dir).Revert(t.Context(), time.Now(), turn.Before(), turn.After(), turns.Merging{}); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("revert turn %d of a stranger's: %v", turn.Turn, err)
		}
		if _, err := other.recorder(other.Dir).Fork(t.Context(), turns.Fork{Source: turn, ID: "f0f0f0f0", At: time.Now()}); !errors.Is(err, workspace.ErrUntrusted) {
			t.Errorf("fork turn %d of a stranger's: %v", turn.Turn, err)
		}
	}
	d := other.client()
	other.turn(d, "mine", nil)
	if list := other.list(id); len(list) != 1 || list[0].Prompt != "mine" {
		t.Errorf("the turns are\n%s", describe(list))
	}
	if aside := record.ID(root[:12]); other.Git("rev-parse", aside.Ref()) != theirs {
		t.Errorf("the stranger's is not mission %s", aside)
	}
	other.verify(id)
}

// A fork knows what is known of its source, also without a key, and so does a fork of a fork.
func TestForkKnowsItsSource(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	l.keyless = true
	_, source := l.three()
	from := source[1]
	for i, id := range []record.ID{"f0f0f0f0", "f1f1f1f1", "f2f2f2f2"} {
		f := l.forkOf(from)
		f.ID, f.Worktree, f.Before = id, f.Worktree+string(id), i == 1
		l.fork(f)
		in := l.at(f.Worktree)
		c := in.client()
		in.turn(c, "on "+string(id), nil)
		list := l.list(id)
		for _, turn := range list {
			if _, err := turns.Usable(t.Context(), l.recorder(l.Dir).Workspace, turn); err != nil {
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
		l := newLab(t)
		l.keyless = true
		c := l.client()
		id := own(c)
		for range 12 {
			l.turn(c, "again", nil)
		}
		if err := os.RemoveAll(filepath.Join(l.Dir, ".git", "agent", "trust")); err != nil {
			t.Fatal(err)
		}
		if foreign {
			l.plant(id, map[string]string{"turns/0000/000013.json": "{}\n"})
		}
		for range 2 { // a look may note something
			_, err := turns.Usable(t.Context(), l.recorder(l.Dir).Workspace, l.first(id))
			if errors.Is(err, workspace.ErrUntrusted) != foreign {
				t.Errorf("foreign %t: %v", foreign, err)
			}
		}
		if foreign {
			continue
		}
		l.turn(c, "one more", nil)
		if list := l.list(id); len(list) != 13 {
			t.Errorf("the turns are\n%s", describe(list))
		}
		l.verify(id)
	}
}

// first reads a mission's first turn.
func (l *lab) first(id record.ID) *turns.Turn {
	l.t.Helper()
	turn, err := turns.Read(l.t.Context(), l.repo(), id, 1)
	if err != nil {
		l.t.Fatal(err)
	}
	return turn
}
