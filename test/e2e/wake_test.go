//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// wake runs `git agent-handoff wake` as somebody beside the client would, for the pane that the
// client is in. It returns what the command says on standard error; ok is whether it exits with 0.
func (s *session) wake() (said string, ok bool) {
	s.r.t.Helper()
	cmd := exec.Command("git", "agent-handoff", "wake", "--mission", passive(s.registry().SessionID), "--tmux", "%0")
	cmd.Dir = s.r.repo.Dir
	cmd.Env = append(s.r.env(), "TMUX="+s.term.tmux("display-message", "-p", "#{socket_path}")+",1,0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	return stderr.String(), err == nil
}

// refused fails the test unless the client is not woken, for a reason, and nothing is different
// afterwards.
func (s *session) refused(why string) {
	s.r.t.Helper()
	before, equal := "", 0
	s.r.await("a page that stays as it is", func() bool {
		now := s.page()
		equal++
		if now != before {
			before, equal = now, 0
		}
		return equal > 20
	})
	id, prompts := s.registry().SessionID, len(s.r.witness.named("UserPromptSubmit"))
	said, ok := s.wake()
	if ok || !strings.Contains(said, why) || !strings.Contains(said, "hint: type by hand: /clear, then: Continue the work") {
		s.r.t.Errorf("wake: %v, it says %q; want to be refused with %q", ok, said, why)
	}
	if got := s.page(); got != before {
		s.r.t.Errorf("refused (%s), and the pane is\n%s\nwas\n%s", why, got, before)
	}
	if now := s.registry().SessionID; now != id || len(s.r.witness.named("UserPromptSubmit")) != prompts {
		s.r.t.Errorf("refused (%s), and there is another session, or a prompt\n%s", why, s.r.report())
	}
}

// notices come and go by themselves, at the right of the line above the input box and at the end of
// the one below it.
var notices = regexp.MustCompile(`(?m)^ {12,}.*$| · ← for agents$`)

// page is what the screen shows below the client's name, whose picture moves, without notices.
func (s *session) page() string {
	page := s.term.screen()
	if _, below, ok := strings.Cut(page, "~/repo\n"); ok {
		page = below
	}
	return strings.TrimSpace(notices.ReplaceAllString(page, ""))
}

// onWrite is an agent that hands off.
var onWrite = on("TWRITE", write("HANDOFF.md", "Go on with XYZZY.\n"), bash("git agent-handoff write HANDOFF.md"), say("Handed off."))

// onWake is the model's answer to the message.
var onWake = on("Continue the work", say("Going on."))

// Nothing is typed where it would not be what it is meant to be. When nothing is in the way any
// more, the agent is woken: its context is cleared, and the message is the one prompt of the new
// session.
func TestWake(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	gittest.EachTmux(t, testWake)
}

func testWake(t *testing.T, tmux string) {
	r := newRig(t)
	r.vars = append(r.vars, "PATH="+filepath.Dir(tmux)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	r.mock.play(onWrite, onWake)
	s := r.interactive(r.repo.Dir)
	s.prompt("TWRITE hello")
	old := s.registry().SessionID

	typed := func(text string) func() bool {
		return func() bool { box, shown := s.box(); return shown && box == text }
	}
	s.term.text("half a draft")
	r.await("a draft", typed("half a draft"))
	s.refused("there is a draft in the input box")
	s.term.keys("-N", strconv.Itoa(len("half a draft")), "BSpace") // C-u would show a notice for a while
	r.await("no draft", typed(""))

	s.term.text("!")
	r.await("shell mode", func() bool { return s.shows("! for shell mode") })
	s.refused("the client shows no input box")
	s.term.keys("BSpace")
	r.await("no shell mode", typed(""))

	s.term.text("/model")
	r.await("a command", typed("/model"))
	s.term.keys("Enter")
	r.await("a menu", func() bool { return s.registry().Status == "waiting" && s.shows("Esc to cancel") })
	s.refused("the client asks a question (dialog open)")
	s.term.keys("Escape")
	s.ready("the menu")

	s.term.tmux("copy-mode")
	s.refused("the pane is in copy mode")
	s.term.tmux("send-keys", "-X", "cancel")

	s.term.tmux("set-option", "-w", "synchronize-panes", "on")
	s.refused("its keys go to other panes, too (synchronize-panes)")
	s.term.tmux("set-option", "-w", "synchronize-panes", "off")

	if said, ok := s.wake(); !ok {
		t.Fatalf("wake: %s\n%s", said, r.report())
	}
	s.woken(old, 2)
}

// A client that was suspended leaves the terminal to a shell, which would run what is typed.
func TestWakeSuspended(t *testing.T) {
	r := newNightly(t)
	r.mock.play(onWrite, onWake)
	shell := []string{"bash", "--norc", "-m", "-c", `"$@"; echo SUSPENDED; read -r _; fg`, "bash", r.client()}
	term := newTerminal(t, r.env(), r.repo.Dir, append(shell, r.arguments()...)...)
	s := &session{r: r, term: term}
	r.sessions = append(r.sessions, s)
	r.await("the client's registration", func() bool {
		found, err := filepath.Glob(filepath.Join(r.home, ".claude", "sessions", "*.json"))
		if err != nil || len(found) == 0 {
			return false
		}
		s.pid, err = strconv.Atoi(strings.TrimSuffix(filepath.Base(found[0]), ".json"))
		return err == nil
	})
	t.Cleanup(func() { syscall.Kill(s.pid, syscall.SIGKILL) })
	s.ready("the client's start")
	s.prompt("TWRITE hello")
	old := s.registry().SessionID
	s.term.keys("C-z")
	r.await("the shell", func() bool { return s.shows("SUSPENDED") })
	s.refused("the client is suspended")
	s.term.keys("Enter")
	s.ready("fg")
	if said, ok := s.wake(); !ok {
		t.Fatalf("wake: %s\n%s", said, r.report())
	}
	s.woken(old, 2)
}

// woken waits for the end of the turn that the message has begun, which is turn n of the test.
func (s *session) woken(old string, n int) {
	s.r.t.Helper()
	s.stopped(n, "the wake message")
	fresh := s.registry().SessionID
	if fresh == old {
		s.r.t.Errorf("the session is still %s", old)
	}
	var prompts []string
	for _, e := range s.r.witness.named("UserPromptSubmit") {
		if e.Session == fresh {
			prompts = append(prompts, e.Prompt)
		}
	}
	if len(prompts) != 1 || !strings.HasPrefix(prompts[0], "Continue the work of the previous session") || !strings.Contains(prompts[0], "git agent-handoff show "+passive(old)) {
		s.r.t.Errorf("prompts of the new session: %q", prompts)
	}
	told := s.r.last()
	s.r.tells(told, "Go on with XYZZY.", "Continue the work")
	for _, m := range told.Messages {
		var message struct{ Role string }
		if err := json.Unmarshal(m, &message); err != nil || message.Role == "assistant" {
			s.r.t.Errorf("the context was not cleared: %s", m)
		}
	}
}

// last is the last request that the client made.
func (r *rig) last() sent {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.mock.log, "[0-9]*.json"))
	if err != nil || len(names) == 0 {
		r.t.Fatalf("no request, %v\n%s", err, r.report())
	}
	data, err := os.ReadFile(names[len(names)-1])
	gittest.Must(r.t, err)
	var record struct{ Body sent }
	if err := json.Unmarshal(data, &record); err != nil {
		r.t.Fatalf("read %s: %v", names[len(names)-1], err)
	}
	return record.Body
}

