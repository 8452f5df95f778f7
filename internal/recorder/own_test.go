package recorder_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// call lets a client's agent write files, and adds what it did to the journal.
func call(l *lab.Lab, c *replay.Client, tool string, files map[string]string) {
	l.T.Helper()
	from := time.Now().UnixMilli()
	said := c.Said()
	e := &journal.Entry{From: from, Session: c.Session, PromptID: said[len(said)-1].PromptID, Head: object.NewHash(l.Head()), Ctimes: make(map[string]int64)}
	for name, content := range files {
		l.Write(name, content)
		info, err := os.Lstat(filepath.Join(l.Dir, name))
		gittest.Must(l.T, err)
		e.Ctimes[name], _ = journal.Ctime(info)
		if tool == "Bash" {
			name = ""
		}
		e.Calls = append(e.Calls, journal.Call{Tool: tool, Path: name})
	}
	e.At, e.Tree = time.Now().UnixMilli(), object.NewHash(l.Tree())
	gittest.Must(l.T, journal.Append(l.GitRepo(), e))
}

// TestOwn: of two sessions in one worktree, each turn's own change is its own.
func TestOwn(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	for _, name := range []string{"f", "g", "h"} {
		l.Write(name, "one\n")
	}
	l.Commit("files")
	a, b := l.Client(), l.Client()
	a.Prompt("append to f, and to h")
	b.Prompt("write g, and the top of h")
	call(l, a, "Edit", map[string]string{"f": "one\nfirst\n"})
	call(l, b, "Bash", map[string]string{"g": "one\nsecond\n"})
	call(l, b, "Edit", map[string]string{"h": "second\none\n"})
	call(l, a, "Edit", map[string]string{"h": "second\none\nfirst\n"})
	a.Stop("done")
	b.Stop("done")
	for c, want := range map[*replay.Client]struct {
		paths string
		less  map[string]string // the files without the turn
	}{
		a: {"f\nh", map[string]string{"f": "one", "g": "one\nsecond", "h": "second\none"}},
		b: {"g\nh", map[string]string{"f": "one\nfirst", "g": "one", "h": "one\nfirst"}},
	} {
		turn := l.List(lab.Own(c))[0]
		own := turn.Change()
		if own.Alone() || own.Unsure() || own.Files != 2 || own.Insertions != 2 || own.Deletions != 0 || strings.Join(own.Paths, "\n") != want.paths {
			t.Errorf("the change is %+v of %+v", own, turn.Own)
			continue
		}
		if got := l.Git("diff", "--name-only", own.From.String(), own.To.String()); got != want.paths {
			t.Errorf("it changed\n%s", got)
		}
		for name, content := range want.less {
			if got := l.Git("cat-file", "blob", own.From.String()+":"+name); got != content {
				t.Errorf("without the turn %s is\n%s", name, got)
			}
		}
	}
	l.Quiet()
	l.Fsck()
}

