package missionstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitagent/internal/missionstore"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// leaveRemoval leaves the note of a removal that was killed.
func leaveRemoval(t *testing.T, l, at *lab.Lab) {
	t.Helper()
	gitDir := at.GitRepo().GitDir
	held, err := statedir.In(filepath.Join(l.Dir, ".git"), "agent").Lock(t.Context(), filepath.Join("planting", "remove-"+filepath.Base(gitDir)))
	if err == nil {
		err = held.Note(statedir.Note{At: time.Now(), Words: []string{at.Dir, gitDir + "/"}})
	}
	gittest.Must(t, err)
	held.Release()
}

// nobody says that no session lives.
func nobody(context.Context) ([]turns.Live, error) { return nil, nil }

// sibling is a lab with a fork, in which a turn has changed something, and the fork's own lab.
func sibling(t *testing.T) (l, at *lab.Lab) {
	t.Helper()
	l = lab.New(t)
	_, source := l.Three()
	f := l.ForkOf(source[2])
	l.Fork(f)
	at = l.At(f.Worktree)
	at.Turn(at.Client(), "fourth", at.Writes("c.txt", "c\n"))
	return l, at
}

// A fork that is left has neither worktree nor branch, and all of its turns; it can be forked again.
func TestLeave(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, at := sibling(t)
	at.Write("cache.ignored", "ignored\n")
	at.Write("module/deep/file.ignored", "ignored\n")
	for _, dir := range []string{"module/deep", "module"} { // as Go's module cache is
		at.Chmod(dir, 0o555)
	}
	before := l.List(lab.ForkID)
	w := l.Workspace(l.Dir)
	dry, err := missionstore.Leave(t.Context(), w, lab.ForkID, nobody, true)
	if err != nil || !Exists(at.Dir) {
		t.Fatalf("dry: %+v, %v", dry, err)
	}
	gone, err := missionstore.Leave(t.Context(), w, lab.ForkID, nobody, false)
	if err != nil || !reflect.DeepEqual(gone, dry) || gone.Branch != "agent/mission/f0f0f0f0" || gone.Worktree != at.Dir {
		t.Fatalf("Leave: %+v, %v, dry it was %+v", gone, err, dry)
	}
	if out, err := l.Try("rev-parse", "--verify", "-q", "refs/heads/"+gone.Branch); err == nil || Exists(at.Dir) {
		t.Errorf("the branch is at %s, the worktree is there: %t", out, Exists(at.Dir))
	}
	if after := l.List(lab.ForkID); lab.Describe(after) != lab.Describe(before) {
		t.Errorf("the turns were\n%s, and are\n%s", lab.Describe(before), lab.Describe(after))
	}
	f := l.ForkOf(before[3])
	f.ID = "f1f1f1f1"
	l.Fork(f)
	if gone, err = missionstore.Leave(t.Context(), w, lab.ForkID, nobody, false); err != nil || gone.Branch != "" {
		t.Errorf("again: %+v, %v", gone, err)
	}
	l.Fsck()
}

