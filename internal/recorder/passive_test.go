package recorder_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// mixed makes a worktree with everything in it that one can have.
func mixed(l *lab.Lab) {
	l.T.Helper()
	for _, name := range []string{"staged", "unstaged", "both", "removed", "unlinked", "renamed", "moved", "mode"} {
		l.Write(name+".txt", name+"\n")
	}
	l.Commit("a few files")
	l.Write("staged.txt", "staged now\n")
	l.Git("add", "staged.txt")
	l.Write("unstaged.txt", "unstaged now\n")
	l.Write("both.txt", "staged now\n")
	l.Git("add", "both.txt")
	l.Write("both.txt", "unstaged now\n")
	l.Git("rm", "-q", "removed.txt")
	l.Remove("unlinked.txt")
	l.Git("mv", "renamed.txt", "new name.txt")
	gittest.Must(l.T, os.Rename(filepath.Join(l.Dir, "moved.txt"), filepath.Join(l.Dir, "moved elsewhere.txt")))
	l.Chmod("mode.txt", 0o755)
	l.Write("untracked.txt", "untracked\n")
	l.Write("untracked/deep/down.txt", "untracked\n")
	l.Write("an.ignored", "ignored\n")
	l.Write("added.txt", "")
	l.Git("add", "-N", "added.txt")
}

// TestPassiveIsInvisible: after many turns the user sees nothing of them but the files that the agent
// wrote.
func TestPassiveIsInvisible(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	mixed(l)
	c := l.Client()
	// What the agent does comes first, so that the turns after it change nothing that status
	// shows.
	l.Turn(c, "write", func() {
		l.Write("agents.txt", "the agent's\n")
		l.Write("untracked.txt", "the agent's\n")
		l.Write("staged.txt", "the agent's\n")
	})
	before := l.Look()
	turns := gittest.Size(20, 5)
	for i := range turns {
		l.Turn(c, fmt.Sprintf("turn %d", i), func() {
			if i%2 == 0 {
				l.Write("agents.txt", fmt.Sprintf("the agent's %d\n", i))
				l.Write("untracked.txt", fmt.Sprintf("the agent's %d\n", i))
				l.Write("staged.txt", fmt.Sprintf("the agent's %d\n", i))
			}
		})
	}
	before.Same(t, l.Look())
	if n := len(l.List(lab.Own(c))); n != turns+1 {
		t.Errorf("%d turns, want %d", n, turns+1)
	}
	l.Verify(lab.Own(c))
	l.Quiet()
	l.Fsck()
	l.Git("commit", "-q", "-m", "what was staged")
	if names := l.Git("show", "--format=", "--name-only", "HEAD"); names != "both.txt\nnew name.txt\nremoved.txt\nrenamed.txt\nstaged.txt" && names != "both.txt\nnew name.txt\nremoved.txt\nstaged.txt" {
		t.Errorf("the user's commit has\n%s", names)
	}
}

