package turns

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// commitOf is a commit that a letter stands for.
func commitOf(letter byte) object.Hash {
	return object.NewHash(strings.Repeat("0", 38) + "a" + string("0123456789abcdef"[letter%16]))
}

// TestWay: a mission is written as the commits of its turns, base and code, "ab bc ce".
func TestWay(t *testing.T) {
	t.Parallel()
	read := func(in record.ID, text string) (list []*Turn) {
		for i, pair := range strings.Fields(text) {
			turn := &Turn{Mission: in, Turn: i + 1, Code: commitOf(pair[1]), Ledger: in}
			if pair[0] != '-' {
				turn.Base = commitOf(pair[0])
			}
			list = append(list, turn)
		}
		return list
	}
	a := read("aaaaaaaa", "ab bc de ef")
	a[1].Imported = "head"
	fork := read("ffffffff", "ab bc cg")
	fork[0].Mission, fork[1].Mission, fork[1].Imported = "aaaaaaaa", "aaaaaaaa", "head"
	other := read("bbbbbbbb", "-a xb")
	at := time.Unix(1_795_176_000, 0)
	saved := func(after *Turn, letter byte, minutes time.Duration) *State {
		return &State{In: "aaaaaaaa", Commit: commitOf(letter), Turn: after, Saved: true, At: at.Add(minutes * time.Minute), event: commitOf(letter)}
	}
	for _, tt := range []struct {
		name     string
		list     []*Turn
		from, to *State
		want     string
	}{
		{"turns", a, a[0].After(), a[3].After(), "aaaaaaaa/1 aaaaaaaa/2^ aaaaaaaa/2 aaaaaaaa/3^ aaaaaaaa/3 aaaaaaaa/4^ aaaaaaaa/4"},
		{"starts", a, a[2].Before(), a[3].Before(), "aaaaaaaa/3^ aaaaaaaa/3 aaaaaaaa/4^"},
		{"neighbours", a, a[1].After(), a[2].Before(), "aaaaaaaa/2 aaaaaaaa/3^"},
		{"one state", a, a[1].After(), a[1].After(), ""},
		{"backwards", a, a[2].After(), a[1].After(), ""},
		{"inherited", fork, a[0].After(), fork[2].After(), "ffffffff/1 ffffffff/2^ ffffffff/2 ffffffff/3^ ffffffff/3"},
		{"of the fork, in the source", a, fork[1].After(), a[2].After(), "aaaaaaaa/2 aaaaaaaa/3^ aaaaaaaa/3"},
		{"not inherited", fork, a[2].After(), fork[2].After(), ""},
		{"another mission", a, other[1].Before(), a[1].After(), ""},
		{"another mission at the same commit", a, other[0].After(), a[1].After(), "aaaaaaaa/1^ aaaaaaaa/1 aaaaaaaa/2^ aaaaaaaa/2"},
		{"no base", other, other[0].After(), other[1].After(), "bbbbbbbb/1 bbbbbbbb/2^ bbbbbbbb/2"},
		{"saved", a, saved(a[2], 'x', 0), a[3].After(), strings.Join([]string{commitOf('x').String()[:12], "aaaaaaaa/4^", "aaaaaaaa/4"}, " ")},
		{"to what was saved", a, a[2].After(), saved(a[2], 'x', 0), "aaaaaaaa/3 " + commitOf('x').String()[:12]},
		{"saved one after the other", a, saved(a[2], 'x', 0), saved(a[2], 'y', 1), commitOf('x').String()[:12] + " " + commitOf('y').String()[:12]},
		{"saved one before the other", a, saved(a[2], 'x', 1), saved(a[2], 'y', 0), ""},
		{"saved before the first", a, saved(nil, 'x', 0), a[0].After(), commitOf('x').String()[:12] + " aaaaaaaa/1^ aaaaaaaa/1"},
	} {
		var names []string
		for _, s := range pathBetween(tt.list, tt.from, tt.to) {
			names = append(names, s.String())
		}
		got := strings.Join(names, " ")
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if err := noPath(t.Context(), nil, a, a[2].After(), a[1].After()); !errors.Is(err, ErrBackwards) {
		t.Errorf("got %v, want %v", err, ErrBackwards)
	}
}
