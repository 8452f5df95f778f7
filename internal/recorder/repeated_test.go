package recorder_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestSaidAgain: a client writes records of earlier turns into its file once more, as some do when a session is
// resumed. They are no turns, belong to none, and cost nothing; a fork has them once.
func TestSaidAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		again  []int // the turns whose lines come again after the second, numbers from 1
		within bool  // in the third turn, not before it
		forget bool  // the local state is lost then
	}{
		{name: "the first", again: []int{1}},
		{name: "the last", again: []int{2}},
		{name: "all", again: []int{1, 2}},
		{name: "all, twice", again: []int{1, 2, 1, 2}},
		{name: "within a turn", again: []int{1, 2}, within: true},
		{name: "and nobody remembers", again: []int{1, 2}, forget: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "all" {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			l.Turn(c, "two", func() { c.Tool("Bash") })
			c.Flush()
			data, err := os.ReadFile(c.Path)
			gittest.Must(t, err)
			at := []int64{c.Said()[0].Offset, c.Said()[1].Offset, int64(len(data))}
			repeat := func() {
				c.Flush()
				f, err := os.OpenFile(c.Path, os.O_APPEND|os.O_WRONLY, 0)
				gittest.Must(t, err)
				for _, n := range tt.again {
					_, err := f.Write(data[at[n-1]:at[n]])
					gittest.Must(t, err)
				}
				gittest.Must(t, f.Close())
			}
			if !tt.within {
				repeat()
			}
			if tt.forget {
				l.Forget("sessions")
			}
			l.Turn(c, "three", func() {
				if tt.within {
					repeat()
				}
				l.Write("three.txt", "3\n")
			})
			l.Turn(c, "four", nil)
			list := l.List(lab.Own(c))
			if len(list) != 4 {
				t.Fatalf("want four turns:\n%s", lab.Describe(list))
			}
			for i, want := range []string{"one", "two", "three", "four"} {
				spent := lab.Messages([]int64{2, 3, 2, 1}[i])
				if list[i].Prompt != want || list[i].Reply != "answer to "+want || !maps.Equal(list[i].Tokens, spent) {
					t.Errorf("turn %d is %q, %q, with %+v tokens", i+1, list[i].Prompt, list[i].Reply, list[i].Tokens)
				}
				if n := list[i].Tools["Bash"]; n != map[int]int{1: 1}[i] {
					t.Errorf("turn %d has %d calls", i+1, n)
				}
			}
			stored, err := lab.ForkConversation(l.GitRepo(), list[3])
			gittest.Must(t, err)
			lines := slices.Collect(bytes.Lines(stored))
			for i, line := range lines {
				if bytes.Contains(line, []byte(`"message"`)) && slices.ContainsFunc(lines[:i], func(l []byte) bool { return bytes.Equal(l, line) }) {
					t.Errorf("stored twice: %.200s", line)
				}
			}
			l.Fsck()
			l.Quiet()
		})
	}
}
