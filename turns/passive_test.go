package turns_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A sight is what a user sees of a repository and its worktree.
type sight map[string]string

// look is what the user of a worktree sees. Nothing of it is refreshed by looking.
func (l *lab) look() sight {
	l.t.Helper()
	s := make(sight)
	names := []string{"index", "HEAD", "logs/HEAD", "logs/refs/heads/main", "packed-refs", "config", "config.worktree", "info/exclude", "FETCH_HEAD", "ORIG_HEAD"}
	ask := []string{"rev-parse", "--path-format=absolute"}
	for _, name := range names {
		ask = append(ask, "--git-path", name)
	}
	for i, path := range strings.Split(l.Git(ask...), "\n") {
		name := names[i]
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			l.t.Fatal(err)
		}
		s[name] = string(data)
		if info, err := os.Stat(path); err == nil {
			s[name+", when"] = fmt.Sprint(info.ModTime().UnixNano())
		}
	}
	for _, command := range [][]string{
		{"--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored", "-z"},
		{"--no-optional-locks", "status"},
		{"branch", "-a", "-vv"},
		{"stash", "list"},
		{"reflog", "show", "--format=%H %gd %gs", "HEAD"},
		{"reflog", "show", "--format=%H %gd %gs", "main"},
		{"log", "--format=%H %s", "-5"},
		{"tag", "-l"},
		{"worktree", "list", "--porcelain"},
		{"diff", "--cached", "--raw", "-z"},
		{"for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"},
		{"notes", "list"},
	} {
		out, err := l.Try(command...)
		if err != nil {
			out = "fails"
		}
		s["git "+strings.Join(command, " ")] = out
	}
	return s
}

// same fails the test for everything that looks different now.
func (s sight) same(t testing.TB, now sight) {
	t.Helper()
	for name, was := range s {
		if now[name] != was {
			t.Errorf("%s was\n%.2000q\nis\n%.2000q", name, was, now[name])
		}
	}
}

