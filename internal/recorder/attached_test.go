package recorder_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

func TestAttached(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	first := l.Git("rev-parse", "HEAD")
	id := record.ID("a1b2c3d4")
	m := l.Begin(missionstore.Beginning{ID: id, Title: "fix the login\x1b[31m\nand more", At: time.Now()})
	if m.Branch != "refs/heads/agent/mission/a1b2c3d4" || m.Base != first || strings.ContainsAny(m.Title, "\x1b\n") {
		t.Errorf("the mission is %+v", m)
	}
	if got := mission(l, id); got.ID != id || got.Branch != m.Branch || got.Title != m.Title {
		t.Errorf("mission.json says %+v", got)
	}
	c := l.Client()
	var wants []lab.Want
	for _, step := range []struct {
		prompt string
		work   func()
	}{
		{"add", l.Writes("new.txt", "new\n")},
		{"talk", nil},
		{"edit", l.Writes("kept.txt", "edited\n")},
		{"remove", func() { l.Remove("kept.txt") }},
		{"rename", func() { l.Git("mv", "new.txt", "renamed.txt") }},
		{"stage a part", func() {
			l.Write("dir/edited.txt", "1\n2\n3\n")
			l.Git("add", "dir/edited.txt")
			l.Write("dir/edited.txt", "1\n2\n3\n4\n")
		}},
		{"intend to add", func() { l.Write("later.txt", "later\n"); l.Git("add", "-N", "later.txt") }},
		{"make executable", func() { l.Chmod("renamed.txt", 0o755) }},
		{"file to directory", func() { l.Remove("renamed.txt"); l.Write("renamed.txt/now", "a directory\n") }},
		{"directory to file", func() { l.Remove("renamed.txt"); l.Write("renamed.txt", "a file\n") }},
		{"link", func() { l.Symlink("renamed.txt", "link") }},
		{"ignored", l.Writes("x.ignored", "x\n")},
	} {
		before := l.Git("rev-parse", "HEAD")
		w := l.Turn(c, step.prompt, step.work)
		wants = append(wants, w)
		list := l.List(id)
		last := list[len(list)-1]
		l.AtTip(id, last.Code.String())
		if last.Code.String() != before && l.Git("log", "-1", "--format=%P") != before {
			t.Errorf("%s: the commit does not follow %s", step.prompt, before)
		}
		if (last.Code.String() == before) != (w.Tree == w.Base) {
			t.Errorf("%s: the branch went from %s to %s", step.prompt, before, last.Code)
		}
	}
	l.Check(id, wants...)
	message := l.Git("log", "-1", "--format=%B", "HEAD~8")
	if want := "turn 3: edit\n\nAgent-Mission: a1b2c3d4\nAgent-Turn: 3\nAgent-Session: " + c.Session; strings.TrimSpace(message) != want {
		t.Errorf("the message of turn 3 is\n%s\nwant\n%s", message, want)
	}
	l.Quiet()
	l.Fsck()
}

// TestAttachedOwnCommits: what the agent commits itself in mid-turn is part of the turn.
func TestAttachedOwnCommits(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	id := l.Start()
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	var own string
	b := l.Turn(c, "commit some", func() {
		l.Write("committed.txt", "c\n")
		own = l.Commit("the agent's own")
		l.Write("left.txt", "left\n")
	})
	d := l.Turn(c, "commit all", func() { l.Write("all.txt", "all\n"); l.Commit("the agent's own again") })
	list := l.Check(id, a, b, d)
	if parent := l.Git("log", "-1", "--format=%P", list[1].Code.String()); parent != own {
		t.Errorf("turn 2 follows %s, want the agent's commit %s", parent, own)
	}
	if list[1].Files != 2 || list[2].Files != 1 || list[2].Code.String() != l.Git("rev-parse", "HEAD") {
		t.Errorf("turns:\n%s", lab.Describe(list))
	}
	l.AtTip(id, list[2].Code.String())
	l.Quiet()
}