// A client that asks for permission would take Enter for a yes.
func TestWakeDialog(t *testing.T) {
	r := newNightly(t)
	r.asks = true
	r.mock.play(on("TASK", bash("touch asked.txt"), say("done")))
	s := r.interactive(r.repo.Dir)
	s.prompt("T3 hello")
	r.handoff(r.repo.Dir, "write", "--mission", passive(s.registry().SessionID), "--summary", "so far")
	s.enter("TASK hello")
	r.await("a permission dialog", func() bool { return s.registry().WaitingFor == "permission prompt" && s.shows("Esc to cancel") })
	s.refused("the client asks a question (permission prompt)")
	if _, err := os.Stat(filepath.Join(r.repo.Dir, "asked.txt")); err == nil {
		t.Error("the tool ran")
	}
}

// In vi's normal mode letters are commands.
func TestWakeVi(t *testing.T) {
	r := newNightly(t)
	settings, err := os.ReadFile(r.settings())
	gittest.Must(t, err)
	r.mock.play(onWrite, onWake)
	replaceFile(t, r.settings(), bytes.Replace(settings, []byte("{"), []byte(`{"editorMode": "vim",`), 1))
	s := r.interactive(r.repo.Dir)
	s.prompt("TWRITE hello")
	old := s.registry().SessionID
	r.await("insert mode", func() bool { return s.shows("-- INSERT --") })
	s.term.keys("Escape")
	r.await("normal mode", func() bool { return !s.shows("-- INSERT --") })
	s.refused("vi's normal mode?")
	s.term.text("i")
	r.await("insert mode again", func() bool { return s.shows("-- INSERT --") })
	if said, ok := s.wake(); !ok {
		t.Fatalf("wake: %s\n%s", said, r.report())
	}
	s.woken(old, 2)
}

