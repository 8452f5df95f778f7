package claude

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	long := "/home/dev/" + strings.Repeat("long/", 60)
	write := func(path, content string) string {
		t.Helper()
		write(t, path, content)
		return path
	}
	none, err := History(config, []string{"/home/dev/repo"})
	if err != nil || none != nil {
		t.Errorf("without any: %v, %v", none, err)
	}
	want := []string{
		write(Path(config, "/home/dev/repo", "a"), "a"),
		write(Path(config, "/home/dev/repo/below/it", "b"), "b"),
		write(Path(config, "/home/dev/repo-beside", "c"), "c"), // its name is that of a directory below
		write(Path(config, long, "d"), "d"),
		write(Path(config, long+"/below", "e"), "e"),
		write(Path(config, "/home/dev/repo/moved", "f"), "and longer"),
	}
	write(Path(config, "/home/dev/repo", "f"), "moved")
	packed := write(Path(config, "/home/dev/repo", "g")+".gz", "packed by a person")
	write(Path(config, "/home/dev/repo", "a")+".gz", "a copy that is larger than the conversation")
	write(Path(config, "/home/dev/repo", "h")+".bak", "something else")
	want = append(want, packed)
	write(Path(config, "/home/dev/repository", "x"), "x")
	write(Path(config, "/home/dev", "x"), "x")
	write(Path(config, "/home/dev/repo", "agent-1"), "of a sub-agent")
	write(Path(config, "/home/dev/repo", ".x"), "no session")
	write(Path(config, "/home/dev/repo", "empty"), "")
	write(Path(config, "/home/dev/repo", "dir")+"/file", "")
	if err := os.Symlink(want[0], Path(config, "/home/dev/repo", "link")); err != nil {
		t.Log(err)
	}
	write(filepath.Dir(Path(config, "/home/dev/repo/plain", "x")), "no directory")
	list, err := History(config, []string{"/home/dev/repo", long})
	var got []string
	for _, s := range list {
		got = append(got, s.Path)
		if s.Runs || s.Size == 0 || s.Session != strings.SplitN(filepath.Base(s.Path), ".", 2)[0] || errors.Is(s.Err, transcript.ErrForeign) != (s.Path == packed) {
			t.Errorf("it is %+v", s)
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want\n%q", got, err, want)
	}
	// A directory that can't be read is named, and the others are listed.
	loop := filepath.Dir(Path(config, "/home/dev/repo/loop", "x"))
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}
	again, err := History(config, []string{"/home/dev/repo", long})
	if err == nil || !strings.Contains(err.Error(), loop) || !slices.EqualFunc(again, list, func(a, b transcript.File) bool { return a.Path == b.Path }) {
		t.Errorf("with one that can't be read: %+v, %v", again, err)
	}
}
