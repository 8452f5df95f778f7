//go:build unix

package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPlanted: whatever a stranger has put in the place of a file or directory, nothing outside is
// touched, nobody waits, and the error names it.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(parent, victim string) error{
		"a link in the place of the directory": func(parent, victim string) error {
			return os.Symlink(filepath.Dir(victim), filepath.Join(parent, "agent"))
		},
		"a link to a neighbour": func(parent, _ string) error {
			return errors.Join(os.Mkdir(filepath.Join(parent, "hooks"), 0o777), os.Symlink("hooks", filepath.Join(parent, "agent")))
		},
		"a file in the place of the directory": func(parent, _ string) error {
			return os.WriteFile(filepath.Join(parent, "agent"), nil, 0o666)
		},
		"a link in the place of a directory in it": func(parent, victim string) error {
			return errors.Join(os.Mkdir(filepath.Join(parent, "agent"), 0o777), os.Symlink(filepath.Dir(victim), filepath.Join(parent, "agent", "sub")))
		},
		"a link to a file": func(parent, victim string) error {
			return in(parent, func(path string) error { return os.Symlink(victim, path) })
		},
		"a relative link": func(parent, victim string) error {
			return in(parent, func(path string) error { return os.Symlink("../../../outside/victim", path) })
		},
		"a link to what is not there": func(parent, victim string) error {
			return in(parent, func(path string) error { return os.Symlink(victim+"-to-be", path) })
		},
		"another name of a file": func(parent, victim string) error {
			return in(parent, func(path string) error { return os.Link(victim, path) })
		},
		"a pipe": func(parent, _ string) error {
			return in(parent, func(path string) error { return syscall.Mkfifo(path, 0o666) })
		},
		"a directory": func(parent, _ string) error {
			return in(parent, func(path string) error { return os.Mkdir(path, 0o777) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			parent, victim := filepath.Join(top, "git"), filepath.Join(top, "outside", "victim")
			for _, err := range []error{
				os.Mkdir(parent, 0o777), os.Mkdir(filepath.Dir(victim), 0o777), os.WriteFile(victim, []byte("mine"), 0o666), plant(parent, victim),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			d := In(parent, "agent")
			for what, err := range map[string]error{
				"write":  d.WriteFile("sub/file", []byte("theirs")),
				"append": opened(d, os.O_WRONLY|os.O_APPEND|os.O_CREATE),
				"lock":   opened(d, os.O_RDWR|os.O_CREATE),
			} {
				if err == nil || !strings.Contains(err.Error(), filepath.Join(parent, "agent")) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if err := d.Look("sub/file", func(fs.FileInfo) {}); (err == nil) != (name == "a directory") {
				t.Errorf("look: %v", err)
			}
			if data, err := d.ReadFile("sub/file"); err == nil && name != "another name of a file" {
				t.Errorf("read %q", data)
			}
			if data, err := os.ReadFile(victim); err != nil || string(data) != "mine" {
				t.Errorf("the victim is %q, %v", data, err)
			}
			if entries, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(entries) != 1 {
				t.Errorf("beside the victim is %v, %v", entries, err)
			}
		})
	}
}

func in(parent string, plant func(path string) error) error {
	dir := filepath.Join(parent, "agent", "sub")
	return errors.Join(os.MkdirAll(dir, 0o777), plant(filepath.Join(dir, "file")))
}

func opened(d *Dir, flag int) error {
	f, err := d.OpenFile("sub/file", flag)
	if err == nil {
		f.Close()
	}
	return err
}

// TestGone: local state may be deleted at any time, also while a process works with it.
func TestGone(t *testing.T) {
	t.Parallel()
	d := In(t.TempDir(), "agent")
	for range 3 {
		if err := d.WriteFile("sub/file", []byte("text")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(d.Path(".")); err != nil {
			t.Fatal(err)
		}
		if _, err := d.ReadFile("sub/file"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("reading what is gone: %v", err)
		}
	}
}

// TestModes: a git directory for one user alone has nothing of ours in it that others could use.
func TestModes(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	if err := os.Chmod(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	d := In(parent, "agent")
	if err := d.WriteFile("sub/file", nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{".": 0o700, "sub": 0o700, "sub/file": 0o600} {
		if info, err := d.Lstat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// What is removed is what is in the directory, and not what a link leads to.
func TestRemoveAll(t *testing.T) {
	t.Parallel()
	parent, other := t.TempDir(), t.TempDir()
	d := In(parent, "agent")
	if err := d.RemoveAll("."); err != nil {
		t.Errorf("nothing: %v", err)
	}
	for _, name := range []string{"a", "b/c"} {
		if err := d.WriteFile(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	kept := filepath.Join(other, "kept")
	if err := os.WriteFile(kept, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, d.Path("b/link")); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove("."); err == nil {
		t.Error("Remove removed what is not empty")
	}
	if err := d.RemoveAll("."); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(d.Path(".")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Lstat(kept); err != nil {
		t.Error(err)
	}
	if err := d.WriteFile("again", nil); err != nil {
		t.Error(err)
	}
}

// TestOf: those who may write in a git directory can write its state, whatever the umask was and whoever made it.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		parent          fs.FileMode
		dir, sub, plain fs.FileMode
	}{
		{"the owner's", 0o755, 0o755, 0o700, 0o600},
		{"closed", 0o700, 0o700, 0o700, 0o600},
		{"the group reads", fs.ModeSetgid | 0o750, 0o750, 0o700, 0o600},
		{"the group writes", fs.ModeSetgid | 0o775, fs.ModeSetgid | 0o775, fs.ModeSetgid | 0o770, 0o660},
		{"all write", 0o777, 0o777, 0o777, 0o666},
	} {
		for _, made := range []string{"new", "made before"} {
			git := t.TempDir()
			is := func(name string, want fs.FileMode) {
				t.Helper()
				info, err := os.Stat(filepath.Join(git, name))
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode() &^ fs.ModeDir; got&^fs.ModeSetgid != want&^fs.ModeSetgid || want&fs.ModeSetgid&^got != 0 {
					t.Errorf("%s, %s: %s has %v, want %v", tt.name, made, name, got, want)
				}
			}
			if made == "made before" { // with a umask of 077, and before the directory was shared
				if err := In(git, "agent").WriteFile("sub/x", nil); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(filepath.Join(git, "agent"), tt.dir&^0o077); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(git, tt.parent); err != nil {
				t.Fatal(err)
			}
			dir := Of(git)
			if err := dir.WriteFile("sub/x", []byte("x")); err != nil {
				t.Fatal(err)
			}
			if os.Geteuid() == 0 {
				if err := os.Chown(git, 12345, 12346); err != nil {
					t.Fatal(err)
				}
				if err := Of(git).WriteFile("sub/x", nil); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"agent", "agent/sub", "agent/sub/x"} {
					info, err := os.Stat(filepath.Join(git, name))
					if err != nil {
						t.Fatal(err)
					}
					if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 12346 {
						t.Errorf("%s, %s: root's %s belongs to %d:%d", tt.name, made, name, s.Uid, s.Gid)
					}
				}
			}
			is("agent/sub", tt.sub)
			is("agent/sub/x", tt.plain)
			if made == "new" {
				is("agent", tt.dir)
			} else if tt.parent.Perm()&0o022 != 0 {
				is("agent", tt.sub)
			}
		}
	}
}
