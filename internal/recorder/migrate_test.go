package recorder_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// TestMigrateRefs: the user has git keep refs in another way, in the middle of a mission, and again. It goes on.
func TestMigrateRefs(t *testing.T) {
	t.Parallel()
	gittest.Tables(t) // this git knows both ways
	l := lab.New(t)
	id := l.Start()
	c := l.Client()
	all := []lab.Want{l.Turn(c, "0", l.Writes("0.txt", "0\n"))}
	for _, content := range []string{"1", "2", "3"} {
		format := "reftable"
		if l.InTables() {
			format = "files"
		}
		l.Git("refs", "migrate", "--ref-format="+format)
		if in := l.GitRepo().InTables(); in != (format == "reftable") {
			t.Fatalf("migrated to %s, and refs are in tables: %t", format, in)
		}
		all = append(all, l.Turn(c, content, l.Writes(content+".txt", content+"\n")))
		list := l.Check(id, all...)
		l.AtTip(id, list[len(list)-1].Code.String())
	}
	if files := l.Git("ls-tree", "--name-only", "HEAD"); strings.Count(files, ".txt") < 4 {
		t.Errorf("the branch has\n%s", files)
	}
	if len(l.Seen.Warnings) > 0 {
		t.Errorf("warnings: %q", l.Seen.Warnings)
	}
	l.Fsck()
}

// TestTablesLocked: somebody's git holds the one lock of all refs, or has left it. Nothing can be recorded, the error
// names the lock, which is not taken away, and the next event brings all.
func TestTablesLocked(t *testing.T) {
	t.Parallel()
	gittest.Tables(t)
	l := lab.New(t)
	if !l.InTables() {
		l.Git("refs", "migrate", "--ref-format=reftable")
	}
	var failed error
	c := replay.New(l.Config, l.Dir, func(e replay.Event) { _, failed = l.TryRecord(e) })
	one := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	c.Prompt("two")
	l.Write("two.txt", "2\n")
	lock := l.LockOf("HEAD")
	l.Write(lock, "somebody else's\n")
	c.Stop("done")
	if locked := (*git.LockedError)(nil); !errors.As(failed, &locked) || locked.Path != filepath.Join(l.Dir, lock) {
		t.Errorf("the error is %v", failed)
	}
	if got := l.Read(lock); got != "somebody else's\n" {
		t.Errorf("the lock is %q", got)
	}
	l.Remove(lock)
	three := l.Turn(c, "three", l.Writes("three.txt", "3\n"))
	list := l.List(lab.Own(c))
	if len(list) != 3 || list[1].Prompt != "two" || list[0].Prompt != one.Prompt || list[2].Prompt != three.Prompt {
		t.Errorf("it is %s", lab.Describe(list))
	}
	if tree := l.Git("ls-tree", "--name-only", list[1].Code.String()); !strings.Contains(tree, "two.txt") {
		t.Errorf("the second turn has\n%s", tree)
	}
	l.Fsck()
}
