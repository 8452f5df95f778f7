package recorder_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

func TestFailed(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	c.Prompt("break")
	l.Write("half.txt", "half\n")
	c.Fail("API Error: 529 overloaded")
	failed := lab.Want{Prompt: "break", Reply: "API Error: 529 overloaded", Outcome: record.Failed, Tree: l.Tree()}
	l.Check(lab.Own(c), failed, l.Turn(c, "again", l.Writes("whole.txt", "whole\n")))
	l.Fsck()
}

// TestFailedAndEnded: the hooks of a headless client's failed turn and of its end run at the same
// time, and the first one may be ended before it has done anything.
func TestFailedAndEnded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	both := func(l *lab.Lab, first, second replay.Event) {
		l.Record(first)
		l.Record(second)
	}
	for name, deliver := range map[string]func(l *lab.Lab, failed, ended replay.Event){
		"in order":     both,
		"out of order": func(l *lab.Lab, failed, ended replay.Event) { both(l, ended, failed) },
		"twice":        func(l *lab.Lab, failed, ended replay.Event) { both(l, failed, ended); both(l, failed, ended) },
		"only ended":   func(l *lab.Lab, _, ended replay.Event) { l.Record(ended) },
		"at once": func(l *lab.Lab, failed, ended replay.Event) {
			var both sync.WaitGroup
			both.Go(func() { l.Record(failed) })
			both.Go(func() { l.Record(ended) })
			both.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			wants := []lab.Want{l.Turn(c, "one", l.Writes("one.txt", "1\n"))}
			c.Prompt("two")
			l.Write("two.txt", "2\n")
			var events []replay.Event
			c.Hook = func(e replay.Event) { events = append(events, e) }
			c.Fail("API Error: 400")
			c.End("other")
			deliver(l, events[0], events[1])
			l.Check(lab.Own(c), append(wants, lab.Want{Prompt: "two", Reply: "API Error: 400", Outcome: record.Failed, Tree: l.Tree()})...)
			l.Fsck()
		})
	}
}

// TestFailedAfterEnded: the file did not say yet, when the session ended, that the turn had failed.
func TestFailedAfterEnded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Prompt("break")
	c.Flush()
	var events []replay.Event
	c.Hook = func(e replay.Event) { events = append(events, e) }
	c.Hold = true
	c.Fail("API Error: 400")
	c.End("other")
	l.Record(events[1])
	c.Flush()
	l.Record(events[0])
	l.Check(lab.Own(c), lab.Want{Prompt: "break", Reply: "API Error: 400", Outcome: record.Failed})
}

// TestInterrupted: nothing tells when the user presses Esc, so the next event records it.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, next := range map[string]func(l *lab.Lab, c *replay.Client) []lab.Want{
		"found at the next prompt": func(l *lab.Lab, c *replay.Client) []lab.Want {
			c.Esc()
			return []lab.Want{l.Turn(c, "go on", l.Writes("more.txt", "more\n"))}
		},
		"found at the session's end": func(l *lab.Lab, c *replay.Client) []lab.Want {
			c.Esc()
			c.End("prompt_input_exit")
			return nil
		},
		"found at the end of a killed session": func(l *lab.Lab, c *replay.Client) []lab.Want {
			c.End("other")
			return nil
		},
		"found at a prompt in another process": func(l *lab.Lab, c *replay.Client) []lab.Want {
			c.Kill(true)
			c.Resume()
			return []lab.Want{l.Turn(c, "go on", nil)}
		},
		"found at a prompt of another process, nothing written": func(l *lab.Lab, c *replay.Client) []lab.Want {
			c.Kill(false)
			c.Resume()
			return []lab.Want{l.Turn(c, "go on", l.Writes("more.txt", "more\n"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			before := l.Turn(c, "before", l.Writes("before.txt", "b\n"))
			w := lab.Want{Prompt: "stop me", Outcome: record.Interrupted, Base: l.Tree()}
			c.Prompt("stop me")
			c.Say("I begin.")
			l.Write("half.txt", "half\n")
			w.Tree = l.Tree()
			list := l.Check(lab.Own(c), append([]lab.Want{before, w}, next(l, c)...)...)
			if list[1].Reply == "No response requested." {
				t.Errorf("the reply of the interrupted turn is the client's")
			}
			l.Quiet()
			l.Fsck()
		})
	}
}

// TestInterruptedFirst: of the first turn that a mission ever saw.
func TestInterruptedFirst(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Prompt("stop me")
	c.Esc()
	w := lab.Want{Prompt: "stop me", Outcome: record.Interrupted, Tree: l.Tree(), Base: l.Tree()}
	l.Check(lab.Own(c), w, l.Turn(c, "go on", l.Writes("more.txt", "more\n")))
}

