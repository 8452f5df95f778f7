package turns_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

func TestFailed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.client()
	c.Prompt("break")
	l.Write("half.txt", "half\n")
	c.Fail("API Error: 529 overloaded")
	failed := want{prompt: "break", reply: "API Error: 529 overloaded", outcome: record.Failed, tree: l.tree()}
	l.check(own(c), failed, l.turn(c, "again", l.write("whole.txt", "whole\n")))
	l.fsck()
}

// TestFailedAndEnded: the hooks of a headless client's failed turn and of its end run at the same
// time, and the first one may be ended before it has done anything.
func TestFailedAndEnded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	both := func(l *lab, first, second replay.Event) {
		l.record(first)
		l.record(second)
	}
	for name, deliver := range map[string]func(l *lab, failed, ended replay.Event){
		"in order":     both,
		"out of order": func(l *lab, failed, ended replay.Event) { both(l, ended, failed) },
		"twice":        func(l *lab, failed, ended replay.Event) { both(l, failed, ended); both(l, failed, ended) },
		"only ended":   func(l *lab, _, ended replay.Event) { l.record(ended) },
		"at once": func(l *lab, failed, ended replay.Event) {
			var both sync.WaitGroup
			both.Go(func() { l.record(failed) })
			both.Go(func() { l.record(ended) })
			both.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			wants := []want{l.turn(c, "one", l.write("one.txt", "1\n"))}
			c.Prompt("two")
			l.Write("two.txt", "2\n")
			var events []replay.Event
			c.Hook = func(e replay.Event) { events = append(events, e) }
			c.Fail("API Error: 400")
			c.End("other")
			deliver(l, events[0], events[1])
			l.check(own(c), append(wants, want{prompt: "two", reply: "API Error: 400", outcome: record.Failed, tree: l.tree()})...)
			l.fsck()
		})
	}
}

// TestFailedAfterEnded: the file did not say yet, when the session ended, that the turn had failed.
func TestFailedAfterEnded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	c.Prompt("break")
	c.Flush()
	var events []replay.Event
	c.Hook = func(e replay.Event) { events = append(events, e) }
	c.Hold = true
	c.Fail("API Error: 400")
	c.End("other")
	l.record(events[1])
	c.Flush()
	l.record(events[0])
	l.check(own(c), want{prompt: "break", reply: "API Error: 400", outcome: record.Failed})
}

// TestInterrupted: nothing tells when the user presses Esc, so the next event records it.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, next := range map[string]func(l *lab, c *replay.Client) []want{
		"found at the next prompt": func(l *lab, c *replay.Client) []want {
			c.Esc()
			return []want{l.turn(c, "go on", l.write("more.txt", "more\n"))}
		},
		"found at the session's end": func(l *lab, c *replay.Client) []want {
			c.Esc()
			c.End("prompt_input_exit")
			return nil
		},
		"found at the end of a killed session": func(l *lab, c *replay.Client) []want {
			c.End("other")
			return nil
		},
		"found at a prompt in another process": func(l *lab, c *replay.Client) []want {
			c.Kill(true)
			c.Resume()
			return []want{l.turn(c, "go on", nil)}
		},
		"found at a prompt of another process, nothing written": func(l *lab, c *replay.Client) []want {
			c.Kill(false)
			c.Resume()
			return []want{l.turn(c, "go on", l.write("more.txt", "more\n"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			before := l.turn(c, "before", l.write("before.txt", "b\n"))
			w := want{prompt: "stop me", outcome: record.Interrupted, base: l.tree()}
			c.Prompt("stop me")
			c.Say("I begin.")
			l.Write("half.txt", "half\n")
			w.tree = l.tree()
			list := l.check(own(c), append([]want{before, w}, next(l, c)...)...)
			if list[1].Reply == "No response requested." {
				t.Errorf("the reply of the interrupted turn is the client's")
			}
			l.quiet()
			l.fsck()
		})
	}
}

// TestInterruptedFirst: of the first turn that a mission ever saw.
func TestInterruptedFirst(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	c.Prompt("stop me")
	c.Esc()
	w := want{prompt: "stop me", outcome: record.Interrupted, tree: l.tree(), base: l.tree()}
	l.check(own(c), w, l.turn(c, "go on", l.write("more.txt", "more\n")))
}

// TestStopTwice: settings and a plugin are both installed, so each event arrives twice, often at
// once.
func TestStopTwice(t *testing.T) {
	t.Parallel()
	for name, deliver := range map[string]func(l *lab, e replay.Event){
		"one after the other": func(l *lab, e replay.Event) { l.record(e); l.record(e) },
		"at once": func(l *lab, e replay.Event) {
			var both sync.WaitGroup
			both.Go(func() { l.record(e) })
			both.Go(func() { l.record(e) })
			both.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "one after the other" {
				gittest.Check(t)
			}
			l := newLab(t)
			c := l.client()
			c.Late = true
			c.Hook = func(e replay.Event) { deliver(l, e) }
			var wants []want
			for _, prompt := range []string{"one", "two", "three"} {
				wants = append(wants, l.turn(c, prompt, l.write(prompt, prompt)))
			}
			wants = append(wants, l.turn(c, "four, of words", nil))
			c.Prompt("fails")
			c.Fail("API Error: 500")
			c.End("other")
			l.check(own(c), append(wants, want{prompt: "fails", outcome: record.Failed})...)
			if n := len(l.chain(own(c))); n != 6 {
				t.Errorf("the ledger has %d commits, want 6: one for the mission, one for each turn", n)
			}
			l.quiet()
			l.fsck()
		})
	}
}

