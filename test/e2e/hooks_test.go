//go:build e2e

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Whatever becomes of our program, the agent works as if there were no hook.
func TestBrokenHook(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	real, err := exec.LookPath("git-agent-turn")
	gittest.Must(t, err)
	for _, tt := range []struct {
		name   string
		script string // what stands on PATH in the place of git-agent-turn; "" for nothing
		status int    // of the script, to be sure that it breaks as it says
	}{
		{"missing", "", 0},
		{"exits with 2", "echo broken >&2; exit 2", 2},
		{"exits with 1", "exit 1", 1},
		{"dies of a signal", "kill -KILL $$", -1},
		// Too little address space for the Go runtime: "fatal error", status 2.
		{"fatal runtime error", "ulimit -v 200000; exec '" + real + "' \"$@\"", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			bin := filepath.Join(r.home, "bin")
			gittest.Must(t, os.Mkdir(bin, 0o777))
			path := os.Getenv("PATH")
			if tt.script == "" {
				path = withoutDir(path, filepath.Dir(real))
			} else {
				stub := filepath.Join(bin, "git-agent-turn")
				gittest.Must(t, os.WriteFile(stub, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o777))
				path = bin + string(filepath.ListSeparator) + path
				var exit *exec.ExitError
				if err := exec.Command(stub, "hook").Run(); !errors.As(err, &exit) || exit.ExitCode() != tt.status {
					t.Fatalf("the stub: %v, want status %d", err, tt.status)
				}
			}
			r.vars = append(r.vars, "PATH="+path)

			h := r.claude(r.repo.Dir, "T1 hello").ok()
			if h.result.Result != "A1 done: wrote one.txt" {
				t.Errorf("result = %+v", h.result)
			}
			for _, x := range h.hooks {
				if x.ExitCode != 0 || x.Stdout != "" {
					t.Errorf("the client heard of it: %+v", x)
				}
			}
			for _, x := range r.heard(h.session()) {
				// What a shell says of it on standard error is kept, and shown to nobody.
				if x.Type != "hook_success" || x.Stdout != "" || x.ExitCode != 0 {
					t.Errorf("the client heard of it: %+v", x)
				}
			}
			if got := r.mock.requests(); len(got) != 2 || got[0].Step != 0 || got[1].Step != 1 {
				t.Errorf("requests = %+v, want two", got)
			}
		})
	}
}

// withoutDir takes a directory out of a search path.
func withoutDir(path, dir string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(d string) bool { return d == dir })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// What init installs, it takes out again, and the user's own settings stay as they were.
func TestRemove(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	before, err := os.ReadFile(r.settings())
	gittest.Must(t, err)
	r.command(r.repo.Dir, "init")
	r.claude(r.repo.Dir, "T1 hello").ok().quiet()
	r.command(r.repo.Dir, "init", "--remove")
	r.claude(r.repo.Dir, "T2 hello").ok().quiet()
	r.check(r.done("T1"))
	after, err := os.ReadFile(r.settings())
	gittest.Must(t, err)
	if string(after) != string(before) {
		t.Errorf("settings are\n%s\nwere\n%s", after, before)
	}
}