// TestAttachedBetweenTurns: whatever the user does between two turns, nothing of it is undone, and
// nothing comes back.
func TestAttachedBetweenTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct {
		user func(l *lab.Lab, id record.ID)
		off  bool // HEAD is not on the mission's branch any more
	}{
		"edits":   {func(l *lab.Lab, _ record.ID) { l.Write("kept.txt", "the user's\n") }, false},
		"stages":  {func(l *lab.Lab, _ record.ID) { l.Write("kept.txt", "the user's\n"); l.Git("add", "-A") }, false},
		"commits": {func(l *lab.Lab, _ record.ID) { l.Write("users.txt", "u\n"); l.Commit("the user's") }, false},
		"amends":  {func(l *lab.Lab, _ record.ID) { l.Git("commit", "-q", "--amend", "-m", "reworded") }, false},
		"amends more": {func(l *lab.Lab, _ record.ID) {
			l.Git("rm", "-q", "two.txt")
			l.Git("commit", "-q", "--amend", "--allow-empty", "-m", "less")
		}, false},
		"removes":       {func(l *lab.Lab, _ record.ID) { l.Git("rm", "-q", "one.txt"); l.Commit("remove") }, false},
		"removes plain": {func(l *lab.Lab, _ record.ID) { l.Remove("one.txt") }, false},
		"resets hard":   {func(l *lab.Lab, _ record.ID) { l.Git("reset", "-q", "--hard", "HEAD^") }, false},
		"resets soft":   {func(l *lab.Lab, _ record.ID) { l.Git("reset", "-q", "--soft", "HEAD~2") }, false},
		"resets mixed":  {func(l *lab.Lab, _ record.ID) { l.Git("reset", "-q", "HEAD~2") }, false},
		"reverts":       {func(l *lab.Lab, _ record.ID) { l.Git("revert", "--no-edit", "HEAD") }, false},
		"squashes": {func(l *lab.Lab, _ record.ID) {
			l.Git("reset", "-q", "--soft", "main")
			l.Git("commit", "-q", "-m", "squashed")
		}, false},
		"merges main": {func(l *lab.Lab, _ record.ID) { l.Git("merge", "-q", "--no-edit", "main") }, false},
		"rebases": {func(l *lab.Lab, _ record.ID) {
			l.Git("rebase", "-q", "main")
			if subjects := l.Git("log", "--format=%s", "main.."); subjects != "turn 2: two\nturn 1: one" {
				l.T.Errorf("after the rebase there are\n%s", subjects)
			}
		}, false},
		"rebases, dropping a turn": {func(l *lab.Lab, _ record.ID) { l.Git("rebase", "-q", "--onto", "main", "HEAD^") }, false},
		"cherry-picks":             {func(l *lab.Lab, _ record.ID) { l.Git("cherry-pick", "main") }, false},
		"stashes":                  {func(l *lab.Lab, _ record.ID) { l.Write("kept.txt", "stash\n"); l.Git("stash", "-q") }, false},
		"stashes and pops": {func(l *lab.Lab, _ record.ID) {
			l.Write("kept.txt", "stash\n")
			l.Git("stash", "-q")
			l.Git("stash", "pop", "-q")
		}, false},
		"goes and comes back":     {func(l *lab.Lab, _ record.ID) { l.Git("checkout", "-q", "main"); l.Git("checkout", "-q", "-") }, false},
		"checks out main":         {func(l *lab.Lab, _ record.ID) { l.Git("checkout", "-q", "main") }, true},
		"checks out a new branch": {func(l *lab.Lab, _ record.ID) { l.Git("checkout", "-q", "-b", "new") }, true},
		"detaches":                {func(l *lab.Lab, _ record.ID) { l.Git("checkout", "-q", "--detach") }, true},
		"deletes the branch": {func(l *lab.Lab, id record.ID) {
			l.Git("checkout", "-q", "main")
			l.Git("branch", "-q", "-D", l.Branch(id))
		}, true},
		"renames the branch": {func(l *lab.Lab, _ record.ID) { l.Git("branch", "-m", "mine") }, true},
		"collects garbage":   {func(l *lab.Lab, _ record.ID) { l.Git("gc", "-q", "--prune=now") }, false},
		"loses the notes":    {func(l *lab.Lab, id record.ID) { l.Git("update-ref", "-d", id.NotesRef()) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := lab.New(t)
			id := l.Start()
			c := l.Client()
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
			l.AdvanceMain()
			tt.user(l, id)
			head := l.Git("rev-parse", "HEAD")
			refs := l.Git("for-each-ref", "refs/heads", "refs/tags", "refs/stash")
			before := l.Tree()
			three := l.Turn(c, "three", l.Writes("three.txt", "3\n"))
			four := l.Turn(c, "four", l.Writes("four.txt", "4\n"))
			if three.Base != before {
				t.Errorf("the prompt changed the worktree")
			}
			if strings.Contains(name, "notes") {
				list := l.List(id)
				if len(list) != 4 || len(l.Notes(id)) != 2 {
					t.Errorf("%d turns, %d notes; want 4 and 2", len(list), len(l.Notes(id)))
				}
				return
			}
			list := l.Check(id, a, b, three, four)
			last := list[3].Code.String()
			switch {
			case !tt.off:
				l.AtTip(id, last)
				if _, err := l.Try("merge-base", "--is-ancestor", head, "HEAD"); err != nil {
					t.Errorf("the user's HEAD is lost:\n%s", l.Git("log", "--oneline", "--graph", "-8", head, "HEAD"))
				}
			case l.Git("for-each-ref", "refs/heads", "refs/tags", "refs/stash") != refs:
				t.Errorf("branches were\n%s\nare\n%s", refs, l.Git("for-each-ref", "refs/heads"))
			case l.Git("rev-parse", "HEAD") != head:
				t.Errorf("HEAD moved")
			}
			l.Quiet()
			l.Fsck()
		})
	}
}

