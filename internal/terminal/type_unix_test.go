//go:build unix

package terminal

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// Typed and pasted text arrives unchanged, and a paste can be told from keys.
func TestType(t *testing.T) { eachTmux(t, testType) }

func testType(t *testing.T) {
	p, _ := testPane(t, `stty raw -echo; printf '\033[?2004h'; tmux wait-for -S drawn; exec cat -v`)
	const text = "a; $(b) `c` #{d} 日 'e' -f;"
	for _, do := range []func() error{
		func() error { return p.Type(t.Context(), "/clear -x $HOME;") },
		func() error { return p.Press(t.Context(), "Enter") },
		func() error { return p.Press(t.Context(), "BSpace") },
		func() error { return p.Paste(t.Context(), text) },
	} {
		gittest.Must(t, do())
	}
	// cat -v writes what is not ASCII as M- and a letter, and the pane has 40 columns.
	want := "/clear -x $HOME;^M^?^[[200~a; $(b) `c` #{d} M-fM-^WM-% 'e' -f;^[[201~"
	await(func() bool {
		page, err := p.Page(t.Context())
		gittest.Must(t, err)
		got := strings.ReplaceAll(page, "\n", "")
		if len(got) > len(want) {
			t.Fatalf("what arrived is %q, want %q", got, want)
		}
		return got == want
	})
}

// 20 KB can be pasted, and what can't be typed is not typed in part.
func TestTypeMuch(t *testing.T) { eachTmux(t, testTypeMuch) }

func testTypeMuch(t *testing.T) {
	p, _ := testPane(t, `stty raw -echo; tmux wait-for -S drawn; head -c 20482 | tr -d x`)
	much := strings.Repeat("x", 20<<10)
	if err := p.Type(t.Context(), "a"+much); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("Type of 20 KB: %v, want what tmux says", err)
	}
	gittest.Must(t, p.Paste(t.Context(), "b"+much+"c"))
	await(func() bool {
		page, err := p.Page(t.Context())
		gittest.Must(t, err)
		got := strings.TrimSpace(page)
		if !strings.HasPrefix("bc", got) {
			t.Fatalf("what arrived is %q, want %q", got, "bc")
		}
		return got == "bc"
	})
}

func TestProcesses(t *testing.T) {
	p, _ := testPane(t, "true")
	answer, err := p.Ask(t.Context(), "#{pane_pid} #{pane_tty}")
	gittest.Must(t, err)
	id, tty, _ := strings.Cut(answer, " ")
	inPane, err := strconv.Atoi(id)
	gittest.Must(t, err)
	cmd := exec.Command("sh", "-c", "kill -STOP $$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	gittest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	stopped := func() (shell, pane Process) {
		all, err := Processes(t.Context(), cmd.Process.Pid, inPane)
		if err != nil || len(all) != 2 {
			t.Fatalf("Processes = %+v, %v; want two", all, err)
		}
		if all[0].PID == inPane {
			return all[1], all[0]
		}
		return all[0], all[1]
	}
	await(func() bool { shell, _ := stopped(); return shell.Stopped })
	shell, pane := stopped()
	if want := (Process{PID: inPane, TTY: tty, InFront: true}); pane != want {
		t.Errorf("the pane's process is %+v, want %+v", pane, want)
	}
	if want := (Process{PID: cmd.Process.Pid, Stopped: true}); shell != want {
		t.Errorf("the stopped process is %+v, want %+v", shell, want)
	}
	gittest.Must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if all, err := Processes(t.Context(), cmd.Process.Pid); len(all) > 0 || err != nil {
		t.Errorf("Processes of one that has ended = %+v, %v", all, err)
	}
	if all, err := Processes(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("Processes of none = %+v, %v", all, err)
	}
}
