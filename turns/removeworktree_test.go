package turns_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitagent/internal/lock"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// nobody says that no session lives.
func nobody(context.Context) ([]turns.Live, error) { return nil, nil }

// sibling is a lab with a fork, in which a turn has changed something, and the fork's own lab.
func sibling(t *testing.T) (l, at *lab) {
	t.Helper()
	l = newLab(t)
	_, source := l.three()
	f := l.forkOf(source[2])
	l.fork(f)
	at = l.at(f.Worktree)
	at.turn(at.client(), "fourth", at.write("c.txt", "c\n"))
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
		at.chmod(dir, 0o555)
	}
	before := l.list(forkID)
	r := l.recorder(l.Dir)
	dry, err := r.Leave(t.Context(), forkID, nobody, true)
	if err != nil || !exists(at.Dir) {
		t.Fatalf("dry: %+v, %v", dry, err)
	}
	gone, err := r.Leave(t.Context(), forkID, nobody, false)
	if err != nil || !reflect.DeepEqual(gone, dry) || gone.Branch != "agent/mission/f0f0f0f0" || gone.Worktree != at.Dir {
		t.Fatalf("Leave: %+v, %v, dry it was %+v", gone, err, dry)
	}
	if out, err := l.Try("rev-parse", "--verify", "-q", "refs/heads/"+gone.Branch); err == nil || exists(at.Dir) {
		t.Errorf("the branch is at %s, the worktree is there: %t", out, exists(at.Dir))
	}
	if after := l.list(forkID); describe(after) != describe(before) {
		t.Errorf("the turns were\n%s, and are\n%s", describe(before), describe(after))
	}
	f := l.forkOf(before[3])
	f.ID = "f1f1f1f1"
	l.fork(f)
	if gone, err = r.Leave(t.Context(), forkID, nobody, false); err != nil || gone.Branch != "" {
		t.Errorf("again: %+v, %v", gone, err)
	}
	l.fsck()
}

