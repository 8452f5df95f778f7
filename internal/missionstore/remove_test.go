package missionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestRemoveKeepsOwnCommits: what the user has committed to a mission's branch is not lost with the
// mission.
func TestRemoveKeepsOwnCommits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		then func(l *lab.Lab, branch string) // on the branch, after a turn and a commit of the user's; ends elsewhere
		lost []string                        // subjects; none if the mission may go
	}{
		{"on top", func(l *lab.Lab, branch string) {
			l.Git("checkout", "-q", "main")
		}, []string{"mine"}},
		{"between turns", func(l *lab.Lab, branch string) {
			l.Turn(l.Client(), "two", l.Writes("kept.txt", "two\n"))
			l.Git("checkout", "-q", "main")
		}, []string{"mine"}},
		{"the code commit of a turn without a change", func(l *lab.Lab, branch string) {
			l.Turn(l.Client(), "two", nil)
			l.Git("checkout", "-q", "main")
		}, []string{"mine"}},
		{"several", func(l *lab.Lab, branch string) {
			for i := range 5 {
				l.Write("more.txt", fmt.Sprint(i))
				l.Git("add", "-A")
				l.Git("commit", "-q", "-m", fmt.Sprint("more ", i))
			}
			l.Git("checkout", "-q", "main")
		}, []string{"more 4", "more 3", "more 2", "and 3 more"}},
		{"a turn that the user has amended", func(l *lab.Lab, branch string) {
			l.Git("reset", "-q", "--hard", "HEAD~")
			l.Write("kept.txt", "better\n")
			l.Git("commit", "-q", "-a", "--amend", "--no-edit")
			l.Git("checkout", "-q", "main")
		}, []string{"turn 1: one"}},
		{"a conflict that the user has resolved", func(l *lab.Lab, branch string) {
			l.Git("reset", "-q", "--hard", "HEAD~")
			l.Git("checkout", "-q", "main")
			l.Write("kept.txt", "main's\n")
			l.Git("commit", "-q", "-a", "-m", "main's")
			l.Git("checkout", "-q", branch)
			_, _ = l.Try("merge", "-q", "main")
			l.Write("kept.txt", "both\n")
			l.Git("commit", "-q", "-a", "-m", "resolved")
			l.Git("checkout", "-q", "main")
		}, []string{"resolved"}},
		{"squashed and reverted", func(l *lab.Lab, branch string) {
			l.Git("checkout", "-q", "main")
			l.Git("merge", "-q", "--squash", branch)
			l.Git("commit", "-q", "-m", "squashed")
			l.Git("revert", "--no-edit", "HEAD")
		}, []string{"mine"}},

		{"only turns", func(l *lab.Lab, branch string) {
			l.Git("reset", "-q", "--hard", "HEAD~")
			l.Write("kept.txt", "between\n") // a commit `before turn 2`
			l.Turn(l.Client(), "two", l.Writes("dir/edited.txt", "two\n"))
			l.Git("checkout", "-q", "main")
		}, nil},
		{"main merged into it", func(l *lab.Lab, branch string) {
			l.Git("reset", "-q", "--hard", "HEAD~")
			l.Git("checkout", "-q", "main")
			l.Write("dir/edited.txt", "main's\n")
			l.Git("commit", "-q", "-a", "-m", "main's")
			l.Git("checkout", "-q", branch)
			l.Git("merge", "-q", "--no-edit", "main")
			l.Git("checkout", "-q", "main")
		}, nil},
		{"merged", func(l *lab.Lab, branch string) {
			l.Git("checkout", "-q", "main")
			l.Git("merge", "-q", "--no-ff", "--no-edit", branch)
		}, nil},
		{"fetched from a remote", func(l *lab.Lab, branch string) {
			l.Git("update-ref", "refs/remotes/origin/theirs", "HEAD")
			l.Git("checkout", "-q", "main")
		}, nil},
		{"tagged", func(l *lab.Lab, branch string) {
			l.Git("tag", "-a", "-m", "v1", "v1")
			l.Git("checkout", "-q", "main")
		}, nil},
		{"checked out elsewhere", func(l *lab.Lab, branch string) {
			l.Git("worktree", "add", "-q", "--detach", l.T.TempDir())
			l.Git("checkout", "-q", "main")
		}, nil},
		{"cherry-picked", func(l *lab.Lab, branch string) {
			l.AdvanceMain()
			l.Git("checkout", "-q", "main")
			l.Git("cherry-pick", branch)
		}, nil},
		{"one of two cherry-picked", func(l *lab.Lab, branch string) {
			l.Write("more.txt", "more\n")
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "more")
			l.Git("checkout", "-q", "main")
			l.Git("cherry-pick", branch+"~")
		}, []string{"more"}},
		{"squashed", func(l *lab.Lab, branch string) {
			l.Write("more.txt", "more\n")
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "more")
			l.AdvanceMain()
			l.Git("checkout", "-q", "main")
			l.Git("merge", "-q", "--squash", branch)
			l.Git("commit", "-q", "-m", "squashed")
			l.Write("mains.txt", "and on\n")
			l.Git("commit", "-q", "-a", "-m", "main goes on")
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "on top" {
				gittest.Check(t)
				gittest.Sample(t)
			}
			l := lab.New(t)
			id := l.Start()
			l.Turn(l.Client(), "one", l.Writes("kept.txt", "one\n"))
			l.Write("mine.txt", "mine\n")
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "mine")
			tt.then(l, l.Branch(id))
			w := l.Workspace(l.Dir)
			before := l.Git("for-each-ref")
			for _, dry := range []bool{true, false} {
				_, err := missionstore.Remove(context.Background(), w, id, nobody, false, dry)
				if errors.Is(err, missionstore.ErrUnmerged) != (tt.lost != nil) || tt.lost == nil && err != nil {
					t.Fatalf("Remove: %v, want %q in it", err, tt.lost)
				}
				for _, s := range tt.lost {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("Remove: %v, want %q in it", err, s)
					}
				}
				if strings.Contains(fmt.Sprint(err), "turn 2") {
					t.Errorf("Remove: %v, but a turn is not the user's own", err)
				}
			}
			if tt.lost == nil {
				return
			}
			if now := l.Git("for-each-ref"); now != before {
				t.Errorf("refs have changed:\n%s\nwant\n%s", now, before)
			}
			if _, err := missionstore.Remove(context.Background(), w, id, nobody, true, false); err != nil {
				t.Error(err)
			}
			if left := l.Git("for-each-ref", id.Ref(), id.NotesRef(), "refs/heads/agent"); left != "" {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// TestRemoveKeepsHidden: changes that git was told not to look at stay without force.
func TestRemoveKeepsHidden(t *testing.T) {
	t.Parallel()
	for _, bit := range []string{"--skip-worktree", "--assume-unchanged"} {
		l, at := sibling(t)
		at.Git("update-index", bit, "kept.txt")
		at.Write("kept.txt", "mine\n")
		w := l.Workspace(l.Dir)
		for _, dry := range []bool{true, false} {
			if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, nobody, false, dry); !errors.Is(err, missionstore.ErrInUse) || !strings.Contains(err.Error(), `"kept.txt"`) {
				t.Errorf("%s: Remove (dry %t): %v", bit, dry, err)
			}
		}
		tip := object.NewHash(at.Git("rev-parse", "HEAD"))
		if _, err := missionstore.RemoveFinished(t.Context(), w, lab.ForkID, record.Finish{Commit: object.NewHash(l.Git("rev-parse", "main")), Tip: tip}); !errors.Is(err, missionstore.ErrInUse) {
			t.Errorf("%s: RemoveFinished: %v", bit, err)
		}
		if got := at.Read("kept.txt"); got != "mine\n" {
			t.Fatalf("%s: the file has %q", bit, got)
		}
		if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, nobody, true, false); err != nil || Exists(at.Dir) {
			t.Errorf("%s: Remove with force: %v, the worktree is there: %t", bit, err, Exists(at.Dir))
		}
	}
}

