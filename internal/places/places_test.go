package places

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two\nlines")
	for _, d := range []string{one, two} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := Of(env(map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state")}))
	if list, err := p.Repositories(); err != nil || len(list) != 0 {
		t.Fatalf("before anything is noted: %q, %v", list, err)
	}
	note := func(session, common string) {
		t.Helper()
		if err := p.Note(session, common); err != nil {
			t.Fatal(err)
		}
	}
	note("s1", one)
	note("s2", two)
	note("s3", filepath.Join(dir, "gone"))
	earlier := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.Dir().Path(filepath.Join(repositories, nameOf(one))), earlier, earlier); err != nil {
		t.Fatal(err)
	}
	if got := p.Home("s2"); got != two {
		t.Errorf("Home = %q, want %q", got, two)
	}
	if got := p.Home("s4"); got != "" {
		t.Errorf("Home of an unknown session = %q", got)
	}
	if list, err := p.Repositories(); err != nil || !slices.Equal(list, []string{two, one}) {
		t.Errorf("Repositories = %q, %v", list, err)
	}
	if left, err := p.Dir().ReadDir(repositories); err != nil || len(left) != 2 {
		t.Errorf("%d notes of repositories are left, %v; one is gone", len(left), err)
	}
	now := time.Now()
	old := now.Add(-Kept - time.Hour)
	if err := os.Chtimes(p.Dir().Path(filepath.Join(homes, "s1")), old, old); err != nil {
		t.Fatal(err)
	}
	if err := p.Prune(now); err != nil || p.Home("s1") != "" || p.Home("s2") == "" {
		t.Errorf("homes of s1 %q and s2 %q, %v: only an old one is forgotten", p.Home("s1"), p.Home("s2"), err)
	}
}

// TestSwitch: only what is noted as a whole counts, and it goes with the repository.
func TestSwitch(t *testing.T) {
	p := Of(env(map[string]string{"XDG_STATE_HOME": filepath.Join(t.TempDir(), "state")}))
	for _, tt := range []struct {
		do   func() error
		want bool
	}{
		{func() error { return nil }, false},
		{func() error { return p.Switch("/one", false) }, false},
		{func() error { return p.Switch("/one", true) }, true},
		{func() error { return p.Switch("/two", false) }, true},
		{func() error { return p.Switch("/one", false) }, false},
		{func() error { return p.Switch("/one", true) }, true},
		{func() error { return p.Forget("/one") }, false},
	} {
		if err := tt.do(); err != nil || p.Switched("/one") != tt.want || p.Switched("/two") {
			t.Errorf("%v; one: %t, want %t", err, !tt.want, tt.want)
		}
	}
	if nowhere := Of(env(nil)); nowhere.Switch("/one", true) == nil || nowhere.Switch("/one", false) != nil || nowhere.Switched("/one") {
		t.Error("without a home directory something is noted")
	}
}

// TestForget: a repository that is forgotten takes the homes there along, and the
// last one the directory.
func TestForget(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	p := Of(env(map[string]string{"XDG_STATE_HOME": state}))
	one, two := t.TempDir(), t.TempDir()
	for session, common := range map[string]string{"s1": one, "s2": two, "s3": one} {
		if err := p.Note(session, common); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Forget(one); err != nil {
		t.Fatal(err)
	}
	if list, err := p.Repositories(); err != nil || !slices.Equal(list, []string{two}) || p.Home("s1") != "" || p.Home("s2") != two {
		t.Errorf("there are %q, %v; homes %q and %q", list, err, p.Home("s1"), p.Home("s2"))
	}
	if err := p.Forget(two); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(p.Dir().Path(".")); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	if err := p.Forget(two); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestNobodysPlaces(t *testing.T) {
	p := Of(env(nil))
	if err := p.Note("s1", "/home/dev/a/.git"); err == nil {
		t.Error("Note has no error without a home directory")
	}
	if list, err := p.Repositories(); err != nil || list != nil || p.Home("s1") != "" {
		t.Errorf("Repositories = %q, %v", list, err)
	}
	if err := p.Prune(time.Now()); err != nil {
		t.Error(err)
	}
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}