// mixed makes a worktree with everything in it that one can have.
func (l *lab) mixed() {
	l.t.Helper()
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
	l.remove("unlinked.txt")
	l.Git("mv", "renamed.txt", "new name.txt")
	if err := os.Rename(filepath.Join(l.Dir, "moved.txt"), filepath.Join(l.Dir, "moved elsewhere.txt")); err != nil {
		l.t.Fatal(err)
	}
	l.chmod("mode.txt", 0o755)
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
	l := newLab(t)
	l.mixed()
	c := l.client()
	// What the agent does comes first, so that the turns after it change nothing that status
	// shows.
	l.turn(c, "write", func() {
		l.Write("agents.txt", "the agent's\n")
		l.Write("untracked.txt", "the agent's\n")
		l.Write("staged.txt", "the agent's\n")
	})
	before := l.look()
	turns := gittest.Size(20, 5)
	for i := range turns {
		l.turn(c, fmt.Sprintf("turn %d", i), func() {
			if i%2 == 0 {
				l.Write("agents.txt", fmt.Sprintf("the agent's %d\n", i))
				l.Write("untracked.txt", fmt.Sprintf("the agent's %d\n", i))
				l.Write("staged.txt", fmt.Sprintf("the agent's %d\n", i))
			}
		})
	}
	before.same(t, l.look())
	if n := len(l.list(own(c))); n != turns+1 {
		t.Errorf("%d turns, want %d", n, turns+1)
	}
	l.verify(own(c))
	l.quiet()
	l.fsck()
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
	for name, prepare := range map[string]func(l *lab) *lab{
		"index.lock is held": func(l *lab) *lab { l.Write(".git/index.lock", ""); return l },
		"other locks are held": func(l *lab) *lab {
			for _, name := range []string{"HEAD.lock", "config.lock", "refs/heads/main.lock", "packed-refs.lock", "shallow.lock"} {
				l.Write(".git/"+name, "")
			}
			return l
		},
		"rebase": func(l *lab) *lab {
			l.conflict()
			_, _ = l.Try("rebase", "other")
			return l
		},
		"rebase --apply": func(l *lab) *lab {
			l.conflict()
			_, _ = l.Try("rebase", "--apply", "other")
			return l
		},
		"merge": func(l *lab) *lab {
			l.conflict()
			_, _ = l.Try("merge", "other")
			return l
		},
		"cherry-pick": func(l *lab) *lab {
			l.conflict()
			_, _ = l.Try("cherry-pick", "other")
			return l
		},
		"am": func(l *lab) *lab {
			l.conflict()
			patch := l.Git("format-patch", "-1", "--stdout", "other")
			l.Write(".git/patch", patch+"\n")
			_, _ = l.Try("am", ".git/patch")
			return l
		},
		"bisect":        func(l *lab) *lab { l.Git("bisect", "start"); return l },
		"detached HEAD": func(l *lab) *lab { l.Git("checkout", "-q", "--detach"); return l },
		"unborn branch": func(l *lab) *lab { l.Git("checkout", "-q", "--orphan", "unborn"); return l },
		"linked worktree": func(l *lab) *lab {
			dir := filepath.Join(gittest.TempDir(l.t), "linked")
			l.Git("worktree", "add", "-q", dir)
			return l.at(dir)
		},
		"linked worktree, detached": func(l *lab) *lab {
			dir := filepath.Join(gittest.TempDir(l.t), "linked")
			l.Git("worktree", "add", "-q", "--detach", dir)
			return l.at(dir)
		},
		"linked worktree of a bare repository": func(l *lab) *lab {
			bare := filepath.Join(gittest.TempDir(l.t), "bare.git")
			l.Git("clone", "-q", "--bare", l.Dir, bare)
			dir := filepath.Join(gittest.TempDir(l.t), "linked")
			l.at(bare).Git("worktree", "add", "-q", dir, "main")
			return l.at(dir)
		},
		"clone with alternates": func(l *lab) *lab {
			dir := filepath.Join(gittest.TempDir(l.t), "clone")
			l.Git("clone", "-q", "--shared", l.Dir, dir)
			return l.at(dir)
		},
		"shallow clone": func(l *lab) *lab {
			l.Git("commit", "-q", "--allow-empty", "-m", "second")
			dir := filepath.Join(gittest.TempDir(l.t), "clone")
			l.Git("clone", "-q", "--depth=1", "file://"+l.Dir, dir)
			return l.at(dir)
		},
		"submodule": func(l *lab) *lab {
			inner := newLab(l.t)
			l.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "sub")
			l.Commit("a submodule")
			return l.at(filepath.Join(l.Dir, "sub"))
		},
		"separate git directory": func(l *lab) *lab {
			dir := filepath.Join(gittest.TempDir(l.t), "elsewhere.git")
			l.Git("init", "-q", "--separate-git-dir", dir)
			return l
		},
		"sparse checkout": func(l *lab) *lab { l.Git("sparse-checkout", "set", "dir"); return l },
		"sparse checkout, no cone": func(l *lab) *lab {
			l.Git("sparse-checkout", "set", "--no-cone", "/*", "!/kept.txt")
			return l
		},
		"sparse index":    func(l *lab) *lab { l.Git("sparse-checkout", "set", "--sparse-index", "other-dir"); return l },
		"split index":     func(l *lab) *lab { l.Git("update-index", "--split-index"); return l },
		"untracked cache": func(l *lab) *lab { l.Git("update-index", "--untracked-cache"); return l },
		"index version 4": func(l *lab) *lab { l.Git("update-index", "--index-version", "4"); return l },
		"fsmonitor that fails": func(l *lab) *lab {
			l.Git("config", "core.fsmonitor", "false")
			return l
		},
		"autocrlf": func(l *lab) *lab {
			l.Git("config", "core.autocrlf", "true")
			l.Write("crlf.txt", "one\r\ntwo\r\n")
			return l
		},
		"autocrlf input": func(l *lab) *lab {
			l.Git("config", "core.autocrlf", "input")
			l.Write("crlf.txt", "one\r\ntwo\r\n")
			return l
		},
		"eol attribute": func(l *lab) *lab {
			l.Write(".gitattributes", "*.txt eol=crlf\n")
			l.Write("crlf.txt", "one\r\ntwo\r\n")
			return l
		},
		"filter": func(l *lab) *lab {
			l.Git("config", "filter.upper.clean", "tr a-z A-Z")
			l.Git("config", "filter.upper.smudge", "tr A-Z a-z")
			l.Write(".gitattributes", "*.up filter=upper\n")
			l.Write("tracked.up", "tracked\n")
			l.Commit("a filtered file")
			l.Write("tracked.up", "changed\n")
			l.Write("new.up", "new\n")
			return l
		},
		"executable bits": func(l *lab) *lab { l.chmod("kept.txt", 0o755); l.Write("run", "x\n"); l.chmod("run", 0o755); return l },
		"executable bits do not count": func(l *lab) *lab {
			l.Git("config", "core.fileMode", "false")
			l.chmod("kept.txt", 0o755)
			return l
		},
		"symbolic links": func(l *lab) *lab {
			l.symlink("kept.txt", "link")
			l.symlink("nowhere", "dangling")
			l.symlink("dir", "to-dir")
			l.remove("dir/edited.txt")
			l.symlink("../kept.txt", "dir/edited.txt")
			return l
		},
		"odd names": func(l *lab) *lab {
			for _, name := range []string{"new\nline", "tab\there", "back\\slash", "\"quoted\"", " leading", "trailing ", "-dash", ":(glob)*", "*", "ü", "日本語", "\xff\xfe latin", "\x01control", "a\x7f"} {
				l.Write(name, name)
			}
			l.Commit("odd names")
			for _, name := range []string{"new\nline", "\xff\xfe latin", ":(glob)*"} {
				l.Write(name, "changed")
			}
			l.remove("-dash")
			l.Write("more\nlines\n", "x")
			return l
		},
		"odd directory": func(l *lab) *lab {
			dir := filepath.Join(gittest.TempDir(l.t), "a b\tc'd\"e$f(g)")
			l.Git("worktree", "add", "-q", "--detach", dir)
			return l.at(dir)
		},
		"empty directories": func(l *lab) *lab {
			if err := os.MkdirAll(filepath.Join(l.Dir, "empty/er"), 0o777); err != nil {
				l.t.Fatal(err)
			}
			return l
		},
		"assume unchanged": func(l *lab) *lab { l.Git("update-index", "--assume-unchanged", "kept.txt"); return l },
		"skip worktree": func(l *lab) *lab {
			l.Git("update-index", "--skip-worktree", "kept.txt")
			l.remove("kept.txt")
			return l
		},
		"tracked and ignored": func(l *lab) *lab {
			l.Write("t.ignored", "1\n")
			l.Git("add", "-f", "t.ignored")
			l.Git("commit", "-q", "-m", "tracked all the same")
			l.Write("t.ignored", "2\n")
			return l
		},
		"no identity": func(l *lab) *lab {
			l.Git("config", "user.useConfigOnly", "true")
			return l
		},
		"status settings of the user's": func(l *lab) *lab {
			l.Git("config", "status.showUntrackedFiles", "no")
			l.Git("config", "status.relativePaths", "false")
			l.Git("config", "core.quotePath", "false")
			l.Git("config", "core.untrackedCache", "false")
			l.Git("config", "diff.noprefix", "true")
			l.Git("config", "color.ui", "always")
			l.Git("config", "log.showSignature", "true")
			return l
		},
		"reflogs of everything": func(l *lab) *lab { l.Git("config", "core.logAllRefUpdates", "always"); return l },
		"worktree configuration": func(l *lab) *lab {
			l.Git("config", "extensions.worktreeConfig", "true")
			l.Git("config", "--worktree", "core.autocrlf", "false")
			return l
		},
		"packed": func(l *lab) *lab { l.Git("gc", "-q", "--prune=now"); l.Git("pack-refs", "--all"); return l },
		"replaced objects": func(l *lab) *lab {
			l.Git("commit", "-q", "--allow-empty", "-m", "replacement")
			l.Git("replace", "HEAD^", "HEAD")
			l.Git("replace", "-d", l.Git("rev-parse", "HEAD^"))
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := prepare(newLab(t))
			c := l.client()
			first := l.turn(c, "first", l.write("agents.txt", "1\n"))
			before := l.look()
			wants := []want{first, l.turn(c, "two", l.write("agents.txt", "2\n")), l.turn(c, "talk", nil), l.turn(c, "four", l.write("agents.txt", "4\n"))}
			before.same(t, l.look())
			l.check(own(c), wants...)
			l.quiet()
			l.fsck()
		})
	}
}

