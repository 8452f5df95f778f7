//go:build unix

package statedir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestTemporary: what a process has left that was killed is removed by the next one, and nothing else is.
func TestTemporary(t *testing.T) {
	if os.Getenv("TEST_TEMPORARY") != "" {
		dir, err := NewTemporary()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir.Path, "file"), nil, 0o600)
		}
		fmt.Println(dir.Path, err)
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	start := func() (path string, kill func()) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTemporary$")
		cmd.Env = append(os.Environ(), "TEST_TEMPORARY=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var why string
		if _, err := fmt.Fscan(out, &path, &why); err != nil || why != "<nil>" {
			t.Fatal(path, why, err)
		}
		return path, func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
			_ = in.Close()
		}
	}
	there := func(paths ...string) (n int) {
		for _, path := range paths {
			if _, err := os.Stat(path); err == nil {
				n++
			}
		}
		return n
	}
	dead, kill := start()
	kill()
	if there(dead) == 0 {
		t.Fatal("nothing was left")
	}
	alive, kill := start()
	defer kill()
	if there(dead) != 0 || there(alive) == 0 {
		t.Errorf("%s of the dead, %s of the living: %d, %d", dead, alive, there(dead), there(alive))
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 50 {
				dir, err := NewTemporary()
				if err != nil {
					t.Error(err)
					return
				}
				if there(dir.Path) == 0 || !filepath.IsAbs(dir.Path) {
					t.Error("not there: " + dir.Path)
				}
				dir.Close()
			}
		})
	}
	all.Wait()
	kill()
	for _, relative := range []bool{true, false} {
		if relative {
			t.Chdir(tmp)
			t.Setenv("TMPDIR", ".")
		} else if err := errors.Join(os.Remove(filepath.Dir(alive)), os.WriteFile(filepath.Dir(alive), nil, 0o600)); err != nil { // in the way
			t.Fatal(err)
		}
		dir, err := NewTemporary()
		if err != nil {
			t.Fatal(err)
		}
		if there(dir.Path) == 0 || !filepath.IsAbs(dir.Path) || there(alive) != 0 {
			t.Error("not there: " + dir.Path)
		}
		dir.Close()
		if left, err := filepath.Glob(tmp + "/*/*"); err != nil || len(left) != 0 {
			t.Error("left: ", left, err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) != 1 {
			t.Error("left: ", left, err)
		}
	}
}
