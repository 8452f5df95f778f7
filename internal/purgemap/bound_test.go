package purgemap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// TestWithin: what is done without a question. The figures of the cases are of what is named, in missions of that size.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		a    Asked
		want bool
	}{
		{"nothing", Asked{}, true},
		{"a token in a small mission", Asked{Texts: 1, Cut: 300, Of: 1500}, true},
		{"a token in 300 turns", Asked{Texts: 2, Cut: 24_000, Of: 6 << 20}, true},
		{"a token in every spelling", Asked{Texts: 8, Cut: 4 << 10, Of: 8 << 10}, true},
		{"a private key of 51 lines", Asked{Texts: 104, Cut: 14_000, Of: 1 << 20}, true},
		{"a private key that is all there is", Asked{Texts: 51, Cut: 3200, Of: 3300}, false},
		{"50 tokens of a form", Asked{Texts: 50, Cut: 8000, Of: 2 << 20}, true},
		{"all words of two turns", Asked{Texts: 14, Cut: 500, Of: 6500}, false},
		{"all words", Asked{Texts: 9000, Cut: 4 << 20, Of: 6 << 20}, false},
		{"as many words as a key has lines", Asked{Texts: 256, Cut: 40_000, Of: 1 << 20}, true},
		{"one more", Asked{Texts: 257, Cut: 40_000, Of: 1 << 20}, false},
		{"rare words of much", Asked{Texts: 2000, Cut: 40_000, Of: 100 << 20}, false},
		{"one letter, everywhere", Asked{Texts: 1, Cut: 100_000, Of: 1 << 20}, false},
		{"what is long", Asked{Texts: 1, Cut: 5 << 10, Of: 20 << 10}, false},
		{"a word that stands in files of HEAD", Asked{Texts: 1, Cut: 2000, Of: 1 << 20, Common: 4}, false},
		{"a token that was committed", Asked{Texts: 1, Cut: 2000, Of: 1 << 20, Common: 3}, true},
		{"all that was said, beside much else", Asked{Texts: 10, Prose: 10, Cut: 1000, Of: 1 << 20}, false},
		{"a passphrase", Asked{Texts: 2, Prose: 2, Cut: 80, Of: 6500}, true},
		{"a turn", Asked{Turns: 1}, false},
		{"a file", Asked{Files: 1, Texts: 1, Cut: 20, Of: 1 << 20}, false},
		{"a mission", Asked{Gone: true}, false},
	} {
		if got := tt.a.within(); got != tt.want {
			t.Errorf("%s: it is done without a question: %v", tt.name, got)
		}
	}
}

// TestGone: a mission that a trusted key removed waits for a person, unless the user's own key says so as well.
func TestGone(t *testing.T) {
	t.Parallel()
	const a, fork = "a1b2c3d4", "f1b2c3d4"
	for _, tt := range []struct {
		name     string
		own      string // pairs
		theirs   string
		lines    string
		accepted []record.ID
		gone     string
		held     string
	}{
		{name: "a colleague says so", theirs: "3>0", lines: a + " 3 2 1", held: a},
		{name: "a colleague of what we have purged since", own: "3>13", theirs: "3>0", lines: a + " 13 2 1", held: a},
		{name: "and we", own: "3>0", theirs: "3>0", lines: a + " 3 2 1", gone: a},
		{name: "we alone", own: "3>0", lines: a + " 3 2 1", gone: a},
		{name: "we of what a colleague purged", own: "13>0", theirs: "3>13", lines: a + " 13 2 1", gone: a},
		{name: "a colleague of what we purged", own: "3>13", theirs: "13>0", lines: a + " 13 2 1", held: a},
		{name: "and it is fetched with what we purged", own: "3>13", theirs: "13>0", lines: a + "* 3 2 1", held: a},
		{name: "and other commits have successors that are away", theirs: "3>0 2>12", lines: a + " 3 2 1", held: a},
		{name: "it is accepted", theirs: "3>0", lines: a + " 3 2 1", accepted: []record.ID{a}, gone: a},
		{name: "it has gone on, and is accepted", theirs: "2>0", lines: a + " 3 2 1", accepted: []record.ID{a}, gone: a},
		{name: "its source was removed, and that is accepted", theirs: "2>0", lines: a + " 2 1, " + fork + " 9 2 1", accepted: []record.ID{a}, gone: a, held: fork},
		{name: "it is fetched again, after we agreed", own: "3>0", theirs: "3>0", lines: a + "* 3 2 1"},
		{name: "it is fetched, and was never here", theirs: "3>0", lines: a + "* 3 2 1", held: a},
	} {
		m := &Map{sheets: make(map[string]*sheet)}
		mapOf(t, m, 1, tt.own)
		mapOf(t, m, 2, tt.theirs)
		var list []*line
		for _, text := range strings.Split(tt.lines, ",") {
			list = append(list, lineOf(t, text))
		}
		exists := func(h object.Hash) bool { return h != commitHash(12) }
		p := newPairing(m, func(sshsig.Public) bool { return true }, tt.accepted, exists, list, nil)
		p.user = m.user(mapKey(t, 1).Public())
		gone := p.choose()
		held := slices.Sorted(maps.Keys(p.held))
		for _, got := range []struct{ what, is, want string }{{"gone", fmt.Sprint(gone), "[" + tt.gone + "]"}, {"held", fmt.Sprint(held), "[" + tt.held + "]"}} {
			if got.is != got.want {
				t.Errorf("%s: %s are %s, want %s", tt.name, got.what, got.is, got.want)
			}
		}
	}
}
