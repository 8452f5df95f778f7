//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// A client that gets a signal in the middle of a turn fires SessionEnd and nothing else.
func TestSignals(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for _, tt := range []struct {
		signal syscall.Signal
		status int
	}{
		{syscall.SIGTERM, 143},
		{syscall.SIGINT, 0},
		{syscall.SIGHUP, 129},
	} {
		t.Run(fmt.Sprintf("%v in a tool", tt.signal), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			slow := r.gate("slow")
			r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")))
			session := r.claude(r.repo.Dir, "T1 hello").ok().session()
			h := r.startClaude(r.repo.Dir, "TTOOL hello", "--resume", session)
			slow.reached()
			h.signal(tt.signal)
			h.wait()
			if h.status() != tt.status {
				t.Errorf("exit status %d, this client had %d", h.status(), tt.status)
			}
			slow.open()
			r.check(r.done("T1"), r.interrupted("TTOOL"))
			r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
			r.check(r.done("T1"), r.interrupted("TTOOL"), r.done("T2"))
		})
	}
	t.Run("terminated while it talks", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.mock.play(on("TTALK", talk("Half an answer.", "The other half.", filepath.Join(r.home, "never"))))
		h := r.startClaude(r.repo.Dir, "TTALK hello")
		r.await("a request", func() bool { return r.mock.asked(`(^|\n)TTALK\b`) })
		h.signal(syscall.SIGTERM)
		h.wait()
		r.check(r.interrupted("TTALK"))
	})
}

// A killed client fires nothing at all: the session's next event finds the open turn.
func TestKilled(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")))
	session := r.claude(r.repo.Dir, "T1 hello").ok().session()
	h := r.startClaude(r.repo.Dir, "TTOOL hello", "--resume", session)
	slow.reached()
	h.signal(syscall.SIGKILL)
	h.wait()
	slow.open() // the tool outlives the client
	r.check(r.done("T1"))
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	r.check(r.done("T1"), r.interrupted("TTOOL"), r.done("T2"))
}

// A window that closes hangs up on the client in it.
func TestWindowCloses(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")))
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	syscall.Kill(s.pid, syscall.SIGHUP)
	r.await("the client's end", s.term.dead)
	r.check(r.done("T1"), r.interrupted("TTOOL"))
}