// TestStopTwice: settings and a plugin are both installed, so each event arrives twice, often at
// once.
func TestStopTwice(t *testing.T) {
	t.Parallel()
	for name, deliver := range map[string]func(l *lab.Lab, e replay.Event){
		"one after the other": func(l *lab.Lab, e replay.Event) { l.Record(e); l.Record(e) },
		"at once": func(l *lab.Lab, e replay.Event) {
			var both sync.WaitGroup
			both.Go(func() { l.Record(e) })
			both.Go(func() { l.Record(e) })
			both.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "one after the other" {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			c.Late = true
			c.Hook = func(e replay.Event) { deliver(l, e) }
			var wants []lab.Want
			for _, prompt := range []string{"one", "two", "three"} {
				wants = append(wants, l.Turn(c, prompt, l.Writes(prompt, prompt)))
			}
			wants = append(wants, l.Turn(c, "four, of words", nil))
			c.Prompt("fails")
			c.Fail("API Error: 500")
			c.End("other")
			l.Check(lab.Own(c), append(wants, lab.Want{Prompt: "fails", Outcome: record.Failed})...)
			if n := len(l.Chain(lab.Own(c))); n != 6 {
				t.Errorf("the ledger has %d commits, want 6: one for the mission, one for each turn", n)
			}
			l.Quiet()
			l.Fsck()
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
			l := lab.New(t)
			c := l.Client()
			first := l.Turn(c, "first", l.Writes("first.txt", "1\n"))
			w := lab.Want{Prompt: "write", Reply: again.reply, Base: l.Tree()}
			c.Prompt("write")
			l.Write("file.txt", "wrong\n")
			c.Block("done", "the tests fail")
			before := l.List(lab.Own(c))
			if len(before) != 2 || before[1].Reply != "done" {
				t.Fatalf("after the first Stop:\n%s", lab.Describe(before))
			}
			if again.work != "" {
				c.Tool("Edit")
				l.Write("file.txt", again.work)
			}
			c.StopAgain(again.reply)
			w.Tree = l.Tree()
			last := l.Turn(c, "last", nil)
			list := l.Check(lab.Own(c), first, w, last)
			if list[1].Base != before[1].Base {
				t.Errorf("the base changed from %s to %s", before[1].Base, list[1].Base)
			}
			if list[1].Transcript.Bytes <= before[1].Transcript.Bytes {
				t.Errorf("the segment has %d bytes, had %d", list[1].Transcript.Bytes, before[1].Transcript.Bytes)
			}
			l.Holds(list[1], "the tests fail")
			l.Quiet()
			l.Fsck()
		})
	}
}

// TestEndedQuietly: an end that finds nothing open records nothing.
func TestEndedQuietly(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	w := l.Turn(c, "only", nil)
	tip := l.Git("rev-parse", lab.Own(c).Ref())
	c.End("prompt_input_exit")
	c.End("other")
	l.Check(lab.Own(c), w)
	if now := l.Git("rev-parse", lab.Own(c).Ref()); now != tip {
		t.Errorf("the ledger went on: %s", l.Git("log", "--format=%s", "-2", now))
	}
	fresh := l.Client()
	fresh.End("other")
	if refs := l.Git("for-each-ref", lab.Own(fresh).Ref()); refs != "" {
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
			l := lab.New(t)
			c := l.Client()
			var late replay.Event
			c.Hook = func(e replay.Event) {
				l.Record(e)
				if e.Name == "Stop" || e.Name == "StopFailure" {
					late = e
				}
			}
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			b := lab.Want{Prompt: "two", Reply: "answer to two"}
			c.Prompt("two")
			if flushed {
				c.Say("I begin.")
				c.Flush()
			}
			l.Write("two.txt", "half\n")
			l.Record(late)
			l.Write("two.txt", "2\n")
			b.Tree = l.Tree()
			c.Stop("answer to two")
			c.Prompt("three")
			c.Fail("API Error: 500")
			d := lab.Want{Prompt: "three", Outcome: record.Failed}
			c.Prompt("four")
			l.Record(late)
			c.Stop("done")
			l.Check(lab.Own(c), a, b, d, lab.Want{Prompt: "four", Reply: "done"})
			l.Quiet()
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
			l := lab.New(t)
			c := l.Client()
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			c.Prompt("two")
			l.Write("two.txt", "2\n")
			var events []replay.Event
			c.Hook = func(e replay.Event) { events = append(events, e) }
			c.Hold = !flushed
			c.Stop("done")
			c.End("other")
			events[0].At = events[1].At.Add(-2 * time.Millisecond) // its process began first, and waited for the lock
			l.Record(events[1])
			c.Flush()
			l.Record(events[0])
			l.StoredOnce(l.Check(lab.Own(c), a, lab.Want{Prompt: "two", Reply: "done", Tree: l.Tree()}))
		})
	}
}