// TestOwnCommits: a commit is of the turn in whose call it was made, and of no
// turn if it was made between them, or in calls of two.
func TestOwnCommits(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := l.Client(), l.Client()
	a.Prompt("write f, and commit")
	b.Prompt("write g, and commit")
	call(l, a, "Edit", map[string]string{"f": "one\n"})
	call(l, b, "Edit", map[string]string{"g": "one\n"})
	began := time.Now().Truncate(time.Second)
	commit := func(after time.Duration, words string) string {
		date := began.Add(after).Format(time.RFC3339)
		w := l.In(l.Dir)
		w.Env = append(slices.Clip(w.Env), "GIT_COMMITTER_DATE="+date)
		w.Git("add", "-A")
		w.Git("commit", "-q", "--allow-empty", "-m", words)
		return l.Head()
	}
	ran := func(c *replay.Client, from, to time.Duration) {
		gittest.Must(t, journal.Append(l.GitRepo(), &journal.Entry{
			From: began.Add(from).UnixMilli(), At: began.Add(to).UnixMilli(), Session: c.Session,
			Tree: object.NewHash(l.Tree()), Head: object.NewHash(l.Head()), Calls: []journal.Call{{Tool: "Bash"}},
		}))
	}
	first := commit(10*time.Second, "of a, with what b wrote")
	second := commit(11*time.Second, "of a too")
	ran(a, 9*time.Second, 13*time.Second)
	commit(20*time.Second, "a person's")
	third := commit(31*time.Second, "of b")
	ran(b, 30*time.Second, 32*time.Second)
	commit(40*time.Second, "of a or b")
	ran(a, 39*time.Second, 42*time.Second)
	ran(b, 38*time.Second, 43*time.Second)
	a.Stop("done")
	b.Stop("done")
	for c, want := range map[*replay.Client]string{a: second + " " + first, b: third} {
		own := l.List(lab.Own(c))[0].Own
		if own == nil {
			t.Fatal("nothing says whose the changes are")
		}
		var got []string
		for _, commit := range own.Commits {
			got = append(got, commit.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("its commits are %v, want %s", got, want)
		}
	}
	l.Fsck()
}

// keeps checks what the last step that a turn keeps has in the file f.
func keeps(l *lab.Lab, t *turns.Turn, want string) {
	l.T.Helper()
	if got := l.Git("cat-file", "blob", t.Own.Last.String()+":f"); got+"\n" != want {
		l.T.Errorf("kept is\n%s", got)
	}
}

// TestLostWork: what an agent made and destroyed within its turn is kept, and
// nothing else is.
func TestLostWork(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Write("f", "one\n")
	l.Commit("a file")
	c := l.Client()
	work := "one\ntwo\nthree\nfour\n"
	c.Prompt("write it, and throw it away")
	call(l, c, "Edit", map[string]string{"f": work})
	call(l, c, "Bash", map[string]string{"f": "one\n"})
	call(l, c, "Edit", map[string]string{"f": "one\nlast\n"})
	c.Stop("done")
	turn := l.List(lab.Own(c))[0]
	if own := turn.Own; own == nil || !own.Others.IsZero() || own.Steps != 3 || len(own.Kept) != 1 || own.Kept[0] != 1 {
		t.Fatalf("it is %+v", own)
	}
	gittest.Must(t, journal.Drop(l.GitRepo()))
	l.Git("gc", "-q", "--prune=now")
	keeps(l, turn, work)
	if c := turn.Change(); !c.Alone() || c.Insertions != 1 {
		t.Errorf("the change is %+v", c)
	}
	c.Prompt("throw it all away")
	call(l, c, "Edit", map[string]string{"f": work})
	call(l, c, "Bash", map[string]string{"f": "one\nlast\n"})
	c.Stop("nothing is left")
	if turn := l.List(lab.Own(c))[1]; turn.Base != turn.Code || turn.Own == nil || len(turn.Own.Kept) != 1 {
		t.Errorf("a turn that lost all it did has %+v", turn.Own)
	} else {
		keeps(l, turn, work)
	}
	l.Turn(c, "write it once", func() { call(l, c, "Edit", map[string]string{"g": "once\n"}) })
	if turn := l.List(lab.Own(c))[2]; turn.Own != nil {
		t.Errorf("a turn that lost nothing has %+v", turn.Own)
	}
	l.Quiet()
	l.Fsck()
}

// TestLostWorkOfOthers: what a person had not committed, and a turn's command
// destroyed, is kept with that turn.
func TestLostWorkOfOthers(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Write("f", "one\n")
	l.Commit("a file")
	c := l.Client()
	c.Prompt("clean up")
	call(l, c, "Write", map[string]string{"g": "by the agent\n"})
	work := "one\nby hand 1\nby hand 2\nby hand 3\n"
	l.Write("f", work)
	long := time.Now().Add(-time.Hour).UnixMilli()
	gittest.Must(t, journal.Append(l.GitRepo(), &journal.Entry{
		At: time.Now().UnixMilli(), Session: c.Session, Before: true, Tree: object.NewHash(l.Tree()), Head: object.NewHash(l.Head()), Ctimes: map[string]int64{"f": long},
	}))
	call(l, c, "Bash", map[string]string{"f": "one\n"})
	c.Stop("done")
	turn := l.List(lab.Own(c))[0]
	if own := turn.Own; own == nil || len(own.Kept) != 1 || own.Kept[0] != 2 {
		t.Fatalf("it is %+v", own)
	}
	keeps(l, turn, work)
}

// TestOwnUntold: where the journal lacks a turn's beginning, the turn is
// recorded as without a journal, and the log says so.
func TestOwnUntold(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Commit("first")
	a, b := l.Client(), l.Client()
	a.Prompt("write f")
	b.Prompt("write g")
	call(l, a, "Write", map[string]string{"f": "by a\n"})
	call(l, b, "Write", map[string]string{"g": "by b\n"})
	gittest.Must(t, journal.Drop(l.GitRepo()))
	call(l, b, "Edit", map[string]string{"f": "by a\nby b\n"})
	b.Stop("done")
	if w := l.Seen.Warnings; len(w) != 1 || !strings.Contains(w[0], "lacks its beginning") {
		t.Errorf("warnings: %q", w)
	}
	if turn := l.List(lab.Own(b))[0]; turn.Own != nil || turn.Files != 2 {
		t.Errorf("it is %+v", turn)
	}
}

// TestOwnDirectory: a file that one makes a directory of, and another works in.
func TestOwnDirectory(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Write("f", "one\n")
	l.Commit("first")
	a, b := l.Client(), l.Client()
	a.Prompt("make a directory of f")
	b.Prompt("work in it")
	l.Remove("f")
	call(l, a, "Bash", map[string]string{"f/x": "by a\n"})
	call(l, b, "Edit", map[string]string{"f/x": "by a\nby b\n"})
	call(l, b, "Write", map[string]string{"f/y": "by b\n"})
	a.Stop("done")
	b.Stop("done")
	for c, want := range map[*replay.Client]string{a: "f/x:by b f/y:by b", b: "f/x:by a"} {
		own := l.List(lab.Own(c))[0].Change()
		var got []string
		for _, path := range strings.Fields(l.Git("ls-tree", "-r", "--name-only", own.From.String(), "f")) {
			got = append(got, path+":"+l.Git("cat-file", "blob", own.From.String()+":"+path))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("without the turn there are %q, want %q", got, want)
		}
	}
}

// TestOwnIgnored: a file that is ignored since the turn wrote it is neither
// gone nor somebody else's.
func TestOwnIgnored(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Commit("first")
	c := l.Client()
	c.Prompt("build")
	call(l, c, "Bash", map[string]string{"build.log": "1\n2\n3\n4\n"})
	call(l, c, "Edit", map[string]string{".gitignore": "*.log\n"})
	c.Stop("done")
	if turn := l.List(lab.Own(c))[0]; turn.Own != nil {
		t.Errorf("it is %+v", turn.Own)
	}
}
