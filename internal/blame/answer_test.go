package blame

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestEach: each line of a run has its text and its number, in a file that is read at once and in one that is not.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		long int // bytes of each line, at least
	}{
		{"small", 1},
		{"large", maxBlob/10 + 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.long > 1 {
				gittest.Check(t)
			}
			r := gittest.New(t)
			lines := make([]string, 10)
			for i := range lines {
				lines[i] = fmt.Sprintf("%d%s", i+1, strings.Repeat("x", tt.long))
			}
			r.Write("f", strings.Join(lines, "\n"))
			r.Commit("first")
			lines[4] = "five\r"
			r.Write("f", strings.Join(lines, "\n"))
			head := object.NewHash(r.Commit("second"))
			h, err := Open(t.Context(), workspaceOf(t, r))
			gittest.Must(t, err)
			defer h.Close()
			for _, of := range []struct {
				ranges []string
				runs   []int // how long they are
				want   []int
			}{
				{nil, []int{4, 1, 5}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
				{[]string{"4,5", "10,10"}, []int{1, 1, 1}, []int{4, 5, 10}},
				{[]string{"2,3"}, []int{2}, []int{2, 3}},
			} {
				a, err := h.Ask(t.Context(), Request{Commit: head, Path: "f", Ranges: of.ranges})
				gittest.Must(t, err)
				var runs, got []int
				for _, run := range a.Runs {
					runs = append(runs, run.Blame.Lines)
				}
				gittest.Must(t, a.Each(t.Context(), func(run int, l Line) error {
					got = append(got, l.Blame.Number)
					of := a.Runs[run].Blame
					if l.Text != lines[l.Blame.Number-1] || l.Blame.Lines != 1 || l.Blame.Line != l.Blame.Number || l.Blame.Number < of.Number || l.Blame.Number >= of.End() {
						t.Errorf("%v: line %d of %d lines from %d has %.20q", of, l.Blame.Number, of.Lines, of.Number, l.Text)
					}
					return nil
				}))
				if !slices.Equal(runs, of.runs) || !slices.Equal(got, of.want) {
					t.Errorf("%v: runs of %v, lines %v, want %v, %v", of.ranges, runs, got, of.runs, of.want)
				}
				a.Close()
			}
		})
	}
}