// TestAttachedTurnsAreOrdinaryCommits: they can be rebased and cherry-picked, and lose nothing by
// it.
func TestAttachedTurnsAreOrdinaryCommits(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	id := l.Start()
	c := l.Client()
	l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Write("users.txt", "the user's\n")
	l.Turn(c, "two", l.Writes("two.txt", "2\n"))
	l.Turn(c, "talk", nil)
	l.Turn(c, "three", l.Writes("three.txt", "3\n"))
	list := l.List(id)
	l.AdvanceMain()
	l.Git("checkout", "-q", "main")
	for _, turn := range list {
		if turn.Code != turn.Base {
			l.Git("cherry-pick", turn.Code.String())
		}
	}
	if names := l.Git("ls-files"); names != ".gitignore\ndir/edited.txt\nkept.txt\nmains.txt\none.txt\nthree.txt\ntwo.txt" {
		t.Errorf("after cherry-picking the turns main has\n%s", names)
	}
	l.Git("checkout", "-q", l.Branch(id))
	l.Git("rebase", "-q", "--no-keep-empty", "main")
	if got := l.Git("log", "--format=%s", "main.."); got != "before turn 2" {
		t.Errorf("after a rebase onto the picked turns there is left\n%s", got)
	}
}

// TestAttachedInOperation: while git has a rebase, a merge or the like under way, turns are
// recorded and nothing moves. The next turn after it catches up.
func TestAttachedInOperation(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct {
		begin func(l *lab.Lab)
		end   func(l *lab.Lab)
	}{
		"rebase": {
			func(l *lab.Lab) { _, _ = l.Try("rebase", "main") },
			func(l *lab.Lab) { l.Git("add", "-A"); l.Git("-c", "core.editor=true", "rebase", "--continue") },
		},
		"rebase, aborted": {
			func(l *lab.Lab) { _, _ = l.Try("rebase", "main") },
			func(l *lab.Lab) { l.Git("rebase", "--abort") },
		},
		"merge": {
			func(l *lab.Lab) { _, _ = l.Try("merge", "main") },
			func(l *lab.Lab) { l.Git("add", "-A"); l.Git("commit", "-q", "-m", "merged") },
		},
		"cherry-pick": {
			func(l *lab.Lab) { _, _ = l.Try("cherry-pick", "main") },
			func(l *lab.Lab) { l.Git("add", "-A"); l.Git("-c", "core.editor=true", "cherry-pick", "--continue") },
		},
		"revert": {
			func(l *lab.Lab) { _, _ = l.Try("revert", "--no-edit", "main") },
			func(l *lab.Lab) { l.Git("revert", "--abort") },
		},
		"bisect": {
			func(l *lab.Lab) { l.Git("bisect", "start"); l.Git("bisect", "bad"); l.Git("bisect", "good", "main") },
			func(l *lab.Lab) { l.Git("bisect", "reset") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := lab.New(t)
			id := l.Start()
			l.Git("checkout", "-q", "main")
			l.Write("kept.txt", "main's\n")
			l.Commit("conflict")
			l.Git("checkout", "-q", l.Branch(id))
			if name == "revert" || name == "bisect" {
				l.Git("merge", "-q", "main")
			}
			c := l.Client()
			wants := []lab.Want{
				l.Turn(c, "one", l.Writes("kept.txt", "the turn's\n")),
				l.Turn(c, "two", l.Writes("two.txt", "2\n")),
			}
			tip := l.Git("rev-parse", "HEAD")
			tt.begin(l)
			if l.Operation() == "" {
				t.Fatal("there is no operation under way")
			}
			status, head := l.Git("status"), l.Git("rev-parse", "HEAD")
			wants = append(wants, l.Turn(c, "in it", nil))
			if now := l.Git("status"); now != status {
				t.Errorf("git status was\n%s\nis\n%s", status, now)
			}
			if now := l.Git("rev-parse", "HEAD", l.Branch(id)); now != head+"\n"+tip {
				t.Errorf("HEAD and the branch were %s and %s, are\n%s", head, tip, now)
			}
			if strings.Contains(status, "both modified") {
				wants = append(wants, l.Turn(c, "resolve", l.Writes("kept.txt", "both\n")))
			}
			tt.end(l)
			wants = append(wants, l.Turn(c, "after it", l.Writes("after.txt", "after\n")))
			list := l.Check(id, wants...)
			l.AtTip(id, list[len(list)-1].Code.String())
			l.Quiet()
			l.Fsck()
		})
	}
}