// conflict makes a branch that conflicts with main.
func (l *lab) conflict() {
	l.t.Helper()
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
	l := newLab(t)
	c := l.client()
	c.Cwd = filepath.Join(l.Dir, "dir")
	a := l.turn(c, "one", l.write("top.txt", "1\n"))
	c.Cwd = l.Dir
	l.check(own(c), a, l.turn(c, "two", l.write("dir/deep.txt", "2\n")))
}

// TestOperationsBetweenTurns: what the user's git does to the worktree and to the objects between
// two turns of a passive mission.
func TestOperationsBetweenTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, do := range map[string]func(l *lab){
		"gc --prune=now":         func(l *lab) { l.Git("gc", "-q", "--prune=now") },
		"gc, reflogs expired":    func(l *lab) { l.Git("reflog", "expire", "--expire=now", "--all"); l.Git("gc", "-q", "--prune=now") },
		"repack, prune-packed":   func(l *lab) { l.Git("repack", "-a", "-d", "-q"); l.Git("prune-packed", "-q") },
		"commit":                 func(l *lab) { l.Commit("all") },
		"reset --hard":           func(l *lab) { l.Git("reset", "-q", "--hard") },
		"clean":                  func(l *lab) { l.Git("clean", "-q", "-d", "-f", "-x") },
		"stash -u":               func(l *lab) { l.Git("stash", "-q", "-u") },
		"sparse-checkout":        func(l *lab) { l.Git("sparse-checkout", "set", "dir") },
		"sparse and full again":  func(l *lab) { l.Git("sparse-checkout", "set", "dir"); l.Git("sparse-checkout", "disable") },
		"switch":                 func(l *lab) { l.Git("stash", "-q", "-u"); l.Git("checkout", "-q", "-b", "other", "HEAD~1") },
		"index removed":          func(l *lab) { l.remove(".git/index") },
		"index read anew":        func(l *lab) { l.Git("read-tree", "HEAD") },
		"same size, same second": func(l *lab) { l.Write("agents.txt", "x\n") },
		"attributes":             func(l *lab) { l.Write(".gitattributes", "*.txt text eol=crlf\n") },
		"ignore rules":           func(l *lab) { l.Write(".gitignore", "agents.txt\n") },
		"worktree moved": func(l *lab) {
			to := l.Dir + "-moved"
			if err := os.Rename(l.Dir, to); err != nil {
				l.t.Fatal(err)
			}
			l.Repo = l.In(to)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := newLab(t)
			l.Write("second.txt", "second\n")
			l.Commit("second")
			c := l.client()
			a := l.turn(c, "one", l.write("agents.txt", "1\n"))
			b := l.turn(c, "two", l.write("agents.txt", "2\n"))
			do(l)
			c.Cwd = l.Dir
			d := l.turn(c, "three", l.write("three.txt", "3\n"))
			e := l.turn(c, "four", l.write("four.txt", "4\n"))
			l.check(own(c), a, b, d, e)
			l.quiet()
			l.fsck()
		})
	}
}

