package turns_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/lock"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// stranger makes a turn whose tree has hooks, a monitor of files and a filter, and configures them
// as a project might that trusts its own tree. ran returns which of them ran since it was called last.
func (l *lab) stranger() (turn *turns.Turn, ran func() []string) {
	l.t.Helper()
	if runtime.GOOS == "windows" {
		l.t.Skip("the programs are shell scripts")
	}
	log := filepath.Join(filepath.Dir(l.Dir), "ran")
	program := func(name, does string) {
		l.Write(name, fmt.Sprintf("#!/bin/sh\necho %s >>'%s'\n%s\n", filepath.Base(name), log, does))
		l.chmod(name, 0o755)
	}
	c := l.client()
	wants := []want{
		l.turn(c, "give me hooks", func() {
			for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout"} {
				program(".githooks/"+hook, "true")
			}
			program(".githooks/fsmonitor", "exit 1")
			program("bin/filter", "cat")
			l.Write(".gitattributes", "zzz filter=x\n")
			l.Write("zzz", "filtered\n")
		}),
		l.turn(c, "and away with them", func() {
			for _, name := range []string{".githooks", "bin", ".gitattributes", "zzz"} {
				l.remove(name)
			}
		}),
	}
	turn = l.check(own(c), wants...)[0]
	for _, set := range [][2]string{
		{"core.hooksPath", ".githooks"},
		{"core.fsmonitor", ".githooks/fsmonitor"},
		{"filter.x.smudge", "bin/filter"},
		{"filter.x.clean", "bin/filter"},
	} {
		l.Git("config", set[0], set[1])
	}
	return turn, func() []string {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		names := strings.Fields(string(text))
		slices.Sort(names)
		return slices.Compact(names)
	}
}

// TestForkOfStranger: making the worktree runs the tree's hooks and filters, unless it is a stranger's.
func TestForkOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := newLab(t)
		turn, ran := l.stranger()
		f := l.forkOf(turn)
		f.Foreign = foreign
		l.fork(f)
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
		if text, err := os.ReadFile(filepath.Join(f.Worktree, "zzz")); err != nil || string(text) != "filtered\n" {
			t.Errorf("foreign %t: zzz has %q, %v", foreign, text, err)
		}
	}
}

// TestForkOfStrangerFails: nor does taking back what was made of it.
func TestForkOfStrangerFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	turn, ran := l.stranger()
	f := l.forkOf(turn)
	f.Foreign = true
	// A hook of the user's own fails, after which git leaves the worktree as it is.
	hooks := filepath.Join(filepath.Dir(l.Dir), "hooks")
	l.Write("../hooks/post-checkout", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(hooks, "post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.Git("config", "core.hooksPath", hooks)
	before := l.everything()
	if _, err := l.recorder(l.Dir).Fork(t.Context(), f); err == nil {
		t.Fatal("a hook fails, and the fork does not")
	}
	if got := ran(); len(got) > 0 {
		t.Errorf("%q ran", got)
	}
	if after := l.everything(); after != before {
		t.Errorf("left:\n%s\nwant:\n%s", after, before)
	}
}

func TestRestoreOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := newLab(t)
		turn, ran := l.stranger()
		l.Git("config", "core.fsmonitor", "false") // it runs before: for a snapshot of the present tree
		ran()
		if _, err := l.recorder(l.Dir).Restore(t.Context(), time.Now(), turn.After(), git.Paths{}, turns.RestorePlan{Foreign: foreign}); err != nil {
			t.Fatal(err)
		}
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
		if text := l.Read("zzz"); text != "filtered\n" {
			t.Errorf("foreign %t: zzz has %q", foreign, text)
		}
		// An undo knows of it: the second one brings the stranger's tree back.
		if _, _, err := l.undo(turns.Merging{}); err != nil {
			t.Fatal(err)
		}
		ran() // the snapshot of his tree
		if _, _, err := l.undo(turns.Merging{}); err != nil {
			t.Fatal(err)
		}
		if got := ran(); (len(got) == 0) != foreign || l.Read("zzz") != "filtered\n" {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
	}
}

// TestRevertOfStranger: what a revert brings back is checked out as what a restore does, and merged
// without the drivers that lie in the worktree.
func TestRevertOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := newLab(t)
		_, ran := l.stranger()
		l.Git("config", "core.fsmonitor", "false")
		l.Git("config", "merge.x.driver", "bin/merge %A %O %B")
		c := l.client()
		base := strings.Repeat("line\n", 9)
		l.turn(c, "first", func() {
			l.Write("bin/merge", "#!/bin/sh\necho merge >>'"+filepath.Join(filepath.Dir(l.Dir), "ran")+"'\nexec git merge-file -q $1 $2 $3\n")
			l.chmod("bin/merge", 0o755)
			l.Write(".gitattributes", "merged merge=x\n")
			l.Write("merged", base)
		})
		l.turn(c, "second", l.write("merged", "2\n"+base))
		l.turn(c, "third", l.write("merged", "2\n"+base+"3\n"))
		ran()
		turn := l.list(own(c))[1]
		_, err := l.recorder(l.Dir).Revert(t.Context(), time.Now(), turn.Before(), turn.After(), turns.Merging{RestorePlan: turns.RestorePlan{Foreign: foreign}})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(ran(), "merge"); got == foreign || l.Read("merged") != base+"3\n" {
			t.Errorf("foreign %t: the driver ran: %t, and made %q", foreign, got, l.Read("merged"))
		}
	}
}

// TestKilledForkOfStranger: a fork was killed when it had made the worktree. Whoever takes that back
// has git look at the worktree first, and it runs nothing of it.
func TestKilledForkOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := newLab(t)
		turn, ran := l.stranger()
		f := l.forkOf(turn)
		f.Foreign = true
		l.fork(f)
		held, err := lock.Take(t.Context(), statedir.In(filepath.Join(l.Dir, ".git"), "agent"), filepath.Join("planting", string(forkID)))
		if err != nil {
			t.Fatal(err)
		}
		branch := forkID.Branch(l.capture.BranchPrefix)
		words := []string{string(forkID), l.Git("rev-parse", forkID.Ref()), turn.Code.String(), branch, f.Worktree}
		if foreign {
			words = append(words, "foreign")
		}
		if err := held.Note(lock.Note{At: time.Now(), Words: words}); err != nil {
			t.Fatal(err)
		}
		held.Release()
		l.recorder(l.Dir).ClearDead(t.Context())
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
		if _, err := os.Stat(f.Worktree); err == nil {
			t.Errorf("foreign %t: the worktree is still there", foreign)
		}
	}
}