// TestAttachedLocked: somebody holds a lock. The turn is recorded without moving the branch,
// nobody's lock is taken away, and the next turn catches up.
func TestAttachedLocked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, path := range map[string]func(l *lab.Lab, id record.ID) string{
		"index":                   func(l *lab.Lab, _ record.ID) string { return ".git/index.lock" },
		"branch":                  func(l *lab.Lab, id record.ID) string { return ".git/" + id.Branch(l.Capture.BranchPrefix) + ".lock" },
		"HEAD":                    func(l *lab.Lab, _ record.ID) string { return ".git/HEAD.lock" },
		"index, from a dead git":  func(l *lab.Lab, _ record.ID) string { return ".git/index.lock" },
		"branch, from a dead git": func(l *lab.Lab, id record.ID) string { return ".git/" + id.Branch(l.Capture.BranchPrefix) + ".lock" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := lab.New(t)
			if !strings.HasPrefix(name, "index") {
				l.RefFiles()
			}
			id := l.Start()
			c := l.Client()
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			lock := path(l, id)
			l.Write(lock, "")
			l.Limits.Index = time.Millisecond
			if strings.Contains(name, "dead") {
				l.Age(lock, time.Hour)
				l.Limits.Index = 30 * time.Minute // its age tells
			}
			tip := l.Git("rev-parse", "HEAD")
			b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
			if now := l.Git("rev-parse", "HEAD"); now != tip {
				t.Errorf("the branch moved from %s to %s", tip, now)
			}
			if l.Read(lock) != "" {
				t.Errorf("the lock was changed")
			}
			l.Remove(lock)
			l.Limits.Index = 0
			if staged := l.Git("diff", "--cached", "--name-only"); staged != "" && staged != "two.txt" {
				t.Errorf("staged: %q", staged)
			}
			if len(l.Seen.Warnings) == 0 {
				t.Error("no warning for the log")
			}
			d := l.Turn(c, "three", l.Writes("three.txt", "3\n"))
			list := l.Check(id, a, b, d)
			l.AtTip(id, list[2].Code.String())
			if names := l.Git("ls-tree", "--name-only", "HEAD"); !strings.Contains(names, "two.txt") {
				t.Errorf("the branch lacks the turn that did not move it:\n%s", names)
			}
			l.Fsck()
		})
	}
}

