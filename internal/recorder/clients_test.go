package recorder_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestTwoClients: one session is resumed in two clients at once. Each answer is that of the turn that its Stop
// names, whichever ends first; no turn is said to be interrupted; a fork at each has its prompt and answer.
func TestTwoClients(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		order string   // A and B prompt, a and b stop, x writes a file
		turns []string // by prompt, in the order of the record
	}{
		{"the first ends first", "AxBxaxb", []string{"A", "B"}},
		{"the second ends first", "AxBxbxa", []string{"B", "A"}},
		{"twice", "ABabABba", []string{"A", "B", "B", "A"}},
		{"one goes on while the other still works", "ABbBba", []string{"B", "B", "A"}},
		{"one after the other", "AaBbAa", []string{"A", "B", "A"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "the second ends first" {
				gittest.Check(t)
			}
			l := lab.New(t)
			a := l.Client()
			a.PID = os.Getpid()
			l.Turn(a, "one", l.Writes("one.txt", "1\n"))
			b := a.Second()
			b.PID = os.Getppid()
			for i, r := range tt.order {
				switch r {
				case 'A':
					a.Prompt("prompt of A")
					a.Flush()
				case 'B':
					b.Prompt("prompt of B")
					b.Flush()
				case 'a':
					a.Stop("answer to A")
				case 'b':
					b.Stop("answer to B")
				case 'x':
					l.Write("work.txt", string(rune('a'+i)))
				}
			}
			a.End("prompt_input_exit")
			b.End("prompt_input_exit")
			list := l.List(lab.Own(a))
			if len(list) != 1+len(tt.turns) {
				t.Fatalf("want %d turns:\n%s", 1+len(tt.turns), lab.Describe(list))
			}
			for i, who := range tt.turns {
				turn := list[i+1]
				if turn.Prompt != "prompt of "+who || turn.Reply != "answer to "+who || turn.Outcome != record.Done {
					t.Errorf("turn %d is not that of %s:\n%s", i+2, who, lab.Describe(list))
				}
				stored, err := lab.ForkConversation(l.GitRepo(), turn)
				gittest.Must(t, err)
				if !bytes.Contains(stored, []byte("prompt of "+who)) || !bytes.Contains(stored, []byte("answer to "+who)) {
					t.Errorf("the conversation of turn %d lacks its prompt or answer", i+2)
				}
			}
			l.StoredOnce(list)
			l.Fsck()
			l.Quiet()
		})
	}
}

// TestTwoClientsOwn: of two turns of one session at once, each one's own change is its own.
func TestTwoClientsOwn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	a := l.Client()
	a.PID = os.Getpid()
	b := a.Second()
	b.PID = os.Getppid()
	a.Prompt("write f")
	call(l, a, "Edit", map[string]string{"f": "1\n"})
	b.Prompt("write g")
	call(l, b, "Edit", map[string]string{"g": "1\n2\n"})
	call(l, a, "Edit", map[string]string{"f": "1\n2\n3\n"})
	b.Stop("done")
	call(l, a, "Edit", map[string]string{"h": "1\n"})
	a.Stop("done")
	list := l.List(lab.Own(a))
	if len(list) != 2 {
		t.Fatalf("want two turns:\n%s", lab.Describe(list))
	}
	for i, want := range []struct {
		paths string
		lines int
	}{{"g", 2}, {"f h", 4}} {
		if own := list[i].Change(); own.Alone() || own.Unsure() || strings.Join(own.Paths, " ") != want.paths || own.Insertions != want.lines || own.With[0] != a.Session {
			t.Errorf("turn %d: %+v, %+v", i+1, own, list[i].Own)
		}
	}
	l.Fsck()
	l.Quiet()
}
