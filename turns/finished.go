package turns

import (
	"context"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Finished returns where the work is; nil if never, or no longer, finished.
func (l MissionLine) Finished() *record.Finish {
	at := l.Created
	if l.Last != nil {
		at = l.Last.At
	}
	if !l.Mission.Finished.Holds(l.Turns, at) {
		return nil
	}
	return l.Mission.Finished
}

// Lost returns which commits no branch, remote branch or tag has: they were
// amended, rebased or reset away. One git looks back as far as the oldest one.
func Lost(ctx context.Context, repo *git.Repo, commits ...object.Hash) (map[object.Hash]bool, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	lost := make(map[object.Hash]bool)
	asked := make(map[object.Hash]bool)
	var in strings.Builder
	for _, c := range commits {
		switch err := objects.Has(c); {
		case ledger.Missing(err):
			lost[c] = true
		case err != nil:
			return nil, err
		default:
			asked[c] = true
			in.WriteString(c.String() + "\n")
		}
	}
	if len(asked) == 0 {
		return lost, nil
	}
	out, err := repo.Output(ctx, strings.NewReader(in.String()), "rev-list", "--stdin", "--not", "--branches", "--remotes", "--tags")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if c := object.NewHash(strings.TrimSpace(line)); asked[c] {
			lost[c] = true
		}
	}
	return lost, nil
}