// TestRemoveWhileAtWork: a turn that runs keeps its mission, and the one in whose worktree it runs.
func TestRemoveWhileAtWork(t *testing.T) {
	t.Parallel()
	l, at := sibling(t)
	w := l.Workspace(l.Dir)
	open := new(session.OpenTurn)
	for _, tt := range []struct {
		name string
		live turns.Live
		want error
	}{
		{"its own", turns.Live{Mission: lab.ForkID, Number: 5, Open: open}, missionstore.ErrAtWork},
		{"another's, there", turns.Live{Mission: "00000000", Number: 5, Open: open, Worktree: at.GitRepo().GitDir}, missionstore.ErrAtWork},
		{"another's, nobody knows where", turns.Live{Mission: "00000000", Number: 5, Open: open}, nil},
		{"its agent waits", turns.Live{Mission: lab.ForkID, Number: 5}, nil},
	} {
		live := func(context.Context) ([]turns.Live, error) { return []turns.Live{tt.live}, nil }
		if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, live, false, true); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, live, true, true); err != nil {
			t.Errorf("%s, with force: %v", tt.name, err)
		}
	}
}

// TestRemoveKeepsWhatStandsThere: what stands where a worktree was is the
// user's, unless the note of a removal says that it is left of the worktree.
func TestRemoveKeepsWhatStandsThere(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		l, at := sibling(t)
		gitDir := at.GitRepo().GitDir
		if killed {
			leaveRemoval(t, l, at)
			at.Remove(".git")
		} else {
			gittest.Must(t, os.Rename(at.Dir, at.Dir+"-moved"))
			at.Write("precious", "precious\n")
		}
		w := l.Workspace(l.Dir)
		if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, nobody, false, false); !errors.Is(err, missionstore.ErrUnseen) {
			t.Errorf("killed: %t, without force: %v", killed, err)
		}
		l.Git("worktree", "lock", at.Dir)
		if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, nobody, true, false); !errors.Is(err, missionstore.ErrInUse) || !Exists(at.Dir) {
			t.Errorf("killed: %t, locked: %v, it is there: %t", killed, err, Exists(at.Dir))
		}
		l.Git("worktree", "unlock", at.Dir)
		if _, err := missionstore.Remove(t.Context(), w, lab.ForkID, nobody, true, false); err != nil {
			t.Errorf("killed: %t, with force: %v", killed, err)
		}
		if Exists(at.Dir) == killed || Exists(at.Dir+"-moved") == killed {
			t.Errorf("killed: %t, what stands there is there: %t, what was moved: %t", killed, Exists(at.Dir), Exists(at.Dir+"-moved"))
		}
		if Exists(gitDir) || Exists(filepath.Dir(gitDir)) {
			t.Errorf("killed: %t, git knows\n%s", killed, l.Git("worktree", "list"))
		}
	}
}

// TestRemoveKeepsAnotherRepository: one that lies where a mission's worktree was is not the worktree.
func TestRemoveKeepsAnotherRepository(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, at := sibling(t)
	at.Remove(".")
	at.Write("mine", "mine\n")
	at.Git("init", "-q")
	if _, err := missionstore.Remove(t.Context(), l.Workspace(l.Dir), lab.ForkID, nobody, true, false); !errors.Is(err, missionstore.ErrInUse) {
		t.Errorf("Remove: %v", err)
	}
	if !Exists(at.Dir + "/mine") {
		t.Error("the repository is gone")
	}
}
