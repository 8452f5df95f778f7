//go:build unix

package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/vt"
	"gitagent/test/gittest"
)

// await looks until ok; otherwise the test's own time-out ends it.
func await(ok func() bool) {
	for !ok() {
	}
}

// wake lets the pane's command go on that waits for "go".
func wake(t *testing.T, socket string) {
	t.Helper()
	if out, err := exec.Command("tmux", "-S", socket, "wait-for", "-S", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	gittest.Must(t, err)
	return string(text)
}

// begins returns what the log of a pane of 40 by 5 begins with.
func begins(t *testing.T, p Pane) string {
	t.Helper()
	wide, err := p.Ask(t.Context(), "#{variation-selector-always-wide}")
	gittest.Must(t, err)
	if wide == "1" {
		return "\r\x1b[8;5;40t\x1b[?2027h"
	}
	return "\r\x1b[8;5;40t"
}

func TestLog(t *testing.T) { eachTmux(t, testLog) }

func testLog(t *testing.T) {
	p, socket := testPane(t, "echo before; tmux wait-for -S drawn; tmux wait-for go; echo after")
	if file, err := p.LogFile(t.Context()); file != "" || err != nil {
		t.Errorf("LogFile before there is one = %q, %v", file, err)
	}
	// Neither tmux nor a shell obeys any of this.
	name := filepath.Join(t.TempDir(), "a b'c\"$(touch d)`e`;f&g#{pane_id}#[h]%Y\\i*#(touch j).log;")
	gittest.Must(t, os.WriteFile(name, []byte("an earlier log\r\n"), 0o644))
	gittest.Must(t, p.StartLog(t.Context(), name))
	if file, err := p.LogFile(t.Context()); file != name || err != nil {
		t.Errorf("LogFile = %q, %v; want %q", file, err, name)
	}
	if err := p.StartLog(t.Context(), name+".other"); err == nil {
		t.Error("a second log of the same pane was begun")
	}
	wake(t, socket)
	await(func() bool { return strings.HasSuffix(read(t, name), "after\r\n") })
	want := "an earlier log\r\n" + begins(t, p) + "\x1b[Hbefore\x1b[2;1Hafter\r\n"
	if got := read(t, name); got != want {
		t.Errorf("the log is\n%q, want\n%q", got, want)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the log: %v, %v; want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(name)); err != nil || len(files) != 1 {
		t.Errorf("beside the log there are %v, %v", files, err)
	}
}

func TestLogOfFullScreen(t *testing.T) { eachTmux(t, testLogOfFullScreen) }

func testLogOfFullScreen(t *testing.T) {
	p, socket := testPane(t, `printf '\033[?1049h\033[3;4Hpage'; tmux wait-for -S drawn; tmux wait-for go; echo .`)
	name := filepath.Join(t.TempDir(), "log")
	gittest.Must(t, p.StartLog(t.Context(), name))
	wake(t, socket)
	// The command that tmux started has opened the file when it has written to it; removed earlier, the
	// directory would get the file once more.
	want := begins(t, p) + "\x1b[?1049h\x1b[H\r\n\r\n   page\x1b[3;8H.\r\n"
	await(func() bool { return strings.HasSuffix(read(t, name), ".\r\n") })
	if got := read(t, name); got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
}

func TestLogRefuses(t *testing.T) { eachTmux(t, testLogRefuses) }

func testLogRefuses(t *testing.T) {
	p, _ := testPane(t, "echo text")
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	gittest.Must(t, os.WriteFile(precious, []byte("text"), 0o600))
	link := filepath.Join(dir, "link")
	gittest.Must(t, os.Symlink(precious, link))
	dangling := filepath.Join(dir, "dangling")
	gittest.Must(t, os.Symlink(filepath.Join(dir, "new"), dangling))
	for _, name := range []string{link, dangling, dir, filepath.Join(dir, "line\nfeed"), filepath.Join(dir, "none", "log")} {
		if err := p.StartLog(t.Context(), name); err == nil {
			t.Errorf("StartLog into %q: no error", name)
		}
	}
	if got, err := os.ReadFile(precious); err != nil || string(got) != "text" {
		t.Errorf("what the link leads to is now %q, %v", got, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("the directory has %v, %v", files, err)
	}
	if file, err := p.LogFile(t.Context()); file != "" || err != nil {
		t.Errorf("LogFile = %q, %v; nothing was begun", file, err)
	}
}

// shown is what a log shows.
func shown(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	gittest.Must(t, err)
	defer f.Close()
	var b strings.Builder
	gittest.Must(t, vt.Render(&b, f))
	return b.String()
}

// Nothing is lost, and nothing comes twice, of what is printed while a log begins.
func TestLogWithoutGap(t *testing.T) { eachTmux(t, testLogWithoutGap) }

func testLogWithoutGap(t *testing.T) {
	dir := t.TempDir()
	p, _ := testPane(t, "i=0; while [ ! -e "+filepath.Join(dir, "stop")+" ]; do i=$((i+1)); echo line $i; [ $i != 50 ] || tmux wait-for -S drawn; done")
	for try := range gittest.Size(30, 6) {
		name := filepath.Join(dir, fmt.Sprintf("log%d", try))
		gittest.Must(t, p.StartLog(t.Context(), name))
		first := strings.Count(read(t, name), "\n")
		await(func() bool { return strings.Count(read(t, name), "\n") > first+100 })
		_, err := p.tmux(t.Context(), []string{"pipe-pane"})
		gittest.Must(t, err)
		var lines []int
		for line := range strings.Lines(shown(t, name)) {
			var n int
			if _, err := fmt.Sscanf(line, "line %d\n", &n); err == nil {
				lines = append(lines, n)
			}
		}
		lines = lines[:len(lines)-1] // it may have been cut
		for i, n := range lines {
			if n != lines[0]+i {
				t.Fatalf("log %d has the lines %d and %d in a row:\n%.600q", try, lines[i-1], n, read(t, name))
			}
		}
	}
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "stop"), nil, 0o666))
}

