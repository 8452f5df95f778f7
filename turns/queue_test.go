package turns_test

import (
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// TestQueued: a prompt that was typed while the agent worked runs next, and no event announces it.
func TestQueued(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	a := want{prompt: "A", base: l.tree()}
	c.Prompt("A")
	l.Write("a.txt", "a\n")
	c.Prompt("B") // UserPromptSubmit with A's id
	l.Write("a.txt", "more of a\n")
	a.tree = l.tree()
	c.Stop("did A")
	b := want{prompt: "B", base: l.tree()}
	l.Write("b.txt", "b\n")
	b.tree = l.tree()
	c.Stop("did B")
	l.check(own(c), a, b, l.turn(c, "C", l.write("c.txt", "c\n")))
	l.quiet()
	l.fsck()
}

// TestQueuedTwice: while an unannounced turn runs, another prompt is typed. Its event is the first
// one with the running turn's id, and its prompt is not that turn's.
func TestQueuedTwice(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, flushed := range map[string]bool{
		"the file tells":          true,
		"the file tells too late": false, // the client writes up to 100 ms late
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			a := want{prompt: "A", reply: "did A", base: l.tree()}
			c.Prompt("A")
			c.Prompt("B")
			l.Write("a.txt", "a\n")
			a.tree = l.tree()
			c.Stop("did A")
			b := want{prompt: "B", reply: "did B"}
			if flushed {
				b.base = a.tree
				l.Write("b.txt", "half of b\n")
			}
			c.Hold = !flushed
			c.Prompt("C")
			c.Hold = false
			l.Write("b.txt", "all of b\n")
			b.tree = l.tree()
			c.Stop("did B")
			third := want{prompt: "C", reply: "did C", base: l.tree()}
			l.Write("c.txt", "c\n")
			third.tree = l.tree()
			c.Stop("did C")
			l.check(own(c), a, b, third, l.turn(c, "D", nil))
			for _, subject := range []string{"before turn 2", "before turn 3", "before turn 4"} {
				if flushed && l.Git("log", "--all", "--format=%H", "--grep=^"+subject+"$") != "" {
					t.Errorf("the agent's half-done work is a commit %q", subject)
				}
			}
			l.quiet()
			l.fsck()
		})
	}
}

// TestQueuedAndInterrupted: Esc ends the running turn, the prompt of the queue runs, and is
// interrupted as well.
func TestQueuedAndInterrupted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, end := range map[string]string{"a prompt": "", "the session's end": "prompt_input_exit", "a kill": "other"} {
		t.Run("found at "+name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			first := l.turn(c, "first", l.write("first.txt", "1\n"))
			c.Prompt("A")
			c.Prompt("B")
			c.Esc()
			c.Esc()
			wants := []want{
				first,
				{prompt: "A", outcome: record.Interrupted, base: first.tree, tree: first.tree},
				{prompt: "B", outcome: record.Interrupted, base: first.tree, tree: first.tree},
			}
			if end == "" {
				wants = append(wants, l.turn(c, "C", l.write("c.txt", "c\n")))
			} else {
				c.End(end)
			}
			l.check(own(c), wants...)
			l.quiet()
		})
	}
}

// TestQueuedAfterInterrupted: Esc, and the queue's prompt runs to its end: its Stop finds the other
// turn open.
func TestQueuedAfterInterrupted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	base := l.tree()
	c.Prompt("A")
	c.Prompt("B")
	c.Esc()
	l.Write("b.txt", "b\n")
	c.Stop("did B")
	l.check(own(c),
		want{prompt: "A", outcome: record.Interrupted, base: base},
		want{prompt: "B", reply: "did B", tree: l.tree()},
		l.turn(c, "C", nil))
	l.quiet()
}

// TestQueueOfThree: three prompts wait, and their turns run one after the other.
func TestQueueOfThree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	c.Late = true
	c.Prompt("A")
	c.Prompt("B")
	c.Prompt("C")
	c.Prompt("D")
	var wants []want
	for _, p := range []string{"A", "B", "C", "D"} {
		w := want{prompt: p, reply: "did " + p, base: l.tree()}
		l.Write(p, p)
		c.Stop("did " + p)
		w.tree = l.tree()
		wants = append(wants, w)
	}
	l.check(own(c), wants...)
	l.quiet()
}

// TestQueueLost: the queue goes with the session; what was never run is no turn.
func TestQueueLost(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	c.Prompt("A")
	c.Prompt("never run")
	c.End("other")
	c.Resume()
	l.check(own(c), want{prompt: "A", outcome: record.Interrupted}, l.turn(c, "B", nil))
}

// TestPromptTwice: the event of a prompt arrives twice, and once more when the turn has ended
// already.
func TestPromptTwice(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	var prompt replay.Event
	c.Hook = func(e replay.Event) {
		l.record(e)
		if e.Name == "UserPromptSubmit" {
			l.record(e)
			prompt = e
		}
	}
	w := l.turn(c, "one", l.write("one.txt", "1\n"))
	l.record(prompt)
	c.End("other")
	l.check(own(c), w)
	l.quiet()
}
