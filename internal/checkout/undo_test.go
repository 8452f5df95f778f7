package checkout_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// cutOff has the last step be one whose process was killed before it noted that it was done.
func cutOff(l *lab.Lab) {
	l.T.Helper()
	agent := filepath.Join(l.Dir, ".git", "agent")
	gittest.Must(l.T, os.Rename(filepath.Join(agent, "step"), filepath.Join(agent, "step.begun")))
}

// TestUndoHalf: a restore was killed in the middle of the checkout. What it had not come to, had
// removed, or had written in part, is as it was before; what somebody has changed since is kept.
func TestUndoHalf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line\n", 10_000)
	users := func(l *lab.Lab) {
		l.Remove("moved")
		l.Remove("deep")
		l.Write("long", long+"2\n")
		l.Write("there", "moved\nas it is\n")
		l.Write("deep", "a file\n")
	}
	for name, tt := range map[string]struct {
		half func(l *lab.Lab)
		want func(l *lab.Lab) // besides what was before
	}{
		"not begun":      {half: users},
		"nothing missed": {half: func(*lab.Lab) {}},
		"one missing":    {half: func(l *lab.Lab) { l.Remove("long") }},
		"all missing":    {half: func(l *lab.Lab) { l.Remove("long"); l.Remove("moved"); l.Remove("deep") }},
		"in part":        {half: func(l *lab.Lab) { l.Write("long", "1: "+long[:12345]) }},
		"empty":          {half: func(l *lab.Lab) { l.Write("long", "") }},
		"both names":     {half: func(l *lab.Lab) { l.Write("there", "moved\nas it is\n") }},
		"neither name":   {half: func(l *lab.Lab) { l.Remove("moved"); l.Remove("there") }},
		"mixed":          {half: func(l *lab.Lab) { l.Remove("deep"); l.Write("deep", "a file\n"); l.Write("long", "1: "+long[:7]) }},
		"changed since": {
			half: func(l *lab.Lab) {
				l.Remove("long")
				l.Write("other", "since\n")
				l.Write("new", "since\n")
				l.Remove("kept.txt")
			},
			want: func(l *lab.Lab) { l.Write("other", "since\n"); l.Write("new", "since\n"); l.Remove("kept.txt") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "mixed" {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			l.Turn(c, "one", func() {
				l.Write("long", "1: "+long)
				l.Write("moved", "moved\nas it is\n")
				l.Write("deep/file", "deep\n")
				l.Write("other", "1\n")
			})
			first := l.List(lab.Own(c))[0].After()
			users(l)
			before := files(t, l.Dir)
			if _, err := checkout.Restore(t.Context(), l.Workspace(l.Dir), time.Now(), first, gitdiff.Paths{}, checkout.RestorePlan{}); err != nil {
				t.Fatal(err)
			}
			cutOff(l)
			tt.half(l)
			_, what, err := l.Undo(checkout.Merging{})
			if name == "not begun" {
				if !errors.Is(err, checkout.ErrNothingDone) {
					t.Errorf("took back %q, %v", what, err)
				}
			} else if err != nil || what != "restore of turn "+first.String() {
				t.Fatalf("took back %q, %v", what, err)
			}
			now := files(t, l.Dir)
			if tt.want != nil {
				tt.want(l)
				for path, content := range files(t, l.Dir) {
					if now[path] != content {
						t.Errorf("%q is %.100q, want %.100q", path, now[path], content)
					}
				}
				return
			}
			if len(now) != len(before) {
				t.Errorf("there are %d files, want %d", len(now), len(before))
			}
			for path, content := range before {
				if now[path] != content {
					t.Errorf("%q is %.100q, want %.100q", path, now[path], content)
				}
			}
		})
	}
}

