package fetcher

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/test/gittest"
)

// made is a hash that only n says of, none for 0.
func made(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

// TestHeld: what of a purge elsewhere is not applied, what that keeps from being merged, and what the user is told.
func TestHeld(t *testing.T) {
	t.Parallel()
	refused := errors.New("it is longer")
	for _, tt := range []struct {
		why    purgemap.HeldBecause
		merged bool
		away   bool
		want   string
	}{
		{why: purgemap.HeldBecause{Unknown: true}, want: "mission a1b2c3d4: it was purged at origin without a key that you trust; nothing was changed"},
		{why: purgemap.HeldBecause{Whole: true}, merged: true, want: "mission a1b2c3d4: it was purged at origin as a whole without a key that you trust; nothing was changed"},
		{why: purgemap.HeldBecause{Unknown: true, Whole: true}, want: "mission a1b2c3d4: it was purged at origin without a key that you trust; nothing was changed"},
		{why: purgemap.HeldBecause{WentOn: true}, want: "mission a1b2c3d4: it was purged at origin as a whole, and has gone on here; nothing was changed"},
		{why: purgemap.HeldBecause{WentOn: true, Away: true}, away: true, want: "mission a1b2c3d4: it was purged at origin as a whole, and has gone on here; nothing was changed"},
		{why: purgemap.HeldBecause{Away: true, Unknown: true}, away: true, want: "mission a1b2c3d4: it was purged at origin and what takes its place is not there; nothing was changed"},
		{why: purgemap.HeldBecause{Refused: refused}, want: "mission a1b2c3d4: what origin says was purged of it is refused: it is longer"},
		{why: purgemap.HeldBecause{Whole: true, Refused: refused}, want: "mission a1b2c3d4: it was purged at origin as a whole without a key that you trust; nothing was changed"},
	} {
		a := &applied{remote: "origin", Applied: &purge.Applied{Held: map[record.ID]purgemap.HeldBecause{"a1b2c3d4": tt.why}}}
		arrived := map[record.ID]remote.Tips{"a1b2c3d4": {}, "00000000": {}}
		rest := a.let(arrived)
		if _, is := rest["a1b2c3d4"]; is != tt.merged || len(arrived) != 2 || len(rest) == 0 {
			t.Errorf("%+v: it is merged %t, want %t", tt.why, is, tt.merged)
		}
		if got := away(a.Held); got != tt.away {
			t.Errorf("%+v: away is %t", tt.why, got)
		}
		held := a.held()
		if len(held) != 1 || held[0].Error() != tt.want || errors.Is(held[0], refused) != (tt.why.Refused != nil) {
			t.Errorf("%+v: %v, want %q", tt.why, held, tt.want)
		}
	}

	unread := errors.New("origin: it is spoiled")
	a := &applied{remote: "origin", unread: unread, Applied: &purge.Applied{
		Held:    map[record.ID]purgemap.HeldBecause{"b1b2c3d4": {Unknown: true}, "a1b2c3d4": {Unknown: true}},
		Changed: map[record.ID]bool{"d1b2c3d4": true, "c1b2c3d4": true},
		Renamed: map[record.ID]record.ID{"e1b2c3d4": "f1b2c3d4"},
		Result:  &purge.Result{Stays: []purge.Stay{{}}},
	}}
	a.Result.Stays[0].Ref = "refs/heads/mine"
	var kept *KeptError
	var first *HeldError
	if held := a.held(); len(held) != 4 || !errors.Is(held[0], unread) || !errors.As(held[1], &kept) || !errors.As(held[2], &first) || first.Mission != "a1b2c3d4" {
		t.Errorf("held are %v", held)
	}
	if changes := a.changes(); len(changes) != 2 || changes[0] != (Change{Mission: "c1b2c3d4", Kind: Purged}) || changes[1].Mission != "d1b2c3d4" {
		t.Errorf("changes are %v", changes)
	}
	named := a.rename(map[record.ID]remote.Tips{"e1b2c3d4": {Ledger: made(1)}, "00000000": {Ledger: made(2)}})
	if got := slices.Sorted(maps.Keys(named)); !slices.Equal(got, []record.ID{"00000000", "f1b2c3d4"}) || named["f1b2c3d4"].Ledger != made(1) {
		t.Errorf("renamed are %v", named)
	}
}

// TestKept: what of the user's own still has what was purged, but not all of much.
func TestKept(t *testing.T) {
	t.Parallel()
	stay := func(n int, path string) (s purge.Stay) {
		if s.Root = (objectpurge.Root{Path: path}); path == "" {
			s.Ref = fmt.Sprintf("refs/heads/%d", n)
		}
		return s
	}
	for _, tt := range []struct {
		stays []purge.Stay
		want  string
	}{
		{[]purge.Stay{stay(1, "")}, "refs/heads/1"},
		{[]purge.Stay{stay(1, ""), stay(2, "/w/.git/index")}, "refs/heads/1, /w/.git/index"},
		{[]purge.Stay{stay(1, ""), stay(2, ""), stay(3, "")}, "refs/heads/1, refs/heads/2, refs/heads/3"},
		{[]purge.Stay{stay(1, ""), stay(2, ""), stay(3, ""), stay(4, ""), stay(5, "")}, "refs/heads/1, refs/heads/2, refs/heads/3, 2 more"},
	} {
		if got, want := (&KeptError{tt.stays, "origin"}).Error(), "what was purged at origin stays in what is yours: "+tt.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
