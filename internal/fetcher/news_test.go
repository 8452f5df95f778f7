package fetcher

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// origin is a remote of which nothing is known but its name.
func origin() *remote.Remote {
	return remote.Named(&workspace.Workspace{Settings: config.Default()}, "origin")
}

// refsOf reads refs with their values, a digit each: "agent/missions/a1b2c3d4=1". The branch of mission a1b2c3d4 is
// "heads/agent/mission/a1b2c3d4".
func refsOf(text string) map[string]object.Hash {
	refs := make(map[string]object.Hash)
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		refs["refs/"+name] = made(value[0] - '0')
	}
	return refs
}

// TestNews: which refs of a remote are fetched, by what is here.
func TestNews(t *testing.T) {
	t.Parallel()
	const mission, notes, branch = "agent/missions/a1b2c3d4", "notes/agent/a1b2c3d4", "heads/agent/mission/a1b2c3d4"
	for _, tt := range []struct{ name, there, here, want string }{
		{"nothing is there", "", "", ""},
		{"it is new", mission + "=1", "", mission},
		{"it is new, with notes and a branch", mission + "=1 " + notes + "=2 " + branch + "=3", "", mission + " " + notes + " " + branch},
		{"it is here", mission + "=1 " + notes + "=2 " + branch + "=3", mission + "=1 " + notes + "=2 " + branch + "=3", ""},
		{"it has gone on", mission + "=4 " + notes + "=2", mission + "=1 " + notes + "=2", mission + " " + notes},
		{"it has more notes", mission + "=1 " + notes + "=4", mission + "=1 " + notes + "=2", mission + " " + notes},
		{"notes are there alone", mission + "=1 " + notes + "=2", mission + "=1", mission + " " + notes},
		{"notes are here alone", mission + "=1", mission + "=1 " + notes + "=2", ""},
		{"its branch has gone on", mission + "=1 " + branch + "=4", mission + "=1 " + branch + "=3", mission + " " + branch},
		{"its branch is not wanted here", mission + "=1 " + branch + "=4", mission + "=1", ""},
		{"it has another name here", mission + "=1", "agent/missions/00000000=1", ""},
		{"a branch without a mission", branch + "=1", "", ""},
		{"two, one of them is here", mission + "=1 agent/missions/b1b2c3d4=5", mission + "=1", "agent/missions/b1b2c3d4"},
	} {
		r := origin()
		var got []string
		for _, s := range news(r, r.Missions(refsOf(tt.there)), refsOf(tt.here)) {
			got = append(got, strings.TrimPrefix(s.namespace+s.name, "refs/"))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for n, want := range map[int]int{maxExact: maxExact, maxExact + 1: 3} {
		theirs := make(map[record.ID]remote.Tips)
		for i := range n {
			theirs[record.ID(fmt.Sprintf("%08x", i))] = remote.Tips{Ledger: made(1)}
		}
		if got := news(origin(), theirs, nil); len(got) != want {
			t.Errorf("%d missions are fetched by %d refs", n, len(got))
		}
	}
}

// TestRests: a mission that is archived as a remote has it is not fetched again.
func TestRests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                  string
		ledger, notes, branch byte // there
		archived, withNotes   byte
		want                  bool
	}{
		{"the same", 1, 2, 0, 1, 2, true},
		{"the same, and a branch there", 1, 2, 3, 1, 2, true},
		{"without notes there", 1, 0, 0, 1, 2, true},
		{"without notes", 1, 0, 0, 1, 0, true},
		{"with other notes there", 1, 4, 0, 1, 2, false},
		{"with notes there alone", 1, 2, 0, 1, 0, false},
		{"gone on there", 4, 2, 0, 1, 2, false},
	} {
		theirs := remote.Tips{Ledger: made(tt.ledger), Notes: made(tt.notes), Branch: made(tt.branch)}
		e := ledger.ArchiveEntry{Ledger: made(tt.archived), Notes: made(tt.withNotes)}
		if got := rests(theirs, e); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestStays: whether a fetch moves the branch of a mission, and what it says if not.
func TestStays(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		where string
		more  bool
		known bool
		err   error
		want  string // a part of it
		asks  bool
	}{
		{name: "it moves", more: true, known: true, asks: true},
		{name: "checked out", where: "/w", more: true, want: "git -C /w merge 010101010101"},
		{name: "checked out, with commits of its own", where: "/w", want: "is checked out in /w"},
		{name: "with commits of its own", want: "has commits that the one at origin lacks"},
		{name: "with commits there that nobody recorded", more: true, asks: true, want: "has commits that were not recorded with a key that you trust"},
		{name: "nobody knows", more: true, asks: true, err: broken},
	} {
		asked := false
		got, err := branchStays(origin(), "a1b2c3d4", made(1), tt.where, tt.more, func() (bool, error) { asked = true; return tt.known, tt.err })
		if !errors.Is(err, tt.err) || (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || asked != tt.asks {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
		if got != "" && !strings.HasPrefix(got, "branch agent/mission/a1b2c3d4 ") {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