// TestPassivePlaces: recording works in whatever state a worktree is, changes nothing of it, and
// takes all of it.
func TestPassivePlaces(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, prepare := range map[string]func(l *lab.Lab) *lab.Lab{
		"index.lock is held": func(l *lab.Lab) *lab.Lab { l.Write(".git/index.lock", ""); return l },
		"other locks are held": func(l *lab.Lab) *lab.Lab {
			for _, name := range []string{"HEAD.lock", "config.lock", "refs/heads/main.lock", "packed-refs.lock", "shallow.lock"} {
				l.Write(".git/"+name, "")
			}
			return l
		},
		"rebase": func(l *lab.Lab) *lab.Lab {
			conflict(l)
			_, _ = l.Try("rebase", "other")
			return l
		},
		"rebase --apply": func(l *lab.Lab) *lab.Lab {
			conflict(l)
			_, _ = l.Try("rebase", "--apply", "other")
			return l
		},
		"merge": func(l *lab.Lab) *lab.Lab {
			conflict(l)
			_, _ = l.Try("merge", "other")
			return l
		},
		"cherry-pick": func(l *lab.Lab) *lab.Lab {
			conflict(l)
			_, _ = l.Try("cherry-pick", "other")
			return l
		},
		"am": func(l *lab.Lab) *lab.Lab {
			conflict(l)
			patch := l.Git("format-patch", "-1", "--stdout", "other")
			l.Write(".git/patch", patch+"\n")
			_, _ = l.Try("am", ".git/patch")
			return l
		},
		"bisect":        func(l *lab.Lab) *lab.Lab { l.Git("bisect", "start"); return l },
		"detached HEAD": func(l *lab.Lab) *lab.Lab { l.Git("checkout", "-q", "--detach"); return l },
		"unborn branch": func(l *lab.Lab) *lab.Lab { l.Git("checkout", "-q", "--orphan", "unborn"); return l },
		"linked worktree": func(l *lab.Lab) *lab.Lab {
			dir := filepath.Join(gittest.TempDir(l.T), "linked")
			l.Git("worktree", "add", "-q", dir)
			return l.At(dir)
		},
		"linked worktree, detached": func(l *lab.Lab) *lab.Lab {
			dir := filepath.Join(gittest.TempDir(l.T), "linked")
			l.Git("worktree", "add", "-q", "--detach", dir)
			return l.At(dir)
		},
		"linked worktree of a bare repository": func(l *lab.Lab) *lab.Lab {
			bare := filepath.Join(gittest.TempDir(l.T), "bare.git")
			l.Git("clone", "-q", "--bare", l.Dir, bare)
			dir := filepath.Join(gittest.TempDir(l.T), "linked")
			l.At(bare).Git("worktree", "add", "-q", dir, "main")
			return l.At(dir)
		},
		"clone with alternates": func(l *lab.Lab) *lab.Lab {
			dir := filepath.Join(gittest.TempDir(l.T), "clone")
			l.Git("clone", "-q", "--shared", l.Dir, dir)
			return l.At(dir)
		},
		"shallow clone": func(l *lab.Lab) *lab.Lab {
			l.Git("commit", "-q", "--allow-empty", "-m", "second")
			dir := filepath.Join(gittest.TempDir(l.T), "clone")
			l.Git("clone", "-q", "--depth=1", "file://"+l.Dir, dir)
			return l.At(dir)
		},
		"submodule": func(l *lab.Lab) *lab.Lab {
			inner := lab.New(l.T)
			l.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "sub")
			l.Commit("a submodule")
			return l.At(filepath.Join(l.Dir, "sub"))
		},
		"separate git directory": func(l *lab.Lab) *lab.Lab {
			dir := filepath.Join(gittest.TempDir(l.T), "elsewhere.git")
			l.Git("init", "-q", "--separate-git-dir", dir)
			return l
		},
		"sparse checkout": func(l *lab.Lab) *lab.Lab { l.Git("sparse-checkout", "set", "dir"); return l },
		"sparse checkout, no cone": func(l *lab.Lab) *lab.Lab {
			l.Git("sparse-checkout", "set", "--no-cone", "/*", "!/kept.txt")
			return l
		},
		"sparse index":    func(l *lab.Lab) *lab.Lab { l.Git("sparse-checkout", "set", "--sparse-index", "other-dir"); return l },
		"split index":     func(l *lab.Lab) *lab.Lab { l.Git("update-index", "--split-index"); return l },
		"untracked cache": func(l *lab.Lab) *lab.Lab { l.Git("update-index", "--untracked-cache"); return l },
		"index version 4": func(l *lab.Lab) *lab.Lab { l.Git("update-index", "--index-version", "4"); return l },
		"fsmonitor that fails": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "core.fsmonitor", "false")
			return l
		},
		"autocrlf": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "core.autocrlf", "true")
			l.Write("crlf.txt", "one\r\ntwo\r\n")
			return l
		},
		"autocrlf input": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "core.autocrlf", "input")
			l.Write("crlf.txt", "one\r\ntwo\r\n")
			return l
		},
		"eol attribute": func(l *lab.Lab) *lab.Lab {
			l.Write(".gitattributes", "*.txt eol=crlf\n")
			l.Write("crlf.txt", "one\r\ntwo\r\n")
			return l
		},
		"filter": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "filter.upper.clean", "tr a-z A-Z")
			l.Git("config", "filter.upper.smudge", "tr A-Z a-z")
			l.Write(".gitattributes", "*.up filter=upper\n")
			l.Write("tracked.up", "tracked\n")
			l.Commit("a filtered file")
			l.Write("tracked.up", "changed\n")
			l.Write("new.up", "new\n")
			return l
		},
		"executable bits": func(l *lab.Lab) *lab.Lab {
			l.Chmod("kept.txt", 0o755)
			l.Write("run", "x\n")
			l.Chmod("run", 0o755)
			return l
		},
		"executable bits do not count": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "core.fileMode", "false")
			l.Chmod("kept.txt", 0o755)
			return l
		},
		"symbolic links": func(l *lab.Lab) *lab.Lab {
			l.Symlink("kept.txt", "link")
			l.Symlink("nowhere", "dangling")
			l.Symlink("dir", "to-dir")
			l.Remove("dir/edited.txt")
			l.Symlink("../kept.txt", "dir/edited.txt")
			return l
		},
		"odd names": func(l *lab.Lab) *lab.Lab {
			for _, name := range []string{"new\nline", "tab\there", "back\\slash", "\"quoted\"", " leading", "trailing ", "-dash", ":(glob)*", "*", "ü", "日本語", "\xff\xfe latin", "\x01control", "a\x7f"} {
				l.Write(name, name)
			}
			l.Commit("odd names")
			for _, name := range []string{"new\nline", "\xff\xfe latin", ":(glob)*"} {
				l.Write(name, "changed")
			}
			l.Remove("-dash")
			l.Write("more\nlines\n", "x")
			return l
		},
		"odd directory": func(l *lab.Lab) *lab.Lab {
			dir := filepath.Join(gittest.TempDir(l.T), "a b\tc'd\"e$f(g)")
			l.Git("worktree", "add", "-q", "--detach", dir)
			return l.At(dir)
		},
		"empty directories": func(l *lab.Lab) *lab.Lab {
			gittest.Must(l.T, os.MkdirAll(filepath.Join(l.Dir, "empty/er"), 0o777))
			return l
		},
		"assume unchanged": func(l *lab.Lab) *lab.Lab { l.Git("update-index", "--assume-unchanged", "kept.txt"); return l },
		"skip worktree": func(l *lab.Lab) *lab.Lab {
			l.Git("update-index", "--skip-worktree", "kept.txt")
			l.Remove("kept.txt")
			return l
		},
		"tracked and ignored": func(l *lab.Lab) *lab.Lab {
			l.Write("t.ignored", "1\n")
			l.Git("add", "-f", "t.ignored")
			l.Git("commit", "-q", "-m", "tracked all the same")
			l.Write("t.ignored", "2\n")
			return l
		},
		"no identity": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "user.useConfigOnly", "true")
			return l
		},
		"status settings of the user's": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "status.showUntrackedFiles", "no")
			l.Git("config", "status.relativePaths", "false")
			l.Git("config", "core.quotePath", "false")
			l.Git("config", "core.untrackedCache", "false")
			l.Git("config", "diff.noprefix", "true")
			l.Git("config", "color.ui", "always")
			l.Git("config", "log.showSignature", "true")
			return l
		},
		"reflogs of everything": func(l *lab.Lab) *lab.Lab { l.Git("config", "core.logAllRefUpdates", "always"); return l },
		"worktree configuration": func(l *lab.Lab) *lab.Lab {
			l.Git("config", "extensions.worktreeConfig", "true")
			l.Git("config", "--worktree", "core.autocrlf", "false")
			return l
		},
		"packed": func(l *lab.Lab) *lab.Lab { l.Git("gc", "-q", "--prune=now"); l.Git("pack-refs", "--all"); return l },
		"replaced objects": func(l *lab.Lab) *lab.Lab {
			l.Git("commit", "-q", "--allow-empty", "-m", "replacement")
			l.Git("replace", "HEAD^", "HEAD")
			l.Git("replace", "-d", l.Git("rev-parse", "HEAD^"))
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := prepare(lab.New(t))
			c := l.Client()
			first := l.Turn(c, "first", l.Writes("agents.txt", "1\n"))
			before := l.Look()
			wants := []lab.Want{first, l.Turn(c, "two", l.Writes("agents.txt", "2\n")), l.Turn(c, "talk", nil), l.Turn(c, "four", l.Writes("agents.txt", "4\n"))}
			before.Same(t, l.Look())
			l.Check(lab.Own(c), wants...)
			l.Quiet()
			l.Fsck()
		})
	}
}

