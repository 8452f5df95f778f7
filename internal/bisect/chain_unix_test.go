//go:build unix

package bisect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// TestChain: states are written as in [TestAdd], and commits with the states that their messages name.
func TestChain(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	w := workspace.New(repo, config.Default())
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		states string
		want   []string // the oldest first
	}{
		{"ab", []string{"a", "b"}},
		{"abc", []string{"a", "b", "c"}},
		{"a?c", []string{"a", "c: 1"}},
		{"a???b?c", []string{"a", "b: 1, 2, 3", "c: 5"}},
	} {
		b := new(Bisection)
		for i, letter := range tt.states {
			s := &turns.State{In: "a1b2c3d4", Turn: &turns.Turn{Turn: i}, Why: string(letter), At: began.Add(time.Duration(i) * time.Minute)}
			if letter == '?' {
				b.add(s, object.Hash{}, Unknown)
			} else {
				b.add(s, object.NewHash(gittest.Hash(string(letter))), Untried)
			}
		}
		good, bad, err := b.Chain(t.Context(), w, func(s *turns.State) string { return "state " + s.Why })
		if err != nil {
			t.Errorf("%s: %v", tt.states, err)
			continue
		}
		var got, want []string
		for _, entry := range strings.Split(strings.TrimSuffix(r.Git("log", "-z", "--reverse", "--format=%at %T%n%B", bad.String()), "\x00"), "\x00") {
			got = append(got, strings.TrimSpace(entry))
		}
		for _, commit := range tt.want {
			letter, passed, _ := strings.Cut(commit, ": ")
			at := strings.Index(tt.states, letter)
			message := "state " + letter
			if passed != "" {
				message += "\n\nWhere the code was before that is not known: a1b2c3d4/" + strings.ReplaceAll(passed, ", ", ", a1b2c3d4/")
			}
			want = append(want, fmt.Sprintf("%d %s\n%s", b.States[at].At.Unix(), b.trees[at], message))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: commits\n%q, want\n%q", tt.states, got, want)
		}
		if first := r.Git("rev-list", "--max-parents=0", bad.String()); first != good.String() {
			t.Errorf("%s: the first is %s, and Chain says %s", tt.states, first, good)
		}
	}
}
