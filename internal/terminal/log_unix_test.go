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

func TestLog(t *testing.T) {
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
	want := "an earlier log\r\n\x1b[8;5;40t\x1b[Hbefore\r\n\r\n\r\n\r\n\x1b[2;1Hafter\r\n"
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

func TestLogOfFullScreen(t *testing.T) {
	p, socket := testPane(t, `printf '\033[?1049h\033[3;4Hpage'; tmux wait-for -S drawn; tmux wait-for go; echo .`)
	name := filepath.Join(t.TempDir(), "log")
	gittest.Must(t, p.StartLog(t.Context(), name))
	wake(t, socket)
	// The command that tmux started has opened the file when it has written to it; removed earlier, the
	// directory would get the file once more.
	want := "\x1b[8;5;40t\x1b[?1049h\x1b[H\r\n\r\n   page\r\n\r\n\x1b[3;8H.\r\n"
	await(func() bool { return strings.HasSuffix(read(t, name), ".\r\n") })
	if got := read(t, name); got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
}

func TestLogRefuses(t *testing.T) {
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