// TestGarbageInMidTurn: the state that a turn began with is collected before the turn ends.
func TestGarbageInMidTurn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	l.Write("users.txt", "the user's\n")
	c := l.client()
	c.Prompt("one")
	l.Git("gc", "-q", "--prune=now")
	l.Write("one.txt", "1\n")
	c.Stop("done")
	l.check(own(c), want{prompt: "one", tree: l.tree()}, l.turn(c, "two", nil))
	l.fsck()
}

// TestWhileCommitting: the agent's event comes while the user's git runs one of the user's hooks,
// with git's environment and locks.
func TestWhileCommitting(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	a := l.turn(c, "one", l.write("agents.txt", "1\n"))
	var b want
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
	l.chmod("../editor", 0o755)
	commit := exec.Command("git", "-c", "core.editor="+filepath.Join(filepath.Dir(l.Dir), "editor"), "commit", "-q")
	commit.Dir, commit.Env = l.Dir, l.Env
	if err := commit.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(ready); err != nil {
		t.Fatal(err)
	}
	b = l.turn(c, "two", l.write("agents.txt", "2\n"))
	if err := os.WriteFile(done, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := commit.Wait(); err != nil {
		t.Errorf("the user's commit: %v", err)
	}
	if names := l.Git("show", "--format=", "--name-only", "HEAD"); names != "users.txt" {
		t.Errorf("the user's commit has %q", names)
	}
	l.check(own(c), a, b, l.turn(c, "three", nil))
	l.fsck()
}