// TestOwnLocks: a process of ours died and left a lock. One that is 10 s old is nobody's any more.
func TestOwnLocks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, lock := range map[string]func(id record.ID) string{
		"ledger":        func(id record.ID) string { return ".git/" + id.Ref() + ".lock" },
		"notes":         func(id record.ID) string { return ".git/" + id.NotesRef() + ".lock" },
		"private index": func(record.ID) string { return ".git/agent/index.lock" },
	} {
		for _, left := range []struct {
			name string
			age  time.Duration
		}{
			{"long ago", time.Hour},
			{"just now", 9 * time.Second}, // its ten seconds end while the hook waits
		} {
			t.Run(name+"/"+left.name, func(t *testing.T) {
				t.Parallel()
				l := lab.New(t)
				id := l.Start()
				c := l.Client()
				a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
				l.Write(lock(id), "")
				l.Age(lock(id), left.age)
				b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
				list := l.Check(id, a, b, l.Turn(c, "three", nil))
				l.AtTip(id, list[2].Code.String())
				l.Fsck()
			})
		}
	}
}

// TestDiedInPublish: a process of ours died between the index and the refs.
func TestDiedInPublish(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	id := l.Start()
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Write(".git/agent/index.new", "half an index")
	gittest.Must(t, os.Link(filepath.Join(l.Dir, ".git/agent/index.new"), filepath.Join(l.Dir, ".git/index.lock")))
	b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
	list := l.Check(id, a, b)
	l.AtTip(id, list[1].Code.String())
	l.Write("three.txt", "3\n")
	l.Git("add", "three.txt") // the index moved, the refs did not
	three := l.Turn(c, "three", nil)
	list = l.Check(id, a, b, three)
	l.AtTip(id, list[2].Code.String())
	l.Quiet()
}

// TestBeginFails: what can't be checked out leaves nothing behind.
func TestBeginFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, prepare := range map[string]func(l *lab.Lab, b *missionstore.Beginning){
		"the directory is not empty": func(l *lab.Lab, b *missionstore.Beginning) {
			b.Worktree = filepath.Join(gittest.TempDir(l.T), "full")
			gittest.Must(l.T, os.MkdirAll(filepath.Join(b.Worktree, "x"), 0o777))
		},
		"a file of the user's is in the way": func(l *lab.Lab, b *missionstore.Beginning) {
			l.Git("checkout", "-q", "-b", "other")
			l.Write("only-there.txt", "there\n")
			b.From = object.NewHash(l.Commit("other"))
			l.Git("checkout", "-q", "main")
			l.Write("only-there.txt", "the user's\n")
		},
		"a branch named agent is in the way": func(l *lab.Lab, _ *missionstore.Beginning) { l.Git("branch", "agent") },
		"there is such a mission": func(l *lab.Lab, b *missionstore.Beginning) {
			l.Begin(missionstore.Beginning{ID: b.ID, At: b.At.Add(-time.Hour)})
			l.Git("checkout", "-q", "main")
		},
		"there is such a branch": func(l *lab.Lab, b *missionstore.Beginning) { l.Git("branch", l.Branch(b.ID)) },
		"the worktree's directory is not empty": func(l *lab.Lab, b *missionstore.Beginning) {
			b.Worktree = filepath.Join(filepath.Dir(l.Dir), "new")
			l.In(b.Worktree).Write("theirs.txt", "x")
		},
		"the index is locked": func(l *lab.Lab, _ *missionstore.Beginning) { l.Write(".git/index.lock", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			b := missionstore.Beginning{ID: "a1b2c3d4", At: time.Now(), From: object.NewHash(l.Git("rev-parse", "HEAD"))}
			prepare(l, &b)
			refs, head, status := l.Git("for-each-ref"), l.Read(".git/HEAD"), l.Git("status", "--porcelain")
			worktrees := l.Git("worktree", "list", "--porcelain")
			if _, _, err := missionstore.Begin(t.Context(), l.Workspace(l.Dir), b); err == nil {
				t.Fatal("begun all the same")
			}
			if now := l.Git("for-each-ref"); now != refs {
				t.Errorf("refs were\n%s\nare\n%s", refs, now)
			}
			if now := l.Read(".git/HEAD"); now != head {
				t.Errorf("HEAD was %s, is %s", head, now)
			}
			if now := l.Git("status", "--porcelain"); now != status {
				t.Errorf("status was\n%s\nis\n%s", status, now)
			}
			if now := l.Git("worktree", "list", "--porcelain"); now != worktrees {
				t.Errorf("worktrees were\n%s\nare\n%s", worktrees, now)
			}
		})
	}
}

