package finisher

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// TestChoose: which paths of a worktree are a passive mission's to commit. Paths are one letter, or two of which the
// first is a directory.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		turns         string // what each changed: "ab c"; "." for nothing
		outside       string // what something else changed
		differs       string // from HEAD; with "+" what HEAD does not have
		paths, byHand string
		left, fresh   string
		elsewhere     string // turns
		replaced      bool
	}{
		{name: "what its turns changed", turns: "a b", differs: "a b", paths: "a b"},
		{name: "one is committed by hand", turns: "a b", differs: "b", paths: "b", elsewhere: "1"},
		{name: "half of one is committed by hand", turns: "ab", differs: "b", paths: "b"},
		{name: "all is committed by hand", turns: "a b", elsewhere: "1 2"},
		{name: "a turn changed nothing", turns: "a .", differs: "a", paths: "a"},
		{name: "what no turn changed stays", turns: "a", differs: "a m", paths: "a", left: "m"},
		{name: "what somebody has changed as well", turns: "ab", outside: "bm", differs: "a b m", paths: "a b", byHand: "b", left: "m"},
		{name: "what HEAD does not have", turns: "ab", differs: "+a b +m", paths: "a b", fresh: "a", left: "m"},
		{name: "two turns changed one path", turns: "a a", differs: "a", paths: "a"},
		{name: "a directory in the place of a file", turns: "d d/x", differs: "d +d/x", paths: "d d/x", fresh: "d/x", replaced: true},
		{name: "a file in a new directory", turns: "d/x", differs: "+d/x", paths: "d/x", fresh: "d/x"},
		{name: "a directory in the place of a file that no turn removed", turns: "d/x", differs: "d +d/x", paths: "d/x", fresh: "d/x", left: "d"},
		{name: "a directory far above", turns: "d d/e/x", differs: "d +d/e/x", paths: "d d/e/x", fresh: "d/e/x", replaced: true},
	} {
		set := func(words string) map[string]bool {
			paths := make(map[string]bool)
			if strings.Contains(words, "/") {
				paths[words] = true
				return paths
			}
			for _, c := range strings.Trim(words, ".") {
				paths[string(c)] = true
			}
			return paths
		}
		k, p := new(unfinished), &pick{paths: make(map[string]bool)}
		var own []map[string]bool
		touched := make(map[string]bool)
		for i, words := range strings.Fields(tt.turns) {
			own = append(own, set(words))
			maps.Copy(touched, own[i])
			k.turns = append(k.turns, worked{number: i + 1})
		}
		var found []gitdiff.Difference
		for word := range strings.FieldsSeq(tt.differs) {
			d := gitdiff.Difference{Path: strings.TrimPrefix(word, "+"), New: object.Entry{Hash: hash(2)}}
			if word == d.Path {
				d.Old.Hash = hash(1)
			}
			found = append(found, d)
		}
		changes := k.choose(p, own, touched, set(tt.outside), found)
		var elsewhere []string
		for _, w := range k.turns {
			if w.elsewhere {
				elsewhere = append(elsewhere, fmt.Sprint(w.number))
			}
		}
		for _, got := range []struct {
			what string
			list []string
			want string
		}{
			{"paths", slices.Sorted(maps.Keys(p.paths)), tt.paths},
			{"changes", slices.Sorted(maps.Keys(changes)), tt.paths},
			{"changed by hand as well", p.byHand, tt.byHand},
			{"left", p.left, tt.left},
			{"fresh", p.fresh, tt.fresh},
			{"turns elsewhere", elsewhere, tt.elsewhere},
		} {
			if strings.Join(got.list, " ") != got.want {
				t.Errorf("%s: %s are %q, want %q", tt.name, got.what, got.list, got.want)
			}
		}
		if p.replaced != tt.replaced {
			t.Errorf("%s: replaced is %t", tt.name, p.replaced)
		}
		for path, e := range changes {
			if e.Hash != hash(2) {
				t.Errorf("%s: %s becomes %.2s", tt.name, path, e.Hash)
			}
		}
	}
}