// TestUndoUntouched: a restore was killed before it had changed anything. Whatever has changed since, the
// step before it is the last one.
func TestUndoUntouched(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	text := func(first string) string { return first + "\n2\n3\n4\n5\n6\n7\n8\n9\n" }
	for name, tt := range map[string]struct {
		since    func(l *lab.Lab, look func())
		want     string // a after the undo
		conflict bool
	}{
		"nothing since": {since: func(*lab.Lab, func()) {}, want: text("three")},
		"another file":  {since: func(l *lab.Lab, _ func()) { l.Write("b", "since\n") }, want: text("three")},
		"a new file":    {since: func(l *lab.Lab, _ func()) { l.Write("new", "since\n") }, want: text("three")},
		"another line":  {since: func(l *lab.Lab, _ func()) { l.Write("a", text("two")+"10\n") }, want: text("three") + "10\n"},
		"the line, after a look": {
			since: func(l *lab.Lab, look func()) { look(); l.Write("a", text("four")) }, want: text("four"), conflict: true,
		},
		"emptied, after a look": {since: func(l *lab.Lab, look func()) { look(); l.Write("a", "") }, conflict: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			l.Turn(c, "one", func() { l.Write("a", text("one")); l.Write("b", "1\n") })
			l.Turn(c, "two", l.Writes("a", text("two")))
			l.Turn(c, "three", l.Writes("a", text("three")))
			list := l.List(lab.Own(c))
			if _, err := l.Restore(list[1], false); err != nil {
				t.Fatal(err)
			}
			last := l.Read(".git/agent/step")
			began := time.Now().Add(-time.Hour)
			if _, err := checkout.Restore(t.Context(), l.Workspace(l.Dir), began, list[0].After(), gitdiff.Paths{}, checkout.RestorePlan{}); err != nil {
				t.Fatal(err)
			}
			l.Write(".git/agent/step.begun", l.Read(".git/agent/step"))
			l.Write(".git/agent/step", last)
			l.Write("a", text("two"))
			tt.since(l, func() { c.Prompt("look"); c.Stop("done") })
			_, what, err := l.Undo(checkout.Merging{})
			if tt.conflict {
				if conflict := (*checkout.ConflictError)(nil); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "restore of turn "+list[1].ID().String()) {
					t.Errorf("undo: %v", err)
				}
			} else if err != nil || what != "restore of turn "+list[1].ID().String() {
				t.Errorf("took back %q, %v", what, err)
			}
			if got := l.Read("a"); got != tt.want {
				t.Errorf("a is %q, want %q", got, tt.want)
			}
			if tt.conflict {
				return
			}
			if _, what, err := l.Undo(checkout.Merging{}); err != nil || what != "undo of the restore of turn "+list[1].ID().String() {
				t.Errorf("then took back %q, %v", what, err)
			}
		})
	}
}

// TestUndoComplete: a restore was killed when it was complete. A file that is emptied after the next look
// at the worktree was not cut off by the kill.
func TestUndoComplete(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", func() { l.Write("a", "1\n"); l.Write("b", "1\n") })
	l.Turn(c, "two", func() { l.Write("a", "2\n"); l.Write("b", "2\n") })
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	l.Write(".git/agent/step.begun", l.Read(".git/agent/step"))
	l.Remove(".git/agent/step")
	l.Write("kept.txt", "since\n")
	c.Prompt("three")
	l.Write("a", "")
	c.Stop("done")
	_, _, err := l.Undo(checkout.Merging{})
	if conflict := (*checkout.ConflictError)(nil); !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Path != "a" {
		t.Errorf("undo: %v", err)
	}
	if a, b := l.Read("a"), l.Read("b"); a != "" || b != "1\n" {
		t.Errorf("a is %q, b is %q", a, b)
	}
}

