package gitdiff

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestGraft(t *testing.T) {
	t.Parallel()
	text := func(letters string) []byte { // a line for each
		return []byte(strings.Join(strings.Split(letters, ""), "\n") + strings.Repeat("\n", min(1, len(letters))))
	}
	for _, tt := range []struct{ name, ours, from, to, want string }{
		{"nothing else was done", "abc", "abc", "axc", "axc"},
		{"lines next to others'", "a", "ay", "axy", "ax"},
		{"and behind them", "a", "ay", "ayx", "ax"},
		{"in a file of theirs", "", "yz", "yxz", "x"},
		{"where others removed lines", "abc", "ac", "acx", "abcx"},
		{"a line that others left", "abc", "aybc", "ayc", "ac"},
		{"all", "abc", "abc", "", ""},
		{"all of which others removed something", "abc", "ac", "", "b"},
		{"a line of others", "a", "ay", "ax", "conflict"},
		{"a file of others", "", "y", "", "conflict"},
		{"a block where others have one", "ab", "a123b", "a1x23b", "axb"},
	} {
		want := tt.want
		made, ok := Graft(text(tt.ours), text(tt.from), text(tt.to))
		if got := strings.ReplaceAll(string(made), "\n", ""); ok != (want != "conflict") || ok && got != want {
			t.Errorf("%s: got %q, %t, want %q", tt.name, got, ok, want)
		}
	}
}

// TestGraftRandom: what others add, and the change adds, can be taken apart.
func TestGraftRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 3))
		var ours, from, to, want []string
		n := 0
		for range 30 {
			n++
			line := strings.Repeat("x", n) + "\n"
			switch random.IntN(4) {
			case 0: // others'
				from, to = append(from, line), append(to, line)
			case 1: // the change's
				to, want = append(to, line), append(want, line)
			case 2: // the change removes it
				ours, from = append(ours, line), append(from, line)
			default:
				ours, from, to, want = append(ours, line), append(from, line), append(to, line), append(want, line)
			}
		}
		join := func(list []string) []byte { return []byte(strings.Join(list, "")) }
		if made, ok := Graft(join(ours), join(from), join(to)); !ok || string(made) != string(join(want)) {
			t.Fatalf("seed %d: got\n%s%t, want\n%s", seed, made, ok, join(want))
		}
	}
}
