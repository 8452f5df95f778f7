//go:build unix

package terminal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// eachTmux runs f with each tmux that there is.
func eachTmux(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	gittest.EachTmux(t, func(t *testing.T, tmux string) {
		gittest.UseTmux(t, tmux)
		f(t)
	})
}

// testServer starts a tmux server with one pane of 40 by 5, which runs a shell command and stays.
// The test gets the environment of a process in the pane.
func testServer(t *testing.T, command string) (socket string) {
	t.Helper()
	gittest.Tmux(t)
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path ends at 108 bytes
	gittest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	tmux := func(args ...string) {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", socket}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
	}
	tmux("-f", "/dev/null", "start-server", ";", "set-option", "-g", "history-limit", "1000", ";",
		"new-session", "-d", "-x", "40", "-y", "5", "--", "sh", "-c", command+"; tmux -S "+socket+" wait-for -S drawn; exec sleep 1000")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	tmux("wait-for", "drawn")
	t.Setenv("TMUX", socket+",1,0")
	t.Setenv("TMUX_PANE", "%0")
	return socket
}

// testPane is testServer, and what FindPane finds there.
func testPane(t *testing.T, command string) (p Pane, socket string) {
	t.Helper()
	socket = testServer(t, command)
	p, err := FindPane("")
	gittest.Must(t, err)
	return p, socket
}

func TestSnapshot(t *testing.T) { eachTmux(t, testSnapshot) }

func testSnapshot(t *testing.T) {
	testServer(t, `for i in 1 2 3 4 5 6 7 8; do echo "line $i 日本"; done`)
	const want = "line 1 日本\nline 2 日本\nline 3 日本\nline 4 日本\nline 5 日本\nline 6 日本\nline 7 日本\nline 8 日本\n"
	t.Setenv("LC_ALL", "C")
	for _, target := range []string{"", "%0", "0:0.0"} {
		got, err := Snapshot(t.Context(), target)
		if err != nil || string(got) != want {
			t.Errorf("Snapshot(%q) = %q, %v; want %q", target, got, err, want)
		}
	}
	p, err := FindPane("")
	gittest.Must(t, err)
	if on, err := p.OnAlternate(t.Context()); on || err != nil {
		t.Errorf("OnAlternate = %v, %v; want false", on, err)
	}
}

func TestOnAlternate(t *testing.T) { eachTmux(t, testOnAlternate) }

func testOnAlternate(t *testing.T) {
	p, _ := testPane(t, `printf '\033[?1049hfull screen'`)
	if on, err := p.OnAlternate(t.Context()); !on || err != nil {
		t.Errorf("OnAlternate = %v, %v; want true", on, err)
	}
}

// A target is a name, and never a shell or tmux command.
func TestHostileTargets(t *testing.T) { eachTmux(t, testHostileTargets) }

func testHostileTargets(t *testing.T) {
	testServer(t, "echo text")
	dir := t.TempDir()
	t.Chdir(dir)
	for _, target := range []string{
		"$(touch a)", "`touch a`", "#(touch a)", "x; touch a", "x;", ";", "%0 ; kill-server", "x\nkill-server",
		"'; touch a; '", "#{l:x}", "nosuch", "%77",
	} {
		if got, err := Snapshot(t.Context(), target); err == nil {
			t.Errorf("Snapshot(%q) = %q, want an error", target, got)
		}
		if on, err := (Pane{target}).OnAlternate(t.Context()); err == nil {
			t.Errorf("OnAlternate of %q = %v, want an error", target, on)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("commands were run: %v, %v", left, err)
	}
	if _, err := Snapshot(t.Context(), ""); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// tmux takes another pane for the name of one that is not there; nothing may be asked of that, logged or
// started beside it.
func TestNoSuchPane(t *testing.T) { eachTmux(t, testNoSuchPane) }

func testNoSuchPane(t *testing.T) {
	testServer(t, "echo text")
	log := filepath.Join(t.TempDir(), "log")
	for _, target := range []string{"0:nosuch", "0:0.7", "0:3", "nosuch:", "nosuch", "%77", "@77", "$77", "0:0.%77"} {
		p, err := FindPane(target)
		gittest.Must(t, err)
		_, errWindow := p.NewWindow(t.Context(), "name", t.TempDir(), nil, []string{"sleep", "1"})
		_, errFile := p.LogFile(t.Context())
		_, errText := Snapshot(t.Context(), target)
		_, errPage := p.Page(t.Context())
		for what, err := range map[string]error{
			"NewWindow": errWindow, "LogFile": errFile, "Snapshot": errText, "Page": errPage, "StartLog": p.StartLog(t.Context(), log),
			"Press": p.Press(t.Context(), "x"), "Type": p.Type(t.Context(), "x"), "Paste": p.Paste(t.Context(), "x"),
		} {
			if err == nil {
				t.Errorf("%s of %s: no error", what, target)
			}
		}
		if id, err := p.Ask(t.Context(), "#{pane_id}"); err == nil {
			t.Errorf("the id of %s is %q", target, id)
		}
	}
	p, err := FindPane("0:0.0")
	gittest.Must(t, err)
	if id, err := p.Ask(t.Context(), "#{pane_id}"); id != "%0" || err != nil {
		t.Errorf("the id of 0:0.0 is %q, %v", id, err)
	}
	nothingBegun(t, p, filepath.Dir(log))
}

func TestNoPane(t *testing.T) {
	t.Setenv("TMUX", "")
	t.Setenv("TMUX_PANE", "%0") // of an unknown server
	if _, err := Snapshot(t.Context(), ""); !errors.Is(err, ErrNoPane) {
		t.Errorf("Snapshot without tmux: %v, want %v", err, ErrNoPane)
	}
}

func TestNoServer(t *testing.T) { eachTmux(t, testNoServer) }

func testNoServer(t *testing.T) {
	socket := testServer(t, "echo text")
	gittest.Must(t, exec.Command("tmux", "-S", socket, "kill-server").Run())
	var exit *exec.ExitError
	if got, err := Snapshot(t.Context(), ""); !errors.As(err, &exit) {
		t.Errorf("Snapshot without a server = %q, %v; want tmux's status", got, err)
	}
}

func TestNoTmux(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if got, err := Snapshot(t.Context(), "%0"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("Snapshot without tmux = %q, %v; want %v", got, err, exec.ErrNotFound)
	}
}

// fakeTmux replaces tmux by a shell script, for failures that the real one rarely shows.
func fakeTmux(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\ncd "+dir+"\n"+script), 0o777))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return dir
}

func TestStatusWithOutput(t *testing.T) {
	fakeTmux(t, "echo half a page; echo 'lost server' >&2; exit 7")
	got, err := Snapshot(t.Context(), "%0")
	var exit *exec.ExitError
	if got != nil || !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.Contains(err.Error(), "lost server") {
		t.Errorf("Snapshot = %q, %v; want no text, and status 7 with what tmux said", got, err)
	}
}

// A tmux that hangs is ended, and a child of it that holds the output open is not waited for.
func TestTimeout(t *testing.T) {
	dir := fakeTmux(t, "sleep 1000 & echo $! >child; echo half a page; wait")
	t.Cleanup(func() {
		if pid, err := os.ReadFile(filepath.Join(dir, "child")); err == nil {
			_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run()
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got, err := Snapshot(ctx, "%0"); got != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Snapshot = %q, %v; want %v", got, err, context.DeadlineExceeded)
	}
}