// Nothing goes that is nowhere else, or that somebody works on.
func TestLeaveKeeps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		arrange func(l, at *lab)
		live    []turns.Live
		want    error // nil if it goes
	}{
		{"a change", func(l, at *lab) { at.Write("kept.txt", "changed\n") }, nil, turns.ErrInUse},
		{"a new file", func(l, at *lab) { at.Write("new", "new\n") }, nil, turns.ErrInUse},
		{"a deleted file", func(l, at *lab) { at.remove("kept.txt") }, nil, turns.ErrInUse},
		{"a change that git does not look at", func(l, at *lab) {
			at.Git("update-index", "--assume-unchanged", "kept.txt")
			at.Write("kept.txt", "changed\n")
		}, nil, turns.ErrInUse},
		{"a link in place of a file that git does not look at", func(l, at *lab) {
			at.Git("update-index", "--assume-unchanged", "kept.txt")
			at.remove("kept.txt")
			if err := os.Symlink("elsewhere", filepath.Join(at.Dir, "kept.txt")); err != nil {
				l.t.Fatal(err)
			}
		}, nil, turns.ErrInUse},
		{"one in a file out of a sparse checkout", func(l, at *lab) {
			at.Git("update-index", "--skip-worktree", "kept.txt")
			at.Write("kept.txt", "changed\n")
		}, nil, turns.ErrInUse},
		{"a file that git does not look at", func(l, at *lab) {
			at.Git("update-index", "--skip-worktree", "kept.txt", "dir/edited.txt")
			at.remove("dir")
		}, nil, nil},
		{"a commit", func(l, at *lab) {
			at.Write("kept.txt", "mine\n")
			at.Commit("mine")
		}, nil, turns.ErrUnmerged},
		{"a commit that another branch has", func(l, at *lab) {
			at.Write("kept.txt", "mine\n")
			at.Commit("mine")
			l.Git("branch", "-q", "copy", "agent/mission/f0f0f0f0")
		}, nil, nil},
		{"a commit that was picked", func(l, at *lab) {
			at.Write("kept.txt", "mine\n")
			at.Commit("mine")
			l.Git("stash", "-q", "-u")
			l.Git("cherry-pick", "agent/mission/f0f0f0f0")
		}, nil, nil},
		{"a worktree in an ignored directory", func(l, at *lab) {
			at.Git("worktree", "add", "-q", "--detach", at.Dir+"/nested.ignored/other")
		}, nil, turns.ErrInUse},
		{"a repository in an ignored directory", func(l, at *lab) { l.Git("clone", "-q", ".", at.Dir+"/clone.ignored") }, nil, turns.ErrInUse},
		{"locked", func(l, at *lab) { l.Git("worktree", "lock", at.Dir) }, nil, turns.ErrInUse},
		{"a bisect", func(l, at *lab) { at.Git("bisect", "start") }, nil, turns.ErrInUse},
		{"a bisect that has gone elsewhere", func(l, at *lab) {
			at.Git("bisect", "start", "HEAD", "HEAD~1")
			at.Git("switch", "-q", "--detach", "HEAD")
		}, nil, turns.ErrInUse},
		{"a rebase", func(l, at *lab) {
			at.Write("kept.txt", "theirs\n")
			at.Commit("theirs")
			l.Write("kept.txt", "ours\n")
			l.Git("commit", "-q", "-m", "ours", "kept.txt")
			_, _ = at.Try("rebase", "main")
		}, nil, turns.ErrInUse},
		{"a turn that runs", func(l, at *lab) {}, []turns.Live{{Mission: forkID, Number: 5, Open: &session.OpenTurn{}}}, turns.ErrAtWork},
		{
			"a turn of another mission that runs there", func(l, at *lab) {},
			[]turns.Live{{Mission: "a1b2c3d4", Number: 5, Worktree: "there", Open: &session.OpenTurn{}}},
			turns.ErrAtWork,
		},
		{"an agent that waits", func(l, at *lab) {}, []turns.Live{{Mission: forkID, Number: 5}}, turns.ErrAtWork},
		{"an agent elsewhere", func(l, at *lab) {}, []turns.Live{{Mission: "a1b2c3d4", Number: 5, Worktree: "elsewhere", Open: &session.OpenTurn{}}}, nil},
		{"the present worktree", func(l, at *lab) { *l = *at }, nil, turns.ErrInUse},
		{"a submodule", func(l, at *lab) {
			at.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", l.Dir, "module")
			at.Git("commit", "-q", "-m", "module")
			l.Git("branch", "-q", "copy", "agent/mission/f0f0f0f0")
		}, nil, turns.ErrInUse},
		{"a stranger's", func(l, at *lab) { l.plant(forkID, map[string]string{"turns/0000/000004.json": "{}\n"}) }, nil, workspace.ErrUntrusted},
		{"without a directory", func(l, at *lab) {
			if err := os.RemoveAll(at.Dir); err != nil {
				l.t.Fatal(err)
			}
		}, nil, nil},
		{"checked out nowhere", func(l, at *lab) { at.Git("switch", "-q", "--detach") }, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "a bisect that has gone elsewhere" && tt.name != "a turn of another mission that runs there" {
				gittest.Check(t)
			}
			l, at := sibling(t)
			for i := range tt.live {
				if tt.live[i].Worktree == "there" {
					tt.live[i].Worktree = at.repo().GitDir
				}
			}
			tt.arrange(l, at)
			there := exists(at.Dir)
			live := func(context.Context) ([]turns.Live, error) { return tt.live, nil }
			for _, dry := range []bool{true, false} {
				_, err := l.recorder(l.Dir).Leave(t.Context(), forkID, live, dry)
				if !dry || tt.name != "a submodule" { // git alone knows
					if !errors.Is(err, tt.want) {
						t.Fatalf("Leave (dry %t): %v, want %v", dry, err, tt.want)
					}
				}
			}
			_, err := l.Try("rev-parse", "--verify", "-q", "refs/heads/agent/mission/f0f0f0f0")
			if left := err == nil; left != (tt.want != nil) || tt.want != nil && exists(at.Dir) != there {
				t.Errorf("the branch is there: %t, the worktree: %t", left, exists(at.Dir))
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
		c := at.client()
		c.Prompt("fifth")
		at.Write("c.txt", "more\n")
		recorded := make(chan error, 1)
		c.Hook = func(e replay.Event) {
			_, err := at.try(e)
			recorded <- err
		}
		go c.Stop("did it")
		_, err := l.recorder(l.Dir).Leave(context.Background(), forkID, nobody, false)
		if err != nil && !errors.Is(err, turns.ErrInUse) {
			t.Fatal(err)
		}
		if e := <-recorded; e != nil {
			t.Fatalf("the turn: %v; leaving the fork: %v", e, err)
		}
		if list := l.list(forkID); len(list) != 5 || list[4].Files != 1 {
			t.Errorf("leaving the fork: %v; its turns:\n%s", err, describe(list))
		}
		if exists(at.Dir) != (err != nil) {
			t.Errorf("the worktree is there: %t, %v", exists(at.Dir), err)
		}
	}
}

// TestLeaveKilled: what a killed process has left of a worktree goes with the next one, but not what somebody
// has put there since.
func TestLeaveKilled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		killed func(at *lab)
		want   error // nil if it goes
	}{
		{"before git", func(at *lab) {}, nil},
		{"in the middle", func(at *lab) { at.remove("dir"); at.remove("kept.txt") }, nil},
		{"in the middle, with a lock of git's", func(at *lab) {
			at.remove("kept.txt")
			at.In(at.repo().GitDir).Write("index.lock", "")
		}, nil},
		{"after .git", func(at *lab) { at.remove("kept.txt"); at.remove(".git") }, nil},
		{"in the middle, and a file was written since", func(at *lab) { at.remove("dir"); at.Write("new", "new\n") }, turns.ErrInUse},
		{"in the middle, and a file was changed since", func(at *lab) { at.remove("dir"); at.Write("kept.txt", "new\n") }, turns.ErrInUse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "in the middle" {
				gittest.Check(t)
			}
			l, at := sibling(t)
			gitDir := at.repo().GitDir
			held, err := lock.Take(t.Context(), statedir.In(filepath.Join(l.Dir, ".git"), "agent"), filepath.Join("planting", "remove-"+filepath.Base(gitDir)))
			if err == nil {
				err = held.Note(lock.Note{At: time.Now(), Words: []string{at.Dir, gitDir + "/"}})
			}
			if err != nil {
				t.Fatal(err)
			}
			held.Release()
			tt.killed(at)
			_, err = l.recorder(l.Dir).Leave(t.Context(), forkID, nobody, false)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Leave: %v, want %v", err, tt.want)
			}
			_, e := l.Try("rev-parse", "--verify", "-q", "refs/heads/agent/mission/f0f0f0f0")
			if stays := err != nil; exists(at.Dir) != stays || (e == nil) != stays {
				t.Errorf("the worktree is there: %t, the branch: %v", exists(at.Dir), e)
			}
			if left := l.Git("worktree", "list", "--porcelain"); err == nil && strings.Contains(left, at.Dir) {
				t.Errorf("git knows the worktrees\n%s", left)
			}
			if list := l.list(forkID); len(list) != 4 {
				t.Errorf("its turns:\n%s", describe(list))
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
		killed func(l, at *lab)
	}{
		{"after git", func(l, at *lab) { l.Git("worktree", "remove", "--force", at.Dir) }},
		{"after .git", func(l, at *lab) { at.remove("."); at.Write("kept.txt", "kept\n") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, at := sibling(t)
			gitDir := at.repo().GitDir
			held, err := lock.Take(t.Context(), statedir.In(filepath.Join(l.Dir, ".git"), "agent"), filepath.Join("planting", "remove-"+filepath.Base(gitDir)))
			if err == nil {
				err = held.Note(lock.Note{At: time.Now(), Words: []string{at.Dir, gitDir + "/"}})
			}
			if err != nil {
				t.Fatal(err)
			}
			held.Release()
			tt.killed(l, at)
			at.Write("since", "since\n")
			l.recorder(l.Dir).ClearDead(t.Context())
			if !exists(filepath.Join(at.Dir, "since")) {
				t.Error("what was put there since is gone")
			}
		})
	}
}