// Nothing goes that is nowhere else, or that somebody works on.
func TestLeaveKeeps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		arrange func(l, at *lab.Lab)
		live    []turns.Live
		want    error // nil if it goes
	}{
		{"a change", func(l, at *lab.Lab) { at.Write("kept.txt", "changed\n") }, nil, missionstore.ErrInUse},
		{"a new file", func(l, at *lab.Lab) { at.Write("new", "new\n") }, nil, missionstore.ErrInUse},
		{"a deleted file", func(l, at *lab.Lab) { at.Remove("kept.txt") }, nil, missionstore.ErrInUse},
		{"a change that git does not look at", func(l, at *lab.Lab) {
			at.Git("update-index", "--assume-unchanged", "kept.txt")
			at.Write("kept.txt", "changed\n")
		}, nil, missionstore.ErrInUse},
		{"a link in place of a file that git does not look at", func(l, at *lab.Lab) {
			at.Git("update-index", "--assume-unchanged", "kept.txt")
			at.Remove("kept.txt")
			gittest.Must(l.T, os.Symlink("elsewhere", filepath.Join(at.Dir, "kept.txt")))
		}, nil, missionstore.ErrInUse},
		{"one in a file out of a sparse checkout", func(l, at *lab.Lab) {
			at.Git("update-index", "--skip-worktree", "kept.txt")
			at.Write("kept.txt", "changed\n")
		}, nil, missionstore.ErrInUse},
		{"a file that git does not look at", func(l, at *lab.Lab) {
			at.Git("update-index", "--skip-worktree", "kept.txt", "dir/edited.txt")
			at.Remove("dir")
		}, nil, nil},
		{"a commit", func(l, at *lab.Lab) {
			at.Write("kept.txt", "mine\n")
			at.Commit("mine")
		}, nil, missionstore.ErrUnmerged},
		{"a commit that another branch has", func(l, at *lab.Lab) {
			at.Write("kept.txt", "mine\n")
			at.Commit("mine")
			l.Git("branch", "-q", "copy", "agent/mission/f0f0f0f0")
		}, nil, nil},
		{"a commit that was picked", func(l, at *lab.Lab) {
			at.Write("kept.txt", "mine\n")
			at.Commit("mine")
			l.Git("stash", "-q", "-u")
			l.Git("cherry-pick", "agent/mission/f0f0f0f0")
		}, nil, nil},
		{"a worktree in an ignored directory", func(l, at *lab.Lab) {
			at.Git("worktree", "add", "-q", "--detach", at.Dir+"/nested.ignored/other")
		}, nil, missionstore.ErrInUse},
		{"a repository in an ignored directory", func(l, at *lab.Lab) { l.Git("clone", "-q", ".", at.Dir+"/clone.ignored") }, nil, missionstore.ErrInUse},
		{"locked", func(l, at *lab.Lab) { l.Git("worktree", "lock", at.Dir) }, nil, missionstore.ErrInUse},
		{"a bisect", func(l, at *lab.Lab) { at.Git("bisect", "start") }, nil, missionstore.ErrInUse},
		{"a bisect that has gone elsewhere", func(l, at *lab.Lab) {
			at.Git("bisect", "start", "HEAD", "HEAD~1")
			at.Git("switch", "-q", "--detach", "HEAD")
		}, nil, missionstore.ErrInUse},
		{"a rebase", func(l, at *lab.Lab) {
			at.Write("kept.txt", "theirs\n")
			at.Commit("theirs")
			l.Write("kept.txt", "ours\n")
			l.Git("commit", "-q", "-m", "ours", "kept.txt")
			_, _ = at.Try("rebase", "main")
		}, nil, missionstore.ErrInUse},
		{"a turn that runs", func(l, at *lab.Lab) {}, []turns.Live{{Mission: lab.ForkID, Number: 5, Open: &session.OpenTurn{}}}, missionstore.ErrAtWork},
		{
			"a turn of another mission that runs there", func(l, at *lab.Lab) {},
			[]turns.Live{{Mission: "a1b2c3d4", Number: 5, Worktree: "there", Open: &session.OpenTurn{}}},
			missionstore.ErrAtWork,
		},
		{"an agent that waits", func(l, at *lab.Lab) {}, []turns.Live{{Mission: lab.ForkID, Number: 5}}, missionstore.ErrAtWork},
		{"an agent elsewhere", func(l, at *lab.Lab) {}, []turns.Live{{Mission: "a1b2c3d4", Number: 5, Worktree: "elsewhere", Open: &session.OpenTurn{}}}, nil},
		{"the present worktree", func(l, at *lab.Lab) { *l = *at }, nil, missionstore.ErrInUse},
		{"a submodule", func(l, at *lab.Lab) {
			at.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", l.Dir, "module")
			at.Git("commit", "-q", "-m", "module")
			l.Git("branch", "-q", "copy", "agent/mission/f0f0f0f0")
		}, nil, missionstore.ErrInUse},
		{"a stranger's", func(l, at *lab.Lab) { l.Plant(lab.ForkID, map[string]string{"turns/0000/000004.json": "{}\n"}) }, nil, workspace.ErrUntrusted},
		{"without a directory", func(l, at *lab.Lab) {
			gittest.Must(l.T, os.RemoveAll(at.Dir))
		}, nil, nil},
		{"checked out nowhere", func(l, at *lab.Lab) { at.Git("switch", "-q", "--detach") }, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "a bisect that has gone elsewhere" && tt.name != "a turn of another mission that runs there" {
				gittest.Check(t)
			}
			l, at := sibling(t)
			for i := range tt.live {
				if tt.live[i].Worktree == "there" {
					tt.live[i].Worktree = at.GitRepo().GitDir
				}
			}
			tt.arrange(l, at)
			there := Exists(at.Dir)
			live := func(context.Context) ([]turns.Live, error) { return tt.live, nil }
			for _, dry := range []bool{true, false} {
				_, err := missionstore.Leave(t.Context(), l.Workspace(l.Dir), lab.ForkID, live, dry)
				if !dry || tt.name != "a submodule" { // git alone knows
					if !errors.Is(err, tt.want) {
						t.Fatalf("Leave (dry %t): %v, want %v", dry, err, tt.want)
					}
				}
			}
			_, err := l.Try("rev-parse", "--verify", "-q", "refs/heads/agent/mission/f0f0f0f0")
			if left := err == nil; left != (tt.want != nil) || tt.want != nil && Exists(at.Dir) != there {
				t.Errorf("the branch is there: %t, the worktree: %t", left, Exists(at.Dir))
			}
		})
	}
}

