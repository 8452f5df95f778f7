package recorder_test

import (
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// TestQueued: a prompt that was typed while the agent worked runs next, and no event announces it.
func TestQueued(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	a := lab.Want{Prompt: "A", Base: l.Tree()}
	c.Prompt("A")
	l.Write("a.txt", "a\n")
	c.Prompt("B") // UserPromptSubmit with A's id
	l.Write("a.txt", "more of a\n")
	a.Tree = l.Tree()
	c.Stop("did A")
	b := lab.Want{Prompt: "B", Base: l.Tree()}
	l.Write("b.txt", "b\n")
	b.Tree = l.Tree()
	c.Stop("did B")
	l.Check(lab.Own(c), a, b, l.Turn(c, "C", l.Writes("c.txt", "c\n")))
	l.Quiet()
	l.Fsck()
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
			l := lab.New(t)
			c := l.Client()
			a := lab.Want{Prompt: "A", Reply: "did A", Base: l.Tree()}
			c.Prompt("A")
			c.Prompt("B")
			l.Write("a.txt", "a\n")
			a.Tree = l.Tree()
			c.Stop("did A")
			b := lab.Want{Prompt: "B", Reply: "did B"}
			if flushed {
				b.Base = a.Tree
				l.Write("b.txt", "half of b\n")
			}
			c.Hold = !flushed
			c.Prompt("C")
			c.Hold = false
			l.Write("b.txt", "all of b\n")
			b.Tree = l.Tree()
			c.Stop("did B")
			third := lab.Want{Prompt: "C", Reply: "did C", Base: l.Tree()}
			l.Write("c.txt", "c\n")
			third.Tree = l.Tree()
			c.Stop("did C")
			l.Check(lab.Own(c), a, b, third, l.Turn(c, "D", nil))
			for _, subject := range []string{"before turn 2", "before turn 3", "before turn 4"} {
				if flushed && l.Git("log", "--all", "--format=%H", "--grep=^"+subject+"$") != "" {
					t.Errorf("the agent's half-done work is a commit %q", subject)
				}
			}
			l.Quiet()
			l.Fsck()
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
			l := lab.New(t)
			c := l.Client()
			first := l.Turn(c, "first", l.Writes("first.txt", "1\n"))
			c.Prompt("A")
			c.Prompt("B")
			c.Esc()
			c.Esc()
			wants := []lab.Want{
				first,
				{Prompt: "A", Outcome: record.Interrupted, Base: first.Tree, Tree: first.Tree},
				{Prompt: "B", Outcome: record.Interrupted, Base: first.Tree, Tree: first.Tree},
			}
			if end == "" {
				wants = append(wants, l.Turn(c, "C", l.Writes("c.txt", "c\n")))
			} else {
				c.End(end)
			}
			l.Check(lab.Own(c), wants...)
			l.Quiet()
		})
	}
}

// TestQueuedAfterInterrupted: Esc, and the queue's prompt runs to its end: its Stop finds the other
// turn open.
func TestQueuedAfterInterrupted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	base := l.Tree()
	c.Prompt("A")
	c.Prompt("B")
	c.Esc()
	l.Write("b.txt", "b\n")
	c.Stop("did B")
	l.Check(lab.Own(c),
		lab.Want{Prompt: "A", Outcome: record.Interrupted, Base: base},
		lab.Want{Prompt: "B", Reply: "did B", Tree: l.Tree()},
		l.Turn(c, "C", nil))
	l.Quiet()
}

// TestQueueOfThree: three prompts wait, and their turns run one after the other.
func TestQueueOfThree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Late = true
	c.Prompt("A")
	c.Prompt("B")
	c.Prompt("C")
	c.Prompt("D")
	var wants []lab.Want
	for _, p := range []string{"A", "B", "C", "D"} {
		w := lab.Want{Prompt: p, Reply: "did " + p, Base: l.Tree()}
		l.Write(p, p)
		c.Stop("did " + p)
		w.Tree = l.Tree()
		wants = append(wants, w)
	}
	l.Check(lab.Own(c), wants...)
	l.Quiet()
}

// TestQueueLost: the queue goes with the session; what was never run is no turn.
func TestQueueLost(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Prompt("A")
	c.Prompt("never run")
	c.End("other")
	c.Resume()
	l.Check(lab.Own(c), lab.Want{Prompt: "A", Outcome: record.Interrupted}, l.Turn(c, "B", nil))
}

// TestPromptTwice: the event of a prompt arrives twice, and once more when the turn has ended
// already.
func TestPromptTwice(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	var prompt replay.Event
	c.Hook = func(e replay.Event) {
		l.Record(e)
		if e.Name == "UserPromptSubmit" {
			l.Record(e)
			prompt = e
		}
	}
	w := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Record(prompt)
	c.End("other")
	l.Check(lab.Own(c), w)
	l.Quiet()
}
