package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/test/gittest"
)

func TestPresence(t *testing.T) {
	t.Parallel()
	p := PresenceIn(t.TempDir())
	others := func(self string) (ids []string) {
		t.Helper()
		list, err := p.Others(self)
		gittest.Must(t, err)
		for _, a := range list {
			ids = append(ids, a.Session)
			if a.At.IsZero() {
				t.Errorf("%s arrived at no time", a.Session)
			}
		}
		slices.Sort(ids)
		return ids
	}
	if got := others("a"); got != nil {
		t.Errorf("before anybody arrived: %q", got)
	}
	gittest.Must(t, p.Leave("a"))
	for _, id := range []string{"a", "b", "a"} {
		gittest.Must(t, p.Arrive(id))
	}
	if got := others("a"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("beside a: %q", got)
	}
	if got := others("c"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("beside c: %q", got)
	}
	gittest.Must(t, p.Leave("b"))
	gittest.Must(t, p.Leave("b"))
	if got := others("a"); got != nil {
		t.Errorf("after b left: %q", got)
	}
}

// Who could write in the git directory once may have put something else there.
func TestPresenceElsewhere(t *testing.T) {
	t.Parallel()
	gitDir, other := t.TempDir(), t.TempDir()
	gittest.Must(t, os.WriteFile(filepath.Join(other, "b"), []byte("theirs"), 0o666))
	gittest.Must(t, os.Mkdir(filepath.Join(gitDir, "agent"), 0o777))
	if err := os.Symlink(other, filepath.Join(gitDir, "agent", "here")); err != nil {
		t.Skip(err)
	}
	p := PresenceIn(gitDir)
	if err := p.Arrive("a"); err == nil {
		t.Error("it was noted in a directory elsewhere")
	}
	if err := p.Leave("b"); err == nil {
		t.Error("a file elsewhere was removed")
	}
}
