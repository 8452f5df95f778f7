//go:build unix

package places

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/test/gittest"
)

// TestSwitchedAndMoved: the user's word goes along with a repository that is moved, and with none that has taken its place.
func TestSwitchedAndMoved(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	p := Of(env(map[string]string{"XDG_STATE_HOME": state}))
	one, two, copied := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "copy")
	for _, step := range []struct {
		do               func() error
		one, two, copied bool
	}{
		{func() error { return errors.Join(os.Mkdir(one, 0o777), os.Mkdir(copied, 0o777)) }, false, false, false},
		{func() error { return p.Switch(one, true) }, true, false, false},
		{func() error { return os.Rename(one, two) }, true, true, false},
		{func() error { return os.Rename(copied, one) }, true, false, false}, // by its path; and who is two is not known any more
		{func() error { return os.Rename(one, copied) }, true, true, false},
		{func() error { return p.Switch(two, false) }, false, false, false},
		{func() error { return p.Switch(two, true) }, false, true, false},
		{func() error { return os.Rename(two, one) }, true, true, false},
		{func() error { return p.Switch(one, true) }, true, false, false}, // its word for where it was is over
		{func() error { return p.Forget(one) }, false, false, false},
		{func() error { return p.Switch(one, true) }, true, false, false},
		{func() error { return os.Rename(one, two) }, true, true, false},
		{func() error { return p.Switch(two, false) }, false, false, false},
		{func() error { return p.Forget(two) }, false, false, false},
	} {
		gittest.Must(t, step.do())
		if got := []bool{p.Switched(one), p.Switched(two), p.Switched(copied)}; !slices.Equal(got, []bool{step.one, step.two, step.copied}) {
			t.Errorf("%v, want %v", got, step)
		}
	}
	if _, err := os.Stat(filepath.Join(state, "git-agent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is left of it: %v", err)
	}
}