// The log has what the pane's history is too short for.
func TestLogBeyondHistory(t *testing.T) { eachTmux(t, testLogBeyondHistory) }

func testLogBeyondHistory(t *testing.T) {
	const all = 3000 // the history has 1000
	p, socket := testPane(t, fmt.Sprintf("echo line 0; tmux wait-for -S drawn; tmux wait-for go; i=0; while [ $i != %d ]; do i=$((i+1)); echo line $i; done", all))
	name := filepath.Join(t.TempDir(), "log")
	gittest.Must(t, p.StartLog(t.Context(), name))
	wake(t, socket)
	await(func() bool { return strings.HasSuffix(read(t, name), fmt.Sprintf("line %d\r\n", all)) })
	var want strings.Builder
	for i := range all + 1 {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	if got := shown(t, name); got != want.String() {
		t.Errorf("the log shows %d bytes, want %d", len(got), want.Len())
	}
	kept, err := Snapshot(t.Context(), "")
	gittest.Must(t, err)
	if lines := strings.Count(string(kept), "\n"); lines > 1005 || lines < 800 || !strings.HasSuffix(want.String(), string(kept)) {
		t.Errorf("the snapshot has %d lines, want what the history has", lines)
	}
}

// Tab stops that a program has set, and letters that are lines, are part of what a log begins with.
func TestLogOfTabs(t *testing.T) { eachTmux(t, testLogOfTabs) }

func testLogOfTabs(t *testing.T) {
	p, socket := testPane(t, `printf '\033[3g\033[5G\033H\ra\tb\n\033(0lqqk\033(B\n'; tmux wait-for -S drawn; tmux wait-for go; printf 'c\td\n'`)
	got, err := Snapshot(t.Context(), "")
	if want := "a   b\n┌──┐\n"; string(got) != want || err != nil {
		t.Errorf("Snapshot = %q, %v; want %q", got, err, want)
	}
	name := filepath.Join(t.TempDir(), "log")
	gittest.Must(t, p.StartLog(t.Context(), name))
	wake(t, socket)
	await(func() bool { return strings.HasSuffix(read(t, name), "d\r\n") })
	if got, want := shown(t, name), "a   b\n┌──┐\nc   d\n"; got != want {
		t.Errorf("the log shows %q, want %q", got, want)
	}
}

// A pane is logged twice to one file: both pages are there.
func TestLogAgain(t *testing.T) { eachTmux(t, testLogAgain) }

func testLogAgain(t *testing.T) {
	p, socket := testPane(t, `printf 'one\nIMPORTANT\nthree\n'; tmux wait-for -S drawn; tmux wait-for go; printf '\033[H\033[Jbye\n'; tmux wait-for -S gone`)
	name := filepath.Join(t.TempDir(), "log")
	gittest.Must(t, p.StartLog(t.Context(), name))
	_, err := p.tmux(t.Context(), []string{"pipe-pane"})
	gittest.Must(t, err)
	if file, err := p.LogFile(t.Context()); file != "" || err != nil {
		t.Errorf("LogFile of a log that has ended = %q, %v", file, err)
	}
	wake(t, socket)
	gittest.Must(t, exec.Command("tmux", "-S", socket, "wait-for", "gone").Run())
	await(func() bool {
		page, err := p.Page(t.Context())
		gittest.Must(t, err)
		return strings.Contains(page, "bye")
	})
	gittest.Must(t, p.StartLog(t.Context(), name))
	if got, want := shown(t, name), "one\nIMPORTANT\nthree\nbye\n"; got != want {
		t.Errorf("the log shows %q, want %q", got, want)
	}
}

// nothingBegun fails the test unless the pane has no log and the directory nothing.
func nothingBegun(t *testing.T, p Pane, dir string) {
	t.Helper()
	if left, err := p.Ask(t.Context(), "#{pane_pipe}#{"+logOption+"}#{"+beginOption+"}"); strings.Trim(left, "0") != "" || err != nil {
		t.Errorf("the pane's pipe and options: %q, %v", left, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("the directory has %v, %v", files, err)
	}
}

func TestLogOfDeadPane(t *testing.T) { eachTmux(t, testLogOfDeadPane) }

func testLogOfDeadPane(t *testing.T) {
	p, socket := testPane(t, "true")
	for _, args := range [][]string{{"set-option", "-g", "remain-on-exit", "on"}, {"respawn-pane", "-k", "-t", "%0", "--", "true"}} {
		gittest.Must(t, exec.Command("tmux", append([]string{"-S", socket}, args...)...).Run())
	}
	await(func() bool { dead, err := p.Ask(t.Context(), "#{pane_dead}"); return dead == "1" && err == nil })
	dir := t.TempDir()
	if err := p.StartLog(t.Context(), filepath.Join(dir, "log")); err == nil || !strings.Contains(err.Error(), "its program has ended") {
		t.Errorf("StartLog of a pane that is dead: %v", err)
	}
	nothingBegun(t, p, dir)
}

// tmux starts the command that writes the log, which may fail.
func TestLogNotWritten(t *testing.T) { eachTmux(t, testLogNotWritten) }

func testLogNotWritten(t *testing.T) {
	few := t.TempDir() // no cat
	for _, program := range []string{"sh", "sleep", "tmux"} {
		path, err := exec.LookPath(program)
		gittest.Must(t, err)
		gittest.Must(t, os.Symlink(path, filepath.Join(few, program)))
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", few)
	p, _ := testPane(t, "true")
	t.Setenv("PATH", path)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.StartLog(ctx, filepath.Join(dir, "log")); err == nil {
		t.Error("StartLog without cat: no error")
	}
	nothingBegun(t, p, dir)
}

// Of several who log a pane at once one does it, and the others leave nothing.
func TestLogAtOnce(t *testing.T) { eachTmux(t, testLogAtOnce) }

func testLogAtOnce(t *testing.T) {
	p, _ := testPane(t, "true")
	dir := t.TempDir()
	for try := range gittest.Size(10, 3) {
		const most = 6
		errs := make([]error, most)
		name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%d-%d", try, i)) }
		var all sync.WaitGroup
		for i := range most {
			all.Go(func() { errs[i] = p.StartLog(t.Context(), name(i)) })
		}
		all.Wait()
		file, err := p.LogFile(t.Context())
		gittest.Must(t, err)
		for i, err := range errs {
			if (err == nil) != (name(i) == file) {
				t.Errorf("StartLog = %v, and the log is %s", err, filepath.Base(file))
			}
			if _, err := os.Stat(name(i)); (err == nil) != (name(i) == file) {
				t.Errorf("%s: %v, and the log is %s", name(i), err, file)
			}
		}
		_, err = p.tmux(t.Context(), []string{"pipe-pane"})
		gittest.Must(t, err)
	}
}