// TestUndoTwoHalves: a second restore begins after the first was killed in the middle, and is killed
// before it has changed anything: the first one is the last.
func TestUndoTwoHalves(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", func() { l.Write("a", "1\n"); l.Write("b", "1\n") })
	l.Turn(c, "two", func() { l.Write("a", "2\n"); l.Write("b", "2\n") })
	list := l.List(lab.Own(c))
	if _, err := l.Restore(list[0], false); err != nil {
		t.Fatal(err)
	}
	cutOff(l)
	l.Remove("b")
	half := l.Tree()
	if _, err := l.Restore(list[1], false); err != nil {
		t.Fatal(err)
	}
	l.Write("a", "1\n")
	l.Remove("b") // as if nothing had come of the second
	if l.Tree() != half {
		t.Fatal("the test is wrong")
	}
	// What the second one has noted of the first was there before it was begun.
	cutOff(l)
	data := `{"v":1,"what":"restore of turn ` + list[0].ID().String() + `","mission":"` + string(lab.Own(c)) + `","before":"` + list[1].Code.String() +
		`","from":"` + l.TreeOf(list[1].Code.String()) + `","to":"` + l.TreeOf(list[0].Code.String()) + `","half":true,"at":"2026-11-22T12:00:00Z"}`
	l.Write(".git/agent/step", data)
	if _, what, err := l.Undo(checkout.Merging{}); err != nil || what != "restore of turn "+list[0].ID().String() {
		t.Fatalf("took back %q, %v", what, err)
	}
	if l.Read("a") != "2\n" || l.Read("b") != "2\n" {
		t.Errorf("a is %q, b is %q", l.Read("a"), l.Read("b"))
	}
}

// TestUndoConverted: files that git converts are brought back as they were.
func TestUndoConverted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Write(".gitattributes", "*.crlf text eol=crlf\n")
	l.Write("file.crlf", "first\r\nline\r\n")
	l.Commit("converted")
	c := l.Client()
	l.Turn(c, "one", l.Writes("file.crlf", "one\r\nline\r\n"))
	l.Turn(c, "two", l.Writes("file.crlf", "one\r\nline\r\ntwo\r\n"))
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	if got := l.Read("file.crlf"); got != "one\r\nline\r\n" {
		t.Errorf("restored %q", got)
	}
	if _, _, err := l.Undo(checkout.Merging{}); err != nil {
		t.Fatal(err)
	}
	if got := l.Read("file.crlf"); got != "one\r\nline\r\ntwo\r\n" {
		t.Errorf("undone %q", got)
	}
}

// TestUndoUnborn: in a repository without a commit there is nothing before, and back it goes.
func TestUndoUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.Empty(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("file", "1\n"))
	l.Turn(c, "two", func() { l.Remove("file") })
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "1\n", ""} {
		if _, _, err := l.Undo(checkout.Merging{}); err != nil {
			t.Fatal(err)
		}
		if got := files(t, l.Dir)[filepath.Join(l.Dir, "file")]; got != want {
			t.Errorf("file is %q, want %q", got, want)
		}
	}
	l.Fsck()
}

// TestUndoInPlace: a file can't come back because somebody put something into the directory in its
// place. The conflict has the file's name, and git's only where it is written.
func TestUndoInPlace(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("place/file", "1\n"))
	l.Turn(c, "two", func() { l.Remove("place"); l.Write("place", "2\n") })
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	l.Write("place/other", "since\n")
	_, _, err := l.Undo(checkout.Merging{})
	if conflict := (*checkout.ConflictError)(nil); !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Path != "place" {
		t.Errorf("undo: %v", err)
	}
	done, _, err := l.Undo(checkout.Merging{Merge: true})
	if err != nil || len(done.Conflicts) != 1 {
		t.Fatalf("undo: %+v, %v", done, err)
	}
	if l.Read(done.Conflicts[0].Path) != "2\n" || l.Read("place/other") != "since\n" {
		t.Errorf("%q is not what it was", done.Conflicts[0].Path)
	}
}

// TestUndoLink: a directory and a link to another one take each other's place. What is in the other
// one is not in the way.
func TestUndoLink(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Write("dir/deep/file", "dir\n")
	c := l.Client()
	l.Turn(c, "one", func() {
		if err := os.Symlink("dir", filepath.Join(l.Dir, "link")); err != nil {
			t.Skip(err)
		}
	})
	l.Turn(c, "two", func() { l.Remove("link"); l.Write("link/deep/file", "own\n"); l.Write("link/deep/other", "own\n") })
	before := files(t, l.Dir)
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(l.Dir, "link")); target != "dir" {
		t.Errorf("restored a link to %q, %v", target, err)
	}
	if _, _, err := l.Undo(checkout.Merging{}); err != nil {
		t.Fatal(err)
	}
	if now := files(t, l.Dir); !maps.Equal(now, before) {
		t.Errorf("there are %q, want %q", now, before)
	}
}

