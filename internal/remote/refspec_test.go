package remote

import (
	"slices"
	"testing"

	"gitagent/internal/git"
)

// What a remote's refspecs would do to our refs, and what keeps them from it.
func TestGuards(t *testing.T) {
	t.Parallel()
	const all, notes, heads = "^refs/agent/*", "^refs/notes/agent/*", "^refs/heads/agent/mission/*"
	for _, tt := range []struct {
		name  string
		fetch []string
		prune string // of the remote
		all   string // fetch.prune
		want  []string
	}{
		{name: "none"},
		{name: "a clone's", fetch: []string{"+refs/heads/*:refs/remotes/origin/*"}, all: "true"},
		{name: "a mirror's", fetch: []string{"+refs/*:refs/*"}, want: []string{all, notes, heads}},
		{name: "a guarded mirror's", fetch: []string{"+refs/*:refs/*", all, notes, heads}},
		{name: "half guarded", fetch: []string{"+refs/*:refs/*", all}, want: []string{notes, heads}},
		{name: "ours by force", fetch: []string{"+refs/agent/*:refs/agent/*"}, want: []string{all}},
		{name: "ours", fetch: []string{"refs/agent/*:refs/agent/*"}},
		{name: "ours, pruned", fetch: []string{"refs/agent/*:refs/agent/*"}, prune: "true", want: []string{all}},
		{name: "ours, not pruned", fetch: []string{"refs/agent/*:refs/agent/*"}, prune: "false", all: "true"},
		{name: "missions alone", fetch: []string{"+refs/agent/missions/*:refs/agent/missions/*"}, want: []string{"^refs/agent/missions/*"}},
		{name: "one", fetch: []string{"+refs/x:refs/agent/missions/a1b2c3d4"}, want: []string{"^refs/x"}},
		{name: "all notes", fetch: []string{"+refs/notes/*:refs/notes/*"}, want: []string{notes}},
		{name: "branches of a bare repository", fetch: []string{"+refs/heads/*:refs/heads/*"}, want: []string{heads}},
		{name: "from elsewhere", fetch: []string{"+refs/backup/*:refs/*"}, want: []string{"^refs/backup/agent/*", "^refs/backup/notes/agent/*", "^refs/backup/heads/agent/mission/*"}},
		{name: "to elsewhere", fetch: []string{"+refs/*:refs/remotes/origin/all/*"}},
		{name: "without a destination", fetch: []string{"+refs/agent/*"}},
	} {
		config := git.Config{"remote.o.fetch": tt.fetch, "remote.other.fetch": {"+refs/*:refs/*"}}
		if tt.prune != "" {
			config["remote.o.prune"] = []string{tt.prune}
		}
		if tt.all != "" {
			config["fetch.prune"] = []string{tt.all}
		}
		if got := Guards(config, "o", "refs/heads/agent/mission/"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
