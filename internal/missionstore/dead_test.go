package missionstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestLeftByTheDead: a hook was killed together with its git. What that git had locked is free at the
// next event, whatever mission it is about, and the branch moves; a lock that is not noted stays.
func TestLeftByTheDead(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	id := l.Start()
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	branch := ".git/" + id.Branch(l.Capture.BranchPrefix)
	var mine string // somebody else has locked it
	if l.InTables() {
		mine = ".git/reftable/mine"
		l.Leave("mission-00", ".git/reftable/tables.list")
	} else {
		mine = ".git/refs/heads/mine"
		l.Leave("mission-00", ".git/HEAD", branch, ".git/"+id.Ref(), ".git/"+id.NotesRef(), ".git/packed-refs", ".git/refs/agent/remotes/host/")
		l.Write(".git/refs/agent/remotes/host/x/missions/a1b2c3d4.lock", "")
	}
	for _, private := range []string{".git/agent/index.lock", ".git/agent/index.new", ".git/agent/index.new.lock"} {
		l.Write(private, "")
	}
	l.Write(mine+".lock", "")
	b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
	list := l.Check(id, a, b)
	l.AtTip(id, list[1].Code.String())
	if got := l.Locked(); len(got) != 1 || got[0] != "/"+mine+".lock" {
		t.Errorf("locked are %q, want somebody else's alone", got)
	}
	if len(l.Seen.Warnings) > 0 {
		t.Errorf("warnings: %q", l.Seen.Warnings)
	}
	l.Remove(mine + ".lock")
	l.Fsck()
}

// TestRestoreAfterAKilledOne: the private index was locked when a restore was killed.
func TestRestoreAfterAKilledOne(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	l.Write(".git/agent/index.lock", "")
	l.Age(".git/agent/index.lock", time.Hour)
	if _, err := l.Restore(list[0], false); err != nil {
		t.Error(err)
	}
	if got := l.Locked(); len(got) > 0 {
		t.Errorf("locked are %q", got)
	}
}

// TestRestoreInheritedTurn: what was there before is kept by the fork whose turn is restored, also
// when the mission that it was forked from is gone.
func TestRestoreInheritedTurn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c, list := l.Three()
	f := l.Fork(l.ForkOf(list[2])).Mission
	here := l.List(f.ID)
	source := lab.Own(c)
	tip := l.Git("rev-parse", source.Ref())
	for _, gone := range []bool{false, true} {
		if gone {
			if _, err := missionstore.Remove(t.Context(), l.Workspace(l.Dir), source, nobody, false, false); err != nil {
				t.Fatal(err)
			}
		} else {
			l.Write("work.txt", "of my own\n")
		}
		done, err := l.Restore(here[0], false)
		if err != nil {
			t.Fatalf("the source is gone: %t: %v", gone, err)
		}
		if _, err := l.Try("merge-base", "--is-ancestor", done.Present.String(), f.ID.Ref()); err != nil {
			t.Errorf("the source is gone: %t: the fork does not keep what was there: %v", gone, err)
		}
		if !gone && l.Git("rev-parse", source.Ref()) != tip {
			t.Error("the source's ledger has changed")
		}
		l.Write("work.txt", "more\n")
	}
}

// TestKilledPlanting: a start or a fork was killed in the middle of its checkout. What it had made is
// taken back by the next one; what it had finished, or somebody works with, stays.
func TestKilledPlanting(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const gone, stays = record.ID("aaaaaaaa"), record.ID("bbbbbbbb")
	l := lab.New(t)
	_, list := l.Three()
	half := func(id record.ID) string {
		f := l.ForkOf(list[2])
		f.ID, f.Worktree = id, filepath.Join(filepath.Dir(l.Dir), string(id))
		f.Session = ""
		l.Fork(f)
		planting(l, id, f.Worktree)
		return f.Worktree
	}
	// Git was killed before it had pointed HEAD anywhere.
	dir := half(gone)
	admin := filepath.Join(".git", "worktrees", filepath.Base(dir))
	l.Write(filepath.Join(admin, "locked"), "initializing")
	l.Write(filepath.Join(admin, "HEAD"), gittest.Hash("0")+"\n")
	l.Write(filepath.Join(admin, "index.lock"), "")
	// Somebody has found the other one, and works in it.
	work := filepath.Join(half(stays), "work.txt")
	gittest.Must(t, os.WriteFile(work, []byte("of my own\n"), 0o666))
	l.Fork(l.ForkOf(list[1]))
	refs := l.Git("for-each-ref", "--format=%(refname)")
	if strings.Contains(refs, string(gone)) || !strings.Contains(refs, stays.Ref()) || !strings.Contains(refs, "heads/agent/mission/"+string(stays)) {
		t.Errorf("refs are\n%s", refs)
	}
	if trees := l.Git("worktree", "list"); strings.Contains(trees, string(gone)) || !strings.Contains(trees, string(stays)) {
		t.Errorf("worktrees are\n%s", trees)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
	if _, err := os.Lstat(work); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(l.Dir, ".git", "agent", "planting")); err == nil {
		t.Errorf("what was being made is still noted: %v", left)
	}
	l.Fsck()
}

// TestRemoveAfterAKilledOne: git had deleted a part of the worktree, with what makes it one. The next
// event deletes the rest, before `git worktree prune` forgets it; removing the mission works.
func TestRemoveAfterAKilledOne(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, event := range []bool{false, true} {
		l := lab.New(t)
		c, list := l.Three()
		f := l.ForkOf(list[2])
		l.Fork(f)
		gittest.Must(t, os.Remove(filepath.Join(f.Worktree, ".git")))
		l.Write(".git/worktrees/fork/index.lock", "")
		held, err := statedir.In(filepath.Join(l.Dir, ".git"), "agent").Lock(t.Context(), filepath.Join("planting", "remove-fork"))
		gittest.Must(t, err)
		words := []string{f.Worktree, filepath.Join(l.Dir, ".git", "worktrees", "fork") + "/"}
		gittest.Must(t, held.Note(statedir.Note{At: time.Now(), Words: words}))
		held.Release()
		if event {
			c.Prompt("next")
			if got := l.Locked(); len(got) > 0 {
				t.Errorf("locked are %q", got)
			}
			if _, err := os.Lstat(f.Worktree); err == nil {
				t.Error("after an event the directory is still there")
			}
			l.Git("worktree", "prune")
		}
		if _, err := missionstore.Remove(t.Context(), l.Workspace(l.Dir), f.ID, nobody, true, false); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(f.Worktree); err == nil {
			t.Errorf("the directory is still there, with %v", entries)
		}
		if out := l.Git("worktree", "list"); strings.Contains(out, f.Worktree) {
			t.Errorf("git still knows it:\n%s", out)
		}
		if refs := l.Git("for-each-ref", "--format=%(refname)"); strings.Contains(refs, string(f.ID)) {
			t.Errorf("refs are\n%s", refs)
		}
		l.Fsck()
	}
}