// conflict makes a branch that conflicts with main.
func conflict(l *lab.Lab) {
	l.T.Helper()
	l.Git("checkout", "-q", "-b", "other")
	l.Write("kept.txt", "theirs\n")
	l.Commit("theirs")
	l.Git("checkout", "-q", "main")
	l.Write("kept.txt", "ours\n")
	l.Commit("ours")
}

// TestFromSubdirectory: the agent has changed into a directory of the worktree, or out of it and
// back.
func TestFromSubdirectory(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Cwd = filepath.Join(l.Dir, "dir")
	a := l.Turn(c, "one", l.Writes("top.txt", "1\n"))
	c.Cwd = l.Dir
	l.Check(lab.Own(c), a, l.Turn(c, "two", l.Writes("dir/deep.txt", "2\n")))
}

// TestOperationsBetweenTurns: what the user's git does to the worktree and to the objects between
// two turns of a passive mission.
func TestOperationsBetweenTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, do := range map[string]func(l *lab.Lab){
		"gc --prune=now":         func(l *lab.Lab) { l.Git("gc", "-q", "--prune=now") },
		"gc, reflogs expired":    func(l *lab.Lab) { l.Git("reflog", "expire", "--expire=now", "--all"); l.Git("gc", "-q", "--prune=now") },
		"repack, prune-packed":   func(l *lab.Lab) { l.Git("repack", "-a", "-d", "-q"); l.Git("prune-packed", "-q") },
		"commit":                 func(l *lab.Lab) { l.Commit("all") },
		"reset --hard":           func(l *lab.Lab) { l.Git("reset", "-q", "--hard") },
		"clean":                  func(l *lab.Lab) { l.Git("clean", "-q", "-d", "-f", "-x") },
		"stash -u":               func(l *lab.Lab) { l.Git("stash", "-q", "-u") },
		"sparse-checkout":        func(l *lab.Lab) { l.Git("sparse-checkout", "set", "dir") },
		"sparse and full again":  func(l *lab.Lab) { l.Git("sparse-checkout", "set", "dir"); l.Git("sparse-checkout", "disable") },
		"switch":                 func(l *lab.Lab) { l.Git("stash", "-q", "-u"); l.Git("checkout", "-q", "-b", "other", "HEAD~1") },
		"index removed":          func(l *lab.Lab) { l.Remove(".git/index") },
		"index read anew":        func(l *lab.Lab) { l.Git("read-tree", "HEAD") },
		"same size, same second": func(l *lab.Lab) { l.Write("agents.txt", "x\n") },
		"attributes":             func(l *lab.Lab) { l.Write(".gitattributes", "*.txt text eol=crlf\n") },
		"ignore rules":           func(l *lab.Lab) { l.Write(".gitignore", "agents.txt\n") },
		"worktree moved": func(l *lab.Lab) {
			to := l.Dir + "-moved"
			gittest.Must(l.T, os.Rename(l.Dir, to))
			l.Repo = l.In(to)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := lab.New(t)
			l.Write("second.txt", "second\n")
			l.Commit("second")
			c := l.Client()
			a := l.Turn(c, "one", l.Writes("agents.txt", "1\n"))
			b := l.Turn(c, "two", l.Writes("agents.txt", "2\n"))
			do(l)
			c.Cwd = l.Dir
			d := l.Turn(c, "three", l.Writes("three.txt", "3\n"))
			e := l.Turn(c, "four", l.Writes("four.txt", "4\n"))
			l.Check(lab.Own(c), a, b, d, e)
			l.Quiet()
			l.Fsck()
		})
	}
}

