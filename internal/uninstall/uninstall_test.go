package uninstall_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/missionstore"
	"gitagent/internal/uninstall"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// What is ours goes, whatever kind of mission it is of; what is the user's stays,
// and a second time there is nothing.
func TestDo(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	before := l.Git("for-each-ref") + l.Git("config", "--local", "--list")
	l.Write("users.txt", "the user's\n")
	c, list := l.Three()
	f := l.ForkOf(list[1])
	l.Fork(f)
	l.Archive(lab.Own(c))

	p, err := uninstall.Look(t.Context(), l.Workspace(l.Dir), false)
	gittest.Must(t, err)
	if p.Missions != 2 || p.Turns != 3 || p.Nothing || len(p.Stays) > 0 {
		t.Errorf("there are %d missions with %d turns, nothing %t, staying %v", p.Missions, p.Turns, p.Nothing, p.Stays)
	}
	gittest.Must(t, p.Do(t.Context()))
	if after := l.Git("for-each-ref") + l.Git("config", "--local", "--list"); after != before {
		t.Errorf("refs and configuration were\n%s\nand are\n%s", before, after)
	}
	if _, err := os.Lstat(f.Worktree); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the fork's worktree: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(l.Dir, ".git", "agent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the local state: %v", err)
	}
	if l.Read("users.txt") != "the user's\n" || l.Read("b.txt") != "b\n" {
		t.Error("files of the user are not as they were")
	}
	if p, err = uninstall.Look(t.Context(), l.Workspace(l.Dir), false); err != nil || !p.Nothing {
		t.Errorf("a second time: %+v, %v", p, err)
	}
	l.Fsck()
}

// Work that no branch has is in the way, and nothing goes; by force it does.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	_, list := l.Three()
	f := l.ForkOf(list[1])
	l.Fork(f)
	gittest.Must(t, os.WriteFile(filepath.Join(f.Worktree, "new.txt"), []byte("new\n"), 0o600))
	p, err := uninstall.Look(t.Context(), l.Workspace(l.Dir), false)
	if err != nil || len(p.Stays) != 1 || !errors.Is(p.Stays[0], missionstore.ErrInUse) {
		t.Fatalf("in the way is %v, %v", p.Stays, err)
	}
	p, err = uninstall.Look(t.Context(), l.Workspace(l.Dir), true)
	if err != nil || len(p.Stays) > 0 {
		t.Fatalf("by force in the way is %v, %v", p.Stays, err)
	}
	gittest.Must(t, p.Do(t.Context()))
	if _, err := os.Lstat(f.Worktree); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the fork's worktree: %v", err)
	}
}

// As long as hooks record, nothing is looked at and nothing goes.
func TestRecording(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Three()
	p, err := uninstall.Look(t.Context(), l.Workspace(l.Dir), false)
	gittest.Must(t, err)
	_, err = l.Workspace(l.Dir).Store.Enable(true)
	gittest.Must(t, err)
	if err := p.Do(t.Context()); !errors.Is(err, uninstall.ErrRecording) {
		t.Errorf("switched on meanwhile: %v", err)
	}
	if _, err := uninstall.Look(t.Context(), l.Workspace(l.Dir), false); !errors.Is(err, uninstall.ErrRecording) {
		t.Errorf("switched on before: %v", err)
	}
	if refs := l.Git("for-each-ref", "refs/agent"); refs == "" {
		t.Error("the missions are gone")
	}
}
