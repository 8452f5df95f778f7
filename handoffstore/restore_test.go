package handoffstore

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
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
		if err := os.Chmod(filepath.Join(l.Dir, "bin", "filter"), 0o755); err != nil {
			t.Fatal(err)
		}
		l.Write(".gitattributes", "zzz filter=x\n")
		l.Write("zzz", "filtered\n")
		l.gather(time.Minute, Request{Session: "s"})
		l.Git("clean", "-qfd")
		l.Git("config", "filter.x.smudge", "bin/filter")
		f := l.find("1")
		if _, err := l.Restore(t.Context(), f, l.now.Add(time.Hour), Checkout{Foreign: foreign}); err != nil {
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