// TestStopAgain: another Stop hook had the agent go on, so the turn has a second end.
func TestStopAgain(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]struct {
		work  string
		reply string
	}{
		"with work":              {"fixed\n", "done, now really"},
		"with words only":        {"", "there is nothing to do"},
		"with the same words":    {"", "done"},
		"with work, same answer": {"fixed\n", "done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "with work" {
				gittest.Check(t)
			}
			l := newLab(t)
			c := l.client()
			first := l.turn(c, "first", l.write("first.txt", "1\n"))
			w := want{prompt: "write", reply: again.reply, base: l.tree()}
			c.Prompt("write")
			l.Write("file.txt", "wrong\n")
			c.Block("done", "the tests fail")
			before := l.list(own(c))
			if len(before) != 2 || before[1].Reply != "done" {
				t.Fatalf("after the first Stop:\n%s", describe(before))
			}
			if again.work != "" {
				c.Tool("Edit")
				l.Write("file.txt", again.work)
			}
			c.StopAgain(again.reply)
			w.tree = l.tree()
			last := l.turn(c, "last", nil)
			list := l.check(own(c), first, w, last)
			if list[1].Base != before[1].Base {
				t.Errorf("the base changed from %s to %s", before[1].Base, list[1].Base)
			}
			if list[1].Transcript.Bytes <= before[1].Transcript.Bytes {
				t.Errorf("the segment has %d bytes, had %d", list[1].Transcript.Bytes, before[1].Transcript.Bytes)
			}
			l.holds(list[1], "the tests fail")
			l.quiet()
			l.fsck()
		})
	}
}

// TestEndedQuietly: an end that finds nothing open records nothing.
func TestEndedQuietly(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	w := l.turn(c, "only", nil)
	tip := l.Git("rev-parse", own(c).Ref())
	c.End("prompt_input_exit")
	c.End("other")
	l.check(own(c), w)
	if now := l.Git("rev-parse", own(c).Ref()); now != tip {
		t.Errorf("the ledger went on: %s", l.Git("log", "--format=%s", "-2", now))
	}
	fresh := l.client()
	fresh.End("other")
	if refs := l.Git("for-each-ref", own(fresh).Ref()); refs != "" {
		t.Errorf("a session without a turn has a mission: %s", refs)
	}
}

// TestStopTwiceLate: the second one of two equal events comes when the next turn runs already. It
// does not end that.
func TestStopTwiceLate(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, flushed := range []bool{false, true} {
		t.Run(fmt.Sprintf("flushed=%t", flushed), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			var late replay.Event
			c.Hook = func(e replay.Event) {
				l.record(e)
				if e.Name == "Stop" || e.Name == "StopFailure" {
					late = e
				}
			}
			a := l.turn(c, "one", l.write("one.txt", "1\n"))
			b := want{prompt: "two", reply: "answer to two"}
			c.Prompt("two")
			if flushed {
				c.Say("I begin.")
				c.Flush()
			}
			l.Write("two.txt", "half\n")
			l.record(late)
			l.Write("two.txt", "2\n")
			b.tree = l.tree()
			c.Stop("answer to two")
			c.Prompt("three")
			c.Fail("API Error: 500")
			d := want{prompt: "three", outcome: record.Failed}
			c.Prompt("four")
			l.record(late)
			c.Stop("done")
			l.check(own(c), a, b, d, want{prompt: "four", reply: "done"})
			l.quiet()
		})
	}
}

// TestStopAfterEnded: the hooks of a turn's end and of the session's run at the same time, and the
// latter is first.
func TestStopAfterEnded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, flushed := range []bool{false, true} {
		t.Run(fmt.Sprintf("flushed=%t", flushed), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			a := l.turn(c, "one", l.write("one.txt", "1\n"))
			c.Prompt("two")
			l.Write("two.txt", "2\n")
			var events []replay.Event
			c.Hook = func(e replay.Event) { events = append(events, e) }
			c.Hold = !flushed
			c.Stop("done")
			c.End("other")
			events[0].At = events[1].At.Add(-2 * time.Millisecond) // its process began first, and waited for the lock
			l.record(events[1])
			c.Flush()
			l.record(events[0])
			l.storedOnce(l.check(own(c), a, want{prompt: "two", reply: "done", tree: l.tree()}))
		})
	}
}
