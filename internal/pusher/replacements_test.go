package pusher

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// numbered is a hash that only n says of, none for 0.
func numbered(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

// parseRefs reads refs with their values, a digit each: "agent/missions/a1b2c3d4=1".
func parseRefs(text string) map[string]object.Hash {
	refs := make(map[string]object.Hash)
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		refs["refs/"+name] = numbered(value[0] - '0')
	}
	return refs
}

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
		records, branches := replacements(remote.Named(&workspace.Workspace{Settings: config.Default()}, "origin"), &fetcher.Fetched{Before: parseRefs(tt.before), Now: parseRefs(tt.now), Map: numbered(tt.ours), Renamed: tt.names})
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
