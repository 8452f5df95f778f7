package remote

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// made is a hash that only n says of, none for 0.
func made(n byte) git.Hash { return git.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

// TestReplacements: what takes the place of the refs of a remote after a purge. An update is written "ref 1>2", with
// 0 for none.
func TestReplacements(t *testing.T) {
	t.Parallel()
	const (
		mission, renamed = "agent/missions/a1b2c3d4", "agent/missions/b1b2c3d4"
		notes            = "notes/agent/a1b2c3d4"
		branch           = "heads/agent/mission/a1b2c3d4"
		purges           = "agent/purges"
	)
	names := map[record.ID]record.ID{"a1b2c3d4": "b1b2c3d4"}
	for _, tt := range []struct {
		name              string
		before, now       string
		ours              byte
		names             map[record.ID]record.ID
		records, branches string
	}{
		{name: "nothing was purged", before: mission + "=1 " + branch + "=2", now: mission + "=1 " + branch + "=2"},
		{name: "a ledger", before: mission + "=1 " + notes + "=2", now: mission + "=3 " + notes + "=2", records: mission + " 1>3"},
		{name: "ledger and notes", before: mission + "=1 " + notes + "=2", now: mission + "=3 " + notes + "=4", records: mission + " 1>3, " + notes + " 2>4"},
		{name: "a branch goes apart", before: mission + "=1 " + branch + "=2", now: mission + "=3 " + branch + "=4", records: mission + " 1>3", branches: branch + " 2>4"},
		{name: "a mission is gone", before: mission + "=1 " + notes + "=2 " + branch + "=3", records: mission + " 1>0, " + notes + " 2>0", branches: branch + " 3>0"},
		{name: "a mission has another name", before: mission + "=1 " + branch + "=2", now: mission + "=3 " + branch + "=4", names: names, records: mission + " 1>0, " + renamed + " 0>3", branches: branch + " 2>0, heads/agent/mission/b1b2c3d4 0>4"},
		{name: "the other name is taken by an old one", before: mission + "=1 " + renamed + "=5", now: mission + "=3 " + renamed + "=5", names: names, records: mission + " 1>0, " + renamed + " 5>3"},
		{name: "the other name has it already", before: mission + "=1 " + renamed + "=3", now: mission + "=3 " + renamed + "=3", names: names, records: mission + " 1>0"},
		{name: "another mission stays", before: mission + "=1 agent/missions/00000000=2", now: mission + "=1 agent/missions/00000000=2", names: map[record.ID]record.ID{"c1b2c3d4": "d1b2c3d4"}},
		{name: "the first map", before: mission + "=1", now: mission + "=1", ours: 7, records: purges + " 0>7"},
		{name: "a map of more", before: mission + "=1 " + purges + "=6", now: mission + "=1 " + purges + "=6", ours: 7, records: purges + " 6>7"},
		{name: "the same map", before: purges + "=7", now: purges + "=7", ours: 7},
		{name: "their map was read here as nothing", before: purges + "=6", now: purges + "=6"},
	} {
		records, branches := replacements(origin(), &Fetched{Before: refsOf(tt.before), Now: refsOf(tt.now), Map: made(tt.ours), Renamed: tt.names})
		for _, got := range []struct {
			list []git.Update
			want string
		}{{records, tt.records}, {branches, tt.branches}} {
			var words []string
			for _, u := range got.list {
				words = append(words, fmt.Sprintf("%s %d>%d", strings.TrimPrefix(u.Ref, "refs/"), u.Old.Byte(0), u.New.Byte(0)))
			}
			slices.Sort(words)
			want := strings.Split(got.want, ", ")
			if slices.Sort(want); strings.Join(words, ", ") != strings.Join(want, ", ") {
				t.Errorf("%s: %q, want %q", tt.name, words, want)
			}
		}
	}
}

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
		arrived := map[record.ID]tips{"a1b2c3d4": {}, "00000000": {}}
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
	named := a.rename(map[record.ID]tips{"e1b2c3d4": {ledger: made(1)}, "00000000": {ledger: made(2)}})
	if got := slices.Sorted(maps.Keys(named)); !slices.Equal(got, []record.ID{"00000000", "f1b2c3d4"}) || named["f1b2c3d4"].ledger != made(1) {
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