// TestBeginHookFails: what is checked out stays, and is told.
func TestBeginHookFails(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(l *lab.Lab, b *missionstore.Beginning){
		"here":          func(*lab.Lab, *missionstore.Beginning) {},
		"detached":      func(l *lab.Lab, _ *missionstore.Beginning) { l.Git("checkout", "-q", "--detach") },
		"in a worktree": func(l *lab.Lab, b *missionstore.Beginning) { b.Worktree = filepath.Join(filepath.Dir(l.Dir), "new") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			told := 0
			b := missionstore.Beginning{
				ID: "a1b2c3d4", At: time.Now(), From: object.NewHash(l.Git("rev-parse", "HEAD")), Unhooked: func(error) { told++ },
			}
			prepare(l, &b)
			l.FailingHook()
			if _, _, err := missionstore.Begin(t.Context(), l.Workspace(l.Dir), b); err != nil || told != 1 {
				t.Fatalf("Begin: %v, told %d times", err, told)
			}
			if got := l.At(cmp.Or(b.Worktree, l.Dir)).Git("status", "--porcelain", "--branch"); got != "## "+l.Branch(b.ID) {
				t.Errorf("there is %q", got)
			}
		})
	}
}

// TestBeginKnowsSession: a session that was given its id beforehand records to the mission from its
// first event on.
func TestBeginKnowsSession(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Begin(missionstore.Beginning{ID: "a1b2c3d4", Session: c.Session, At: time.Now()})
	l.Git("checkout", "-q", "--detach")
	l.Check("a1b2c3d4", l.Turn(c, "one", l.Writes("one.txt", "1\n")))
}

// TestBeginInWorktree: the mission has a worktree of its own; the one it was begun in is as it was.
func TestBeginInWorktree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Write("kept.txt", "the user's\n")
	status := l.Git("status", "--porcelain=v2", "--branch")
	dir := filepath.Join(gittest.TempDir(t), "mission")
	l.Begin(missionstore.Beginning{ID: "a1b2c3d4", Worktree: dir, At: time.Now()})
	w := l.At(dir)
	c := w.Client()
	a := w.Turn(c, "one", w.Writes("one.txt", "1\n"))
	list := w.Check("a1b2c3d4", a, w.Turn(c, "two", nil))
	w.AtTip("a1b2c3d4", list[1].Code.String())
	if now := l.Git("status", "--porcelain=v2", "--branch"); now != status {
		t.Errorf("the first worktree was\n%s\nis\n%s", status, now)
	}
	l.Fsck()
}

// TestHooksOfGit: the user's hooks of git neither run nor veto anything.
func TestHooksOfGit(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	for _, name := range []string{"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-checkout", "pre-auto-gc"} {
		l.Write(".git/hooks/"+name, "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/ran-"+name+"\"\nexit 1\n")
		l.Chmod(".git/hooks/"+name, 0o755)
	}
	id := record.ID("a1b2c3d4")
	l.Git("config", "commit.gpgSign", "true")
	l.Git("config", "gpg.program", "false")
	l.Git("-c", "core.hooksPath=/dev/null", "branch", l.Branch(id))
	l.Git("-c", "core.hooksPath=/dev/null", "checkout", "-q", l.Branch(id))
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	if ran, _ := filepath.Glob(filepath.Join(l.Dir, ".git/ran-*")); len(ran) > 0 {
		t.Errorf("hooks ran: %v", ran)
	}
	l.Remove(".git/hooks")
	list := l.Check(id, a)
	l.AtTip(id, list[0].Code.String())
}
