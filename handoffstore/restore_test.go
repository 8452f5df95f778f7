package handoffstore

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// TestRestoreOfStranger: what a stranger has handed off comes with a filter, which runs unless it is
// his.
func TestRestoreOfStranger(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the filter is a shell script")
	}
	for _, foreign := range []bool{false, true} {
		l := newLab(t)
		ran := filepath.Join(filepath.Dir(l.Dir), "ran")
		l.turn(1, "s", "end_turn", "give me a filter", "here it is")
		l.Write("bin/filter", "#!/bin/sh\ntouch '"+ran+"'\ncat\n")
		gittest.Must(t, os.Chmod(filepath.Join(l.Dir, "bin", "filter"), 0o755))
		l.Do(".gitattributes=zzz filter=x; zzz=filtered")
		l.gather(time.Minute, Request{Session: "s"})
		l.Do("git clean -qfd; git config filter.x.smudge bin/filter")
		f := l.find("1")
		if _, err := l.Restore(t.Context(), f, l.now.Add(time.Hour), RestorePlan{Foreign: foreign}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(ran); (err == nil) == foreign {
			t.Errorf("foreign %t: the filter ran: %t", foreign, err == nil)
		}
		if text := l.Read("zzz"); text != "filtered\n" {
			t.Errorf("foreign %t: zzz has %q", foreign, text)
		}
	}
}

// TestMergeOfStranger: a merge driver that lies in the worktree runs, unless the handoff is a stranger's.
// Both merge what can be merged.
func TestMergeOfStranger(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the driver is a shell script")
	}
	for _, conflict := range []bool{false, true} {
		for _, foreign := range []bool{false, true} {
			l := newLab(t)
			ran := filepath.Join(filepath.Dir(l.Dir), "ran")
			l.Write("bin/merge", "#!/bin/sh\ntouch '"+ran+"'\nexec git merge-file -q $1 $2 $3\n")
			gittest.Must(t, os.Chmod(filepath.Join(l.Dir, "bin", "merge"), 0o755))
			l.Write(".gitattributes", "file merge=x\n")
			l.Write("file", "1\n2\n3\n4\n5\n")
			l.Commit("second")
			l.turn(1, "s", "end_turn", "change it", "done")
			l.Write("file", "one\n2\n3\n4\n5\n")
			l.gather(time.Minute, Request{Session: "s"})
			want := "one\n2\n3\n4\nfive\n"
			if l.Write("file", "1\n2\n3\n4\nfive\n"); conflict {
				l.Write("file", "eins\n2\n3\n4\n5\n")
				want = ""
			}
			l.Git("config", "merge.x.driver", "bin/merge %A %O %B")
			f := l.find("1")
			done, err := l.Restore(t.Context(), f, l.now.Add(time.Hour), RestorePlan{Foreign: foreign})
			gittest.Must(t, err)
			if _, err := os.Stat(ran); (err == nil) == foreign {
				t.Errorf("foreign %t: the driver ran: %t", foreign, err == nil)
			}
			text := l.Read("file")
			if conflict != (len(done.Conflicts) == 1) || !conflict && text != want || conflict && !strings.Contains(text, "<<<<<<<") {
				t.Errorf("foreign %t, conflict %t: %q, conflicts %+v", foreign, conflict, text, done.Conflicts)
			}
		}
	}
}
