//go:build unix

package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A command gets its window, its directory, its variables and its words, none of which is a command of a
// shell's or of tmux's, and the user stays where he is.
func TestNewWindow(t *testing.T) { eachTmux(t, testNewWindow) }

func testNewWindow(t *testing.T) {
	socket := testServer(t, "echo text")
	dir := filepath.Join(t.TempDir(), `a #{pane_id} #(touch x) ##[bold] $(touch y) 'b' %H;`)
	gittest.Must(t, os.Mkdir(dir, 0o777))
	program := filepath.Join(t.TempDir(), "agent")
	const script = "#!/bin/sh\nfor w in \"$PWD\" \"$ONE\" \"$TMUX_PANE\" \"$@\"; do printf '%s\\0' \"$w\"; done >out.tmp; mv out.tmp out; exec tmux wait-for -S told\n"
	gittest.Must(t, os.WriteFile(program, []byte(script), 0o777))
	p, err := FindPane("")
	gittest.Must(t, err)
	words := []string{"--", "first; $(touch z)\nsecond #{pane_id} 日 'c'", ";", "-x", "end;", strings.Repeat("long ", 2000)}
	w, err := p.NewWindow(t.Context(), "a1b2c3d4", dir, []string{"ONE=1 #{pane_id};"}, append([]string{program}, words...))
	if err != nil || w != (Window{"@1", "1"}) {
		t.Fatalf("NewWindow = %+v, %v; want the second window", w, err)
	}
	if out, err := exec.Command("tmux", "-S", socket, "wait-for", "told").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := os.ReadFile(filepath.Join(dir, "out"))
	want := strings.Join(append([]string{dir, "1 #{pane_id};", "%1"}, words...), "\x00") + "\x00"
	if string(out) != want {
		t.Errorf("the command has %q, %v; want %q", out, err, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("commands were run: %v, %v", left, err)
	}
	if at, err := p.Ask(t.Context(), "#{window_active}"); err != nil || at != "1" {
		t.Errorf("the user's window is the current one: %q, %v", at, err)
	}
}

func TestNoWindow(t *testing.T) { eachTmux(t, testNoWindow) }

func testNoWindow(t *testing.T) {
	p, _ := testPane(t, "echo text")
	if w, err := p.NewWindow(t.Context(), "name", t.TempDir(), nil, []string{"no-such-program"}); err == nil {
		t.Errorf("NewWindow of a program that is not there = %+v", w)
	}
	w, err := p.NewWindow(t.Context(), "name", t.TempDir(), nil, []string{"sleep", strings.Repeat("x", 20<<10)})
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("NewWindow of 20 KB = %+v, %v; want what tmux says", w, err)
	}
	if w, err := (Pane{"%77"}).NewWindow(t.Context(), "name", t.TempDir(), nil, []string{"sleep", "1"}); err == nil {
		t.Errorf("NewWindow beside no pane = %+v", w)
	}
}
