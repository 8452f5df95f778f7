package bisect

import (
	"reflect"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/turns"
)

// TestAdd: states in a row with the same files are one, but for what is unknown between them; and a
// verdict is about files.
func TestAdd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		trees  string // a letter for each; a question mark where they are not known
		states string // those that are left
		judged int    // the state that is good
		want   string
	}{
		{"abc", "abc", 1, ".g."},
		{"aabbbc", "abc", 1, ".g."},
		{"abab", "abab", 1, ".g.g"},
		{"aab?bc", "ab?bc", 1, ".gug."},
		{"a??b", "a??b", 0, "guu."},
	} {
		b := new(Bisection)
		for _, letter := range tt.trees {
			tree, verdict := object.NewHash(strings.Repeat(string(letter), 40)), Untried
			if letter == '?' {
				tree, verdict = object.Hash{}, Unknown
			}
			b.add(&turns.State{Why: string(letter)}, tree, verdict)
		}
		states := ""
		for _, s := range b.States {
			states += s.Why
		}
		if states != tt.states {
			t.Errorf("%s: states %s, want %s", tt.trees, states, tt.states)
			continue
		}
		b.Judge(tt.judged, Good)
		if want := verdictsOf(tt.want); !reflect.DeepEqual(b.Verdicts, want) {
			t.Errorf("%s: verdicts %v, want %v", tt.trees, b.Verdicts, want)
		}
	}
}