// TestLeaveWhileRecording: a turn that ends meanwhile is recorded. Its fork stays if its changes were not
// recorded yet.
func TestLeaveWhileRecording(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for range gittest.Size(20, 4) {
		l, at := sibling(t)
		c := at.Client()
		c.Prompt("fifth")
		at.Write("c.txt", "more\n")
		recorded := make(chan error, 1)
		c.Hook = func(e replay.Event) {
			_, err := at.TryRecord(e)
			recorded <- err
		}
		go c.Stop("did it")
		_, err := missionstore.Leave(context.Background(), l.Workspace(l.Dir), lab.ForkID, nobody, false)
		if err != nil && !errors.Is(err, missionstore.ErrInUse) {
			t.Fatal(err)
		}
		if e := <-recorded; e != nil {
			t.Fatalf("the turn: %v; leaving the fork: %v", e, err)
		}
		if list := l.List(lab.ForkID); len(list) != 5 || list[4].Files != 1 {
			t.Errorf("leaving the fork: %v; its turns:\n%s", err, lab.Describe(list))
		}
		if Exists(at.Dir) != (err != nil) {
			t.Errorf("the worktree is there: %t, %v", Exists(at.Dir), err)
		}
	}
}

// TestLeaveKilled: what a killed process has left of a worktree goes with the next one, but not what somebody
// has put there since.
func TestLeaveKilled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		killed func(at *lab.Lab)
		want   error // nil if it goes
	}{
		{"before git", func(at *lab.Lab) {}, nil},
		{"in the middle", func(at *lab.Lab) { at.Remove("dir"); at.Remove("kept.txt") }, nil},
		{"in the middle, with a lock of git's", func(at *lab.Lab) {
			at.Remove("kept.txt")
			at.In(at.GitRepo().GitDir).Write("index.lock", "")
		}, nil},
		{"after .git", func(at *lab.Lab) { at.Remove("kept.txt"); at.Remove(".git") }, nil},
		{"in the middle, and a file was written since", func(at *lab.Lab) { at.Remove("dir"); at.Write("new", "new\n") }, missionstore.ErrInUse},
		{"in the middle, and a file was changed since", func(at *lab.Lab) { at.Remove("dir"); at.Write("kept.txt", "new\n") }, missionstore.ErrInUse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "in the middle" {
				gittest.Check(t)
			}
			l, at := sibling(t)
			leaveRemoval(t, l, at)
			tt.killed(at)
			_, err := missionstore.Leave(t.Context(), l.Workspace(l.Dir), lab.ForkID, nobody, false)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Leave: %v, want %v", err, tt.want)
			}
			_, e := l.Try("rev-parse", "--verify", "-q", "refs/heads/agent/mission/f0f0f0f0")
			if stays := err != nil; Exists(at.Dir) != stays || (e == nil) != stays {
				t.Errorf("the worktree is there: %t, the branch: %v", Exists(at.Dir), e)
			}
			if left := l.Git("worktree", "list", "--porcelain"); err == nil && strings.Contains(left, at.Dir) {
				t.Errorf("git knows the worktrees\n%s", left)
			}
			if list := l.List(lab.ForkID); len(list) != 4 {
				t.Errorf("its turns:\n%s", lab.Describe(list))
			}
		})
	}
}

// TestLeaveKilledAtTheEnd: what somebody puts where a worktree was is not what is left of it.
func TestLeaveKilledAtTheEnd(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name   string
		killed func(l, at *lab.Lab)
	}{
		{"after git", func(l, at *lab.Lab) { l.Git("worktree", "remove", "--force", at.Dir) }},
		{"after .git", func(l, at *lab.Lab) { at.Remove("."); at.Write("kept.txt", "kept\n") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, at := sibling(t)
			leaveRemoval(t, l, at)
			tt.killed(l, at)
			at.Write("since", "since\n")
			missionstore.ClearDead(t.Context(), l.Workspace(l.Dir))
			if !Exists(filepath.Join(at.Dir, "since")) {
				t.Error("what was put there since is gone")
			}
		})
	}
}