// The agent hands off and asks to be woken. When its turn has ended its context is cleared
// and the message is sent, without a hand on the keyboard.
func TestWakeAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.mock.play(onWake, on("TASK", write("HANDOFF.md", "Go on with XYZZY.\n"), bash("git agent-handoff log start && git agent-handoff write --wake HANDOFF.md"), say("Handed off.")))
	s := r.interactive(r.repo.Dir)
	old := s.registry().SessionID
	s.enter("TASK hello")
	s.woken(old, 2)
	if text := r.last().text(); !strings.Contains(text, "There is a snapshot of its terminal; ") ||
		!strings.Contains(text, "There is a complete log of its terminal in "+r.home+"/.local/share/git-agent/logs/") ||
		!strings.Contains(text, "git agent-handoff grep --handoff "+passive(old)+"/1 <pattern>") {
		t.Errorf("the model was told %s", text)
	}
	if got := r.handoff(r.repo.Dir, "log", "show", r.log()); !strings.Contains(got, "❯ TASK hello") || !strings.Contains(got, "Going on.") {
		t.Errorf("the terminal's log:\n%s", got)
	}
	// It is done once.
	s.prompt("T3 hello")
	s.exit()
	if ended := r.witness.named("SessionEnd"); len(ended) != 2 {
		t.Errorf("sessions ended: %v", ended)
	}
}

// log is the log of the test's one terminal.
func (r *rig) log() string {
	r.t.Helper()
	found, err := filepath.Glob(filepath.Join(r.home, ".local", "share", "git-agent", "logs", "*"))
	if err != nil || len(found) != 1 {
		r.t.Fatalf("logs: %v, %v", found, err)
	}
	return found[0]
}

// A turn that the user stops has no end that would wake the agent, and the next prompt is the
// user's own.
func TestWakeCancelled(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(onWake, on("TASK", write("HANDOFF.md", "Go on with XYZZY.\n"), bash("git agent-handoff write --wake HANDOFF.md"),
		bash("git agent-handoff wake --tmux $TMUX_PANE 2>refused.log; true"), bash(slow.wait()), say("not reached")))
	s := r.interactive(r.repo.Dir)
	only := s.registry().SessionID
	s.enter("TASK hello")
	slow.reached()
	s.interrupt()
	s.prompt("T3 hello")
	s.prompt("T2 hello")
	s.exit()
	if said := r.repo.Read("refused.log"); !strings.Contains(said, "it can ask for it with: git agent-handoff write --wake") {
		t.Errorf("wake by the agent itself says %q", said)
	}
	for _, e := range r.witness.events() {
		if e.Session != only {
			t.Errorf("another session has begun: %v", e)
		}
	}
}