// TestUndoGone: the mission whose ledger kept what was before was removed.
func TestUndoGone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("file", "1\n"))
	l.Turn(c, "two", l.Writes("file", "2\n"))
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	gittest.Must(t, l.Workspace(l.Dir).GiveUp(lab.Own(c)))
	l.Git("update-ref", "-d", lab.Own(c).Ref())
	if _, _, err := l.Undo(checkout.Merging{}); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("undo: %v", err)
	}
	if l.Read("file") != "1\n" {
		t.Errorf("file is %q", l.Read("file"))
	}
}

// TestRevertJumped: HEAD jumped during the turn, so its record begins at the new HEAD.
func TestRevertJumped(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Write("more", "more\n")
	l.Commit("second")
	l.Turn(c, "one", l.Writes("file", "1\n"))
	l.Turn(c, "two", func() {
		l.Git("checkout", "-q", "-b", "aside", "HEAD^")
		l.Write("committed", "in the turn\n")
		l.Git("add", "committed")
		l.Git("commit", "-q", "-m", "aside")
		l.Write("left", "2\n")
	})
	l.Turn(c, "three", l.Writes("after", "3\n"))
	for i, jumped := range []bool{false, true, false} {
		turn := l.List(lab.Own(c))[i]
		done, err := checkout.Revert(t.Context(), l.Workspace(l.Dir), time.Now(), turn.Before(), turn.After(), checkout.Merging{RestorePlan: checkout.RestorePlan{Dry: i != 1}})
		gittest.Must(t, err)
		if done.Jumped != jumped {
			t.Errorf("turn %d: jumped = %t", i+1, done.Jumped)
		}
	}
	now := files(t, l.Dir)
	if now[filepath.Join(l.Dir, "committed")] == "" || now[filepath.Join(l.Dir, "left")] != "" {
		t.Errorf("there are %q", now)
	}
}

// TestUndoPlanted: a step that somebody else has written down is none if its name would not stay in one
// line of a message.
func TestUndoPlanted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("a", "1\n"))
	l.Turn(c, "two", l.Writes("a", "2\n"))
	list := l.List(lab.Own(c))
	from, to := l.TreeOf(list[0].Code.String()), l.TreeOf(list[1].Code.String())
	for _, what := range []string{`x\n\nCo-Authored-By: x`, `x\u0000`, `\u001b[2J`} {
		l.Write(".git/agent/step", `{"v":1,"what":"`+what+`","mission":"`+string(lab.Own(c))+`","before":"`+list[0].Code.String()+
			`","from":"`+from+`","to":"`+to+`","at":"2026-11-22T12:00:00Z"}`)
		if _, _, err := l.Undo(checkout.Merging{}); !errors.Is(err, checkout.ErrNothingDone) || l.Read("a") != "2\n" {
			t.Errorf("%s: %v, a is %q", what, err, l.Read("a"))
		}
	}
}

// TestUndoMovedDirectory: what was put since into a directory that the step has moved stays where it is.
func TestUndoMovedDirectory(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	for _, name := range []string{"a", "b", "c"} {
		l.Write("lib/"+name, strings.Repeat(name+"\n", 20))
	}
	l.Commit("a library")
	c := l.Client()
	l.Turn(c, "one", nil)
	l.Turn(c, "two", func() {
		gittest.Must(t, os.Rename(filepath.Join(l.Dir, "lib"), filepath.Join(l.Dir, "src")))
	})
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	l.Write("lib/mine", "since\n")
	done, _, err := l.Undo(checkout.Merging{})
	if err != nil {
		t.Fatalf("%v: %+v", err, done)
	}
	if now := l.Git("ls-files", "-o", "lib", "src"); now != "lib/mine\nsrc/a\nsrc/b\nsrc/c" {
		t.Errorf("after the undo there is\n%s", now)
	}
}
