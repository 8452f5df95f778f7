//go:build e2e

package e2e

import (
	"strings"
	"syscall"
)

// A session is the interactive client in a terminal.
// Its id changes with /clear; its process does not.
type session struct {
	r    *rig
	term *terminal
	pid  int
}

// interactive starts the client in a terminal and waits until it takes input.
func (r *rig) interactive(dir string, args ...string) *session {
	r.t.Helper()
	return r.interactiveBy(dir, nil, args...)
}

// interactiveBy is interactive for a client that another command starts and becomes.
func (r *rig) interactiveBy(dir string, by []string, args ...string) *session {
	r.t.Helper()
	argv := append(by[:len(by):len(by)], r.client())
	term := newTerminal(r.t, r.env(), dir, append(argv, r.arguments(args...)...)...)
	s := &session{r: r, term: term, pid: term.pid()}
	// Before the terminal closes: a client that is hung up upon goes on writing for a second.
	r.t.Cleanup(s.kill)
	r.sessions = append(r.sessions, s)
	s.ready("the client's start")
	return s
}

// kill ends the client with SIGKILL, if it still runs, and waits until it is gone.
func (s *session) kill() {
	if s.term.dead() {
		return
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
	s.r.await("the end of the killed client", s.term.dead)
}

func (s *session) registry() registration { return s.r.registry(s.pid) }

// box returns the text in the input box, and whether there is a box:
// the last line that begins with the prompt mark below a rule.
func (s *session) box() (string, bool) {
	lines := strings.Split(s.term.screen(), "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if text, ok := strings.CutPrefix(lines[i], "❯"); ok && strings.Contains(lines[i-1], "────────") {
			return strings.Trim(text, " \u00a0"), true
		}
	}
	return "", false
}

// shows says whether text is on the screen.
func (s *session) shows(text string) bool { return strings.Contains(s.term.screen(), text) }

// ready waits until the client is idle and shows its input box.
func (s *session) ready(after string) {
	s.r.t.Helper()
	s.r.await("ready after "+after, func() bool {
		if s.term.dead() {
			s.r.t.Fatalf("the client ended: %s", s.r.report())
		}
		_, shown := s.box()
		return shown && s.registry().Status == "idle"
	})
}

// enter types text, waits until the box shows its end, and presses Enter.
// The client may be busy.
func (s *session) enter(text string) {
	s.r.t.Helper()
	s.term.text(text)
	s.r.await("the typed text in the input box: "+text, func() bool {
		typed, shown := s.box()
		return shown && typed == text
	})
	s.term.keys("Enter")
}

// prompt submits a prompt and waits until its turn has ended with a Stop hook
// and the client is idle again. It returns the Stop event.
func (s *session) prompt(text string) event {
	s.r.t.Helper()
	before := len(s.r.witness.named("Stop"))
	s.enter(text)
	return s.stopped(before+1, text)
}

// interrupt presses Esc while a turn runs, and returns as soon as the client takes the next prompt:
// that may be before it has written to the transcript what was interrupted.
func (s *session) interrupt() {
	s.r.t.Helper()
	s.r.await("busy before Esc", func() bool { return s.registry().Status == "busy" })
	marks := strings.Count(s.term.screen(), "Interrupted")
	s.term.keys("Escape")
	s.r.await("the mark of an interrupt", func() bool { return strings.Count(s.term.screen(), "Interrupted") > marks })
	s.ready("Esc")
}

// file reads the session's transcript; it is empty as long as the client has not written any.
func (s *session) file() transcript {
	s.r.t.Helper()
	path := s.r.transcriptPath(s.registry().SessionID)
	if path == "" {
		return transcript{}
	}
	return readTranscript(s.r.t, path)
}

// queue submits a prompt while the client is busy and waits until it is in the queue,
// which it enters when its UserPromptSubmit hooks have ended.
func (s *session) queue(text string) {
	s.r.t.Helper()
	before := s.file().queued
	s.enter(text)
	s.r.await("a queued prompt: "+text, func() bool { return s.file().queued > before })
}

// compact runs /compact.
func (s *session) compact() {
	s.r.t.Helper()
	before := len(s.r.witness.named("SessionStart"))
	s.enter("/compact")
	s.r.await("SessionStart after /compact", func() bool { return len(s.r.witness.named("SessionStart")) > before })
	s.ready("/compact")
}

// clear runs /clear, which begins a new session in the same process.
func (s *session) clear() {
	s.r.t.Helper()
	old, before := s.registry().SessionID, len(s.r.witness.named("SessionStart"))
	s.enter("/clear")
	s.r.await("a new session after /clear", func() bool {
		return s.registry().SessionID != old && len(s.r.witness.named("SessionStart")) > before
	})
	s.ready("/clear")
}

// stopped waits until n Stop hooks have fired in all and the client is idle after the last one.
func (s *session) stopped(n int, what string) event {
	s.r.t.Helper()
	s.r.await("Stop after "+what, func() bool { return len(s.r.witness.named("Stop")) >= n })
	last := s.r.witness.named("Stop")[n-1]
	s.r.await("idle after "+what, func() bool {
		g := s.registry()
		return g.Status == "idle" && g.StatusUpdatedAt > last.At.UnixMilli()
	})
	return last
}

// exit ends the client as a user does.
func (s *session) exit() {
	s.r.t.Helper()
	s.enter("/exit")
	s.r.await("the client's end", s.term.dead)
}