// TestGarbageInMidTurn: the state that a turn began with is collected before the turn ends.
func TestGarbageInMidTurn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Write("users.txt", "the user's\n")
	c := l.Client()
	c.Prompt("one")
	l.Git("gc", "-q", "--prune=now")
	l.Write("one.txt", "1\n")
	c.Stop("done")
	l.Check(lab.Own(c), lab.Want{Prompt: "one", Tree: l.Tree()}, l.Turn(c, "two", nil))
	l.Fsck()
}

// TestWhileCommitting: the agent's event comes while the user's git runs one of the user's hooks,
// with git's environment and locks.
func TestWhileCommitting(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("agents.txt", "1\n"))
	var b lab.Want
	l.Write("users.txt", "the user's\n")
	l.Git("add", "users.txt")
	// A commit whose editor is the moment of our turn.
	ready, done := filepath.Join(gittest.TempDir(t), "ready"), filepath.Join(gittest.TempDir(t), "done")
	for _, fifo := range []string{ready, done} {
		if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
			t.Fatalf("mkfifo: %v: %s", err, out)
		}
	}
	l.Write("../editor", "#!/bin/sh\necho >"+ready+"\nread x <"+done+"\necho message >\"$1\"\n")
	l.Chmod("../editor", 0o755)
	commit := exec.Command("git", "-c", "core.editor="+filepath.Join(filepath.Dir(l.Dir), "editor"), "commit", "-q")
	commit.Dir, commit.Env = l.Dir, l.Env
	gittest.Must(t, commit.Start())
	if _, err := os.ReadFile(ready); err != nil {
		t.Fatal(err)
	}
	b = l.Turn(c, "two", l.Writes("agents.txt", "2\n"))
	gittest.Must(t, os.WriteFile(done, []byte("\n"), 0))
	if err := commit.Wait(); err != nil {
		t.Errorf("the user's commit: %v", err)
	}
	if names := l.Git("show", "--format=", "--name-only", "HEAD"); names != "users.txt" {
		t.Errorf("the user's commit has %q", names)
	}
	l.Check(lab.Own(c), a, b, l.Turn(c, "three", nil))
	l.Fsck()
}
