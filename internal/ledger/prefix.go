package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// ByPrefix returns missions whose ids begin with these lower-case digits, at most so many, and the tips of
// their ledgers. In a repository with very many missions it does not read all of their names.
func ByPrefix(ctx context.Context, repo *git.Repo, digits string, most int) (map[record.ID]git.Hash, error) {
	if strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, nil
	}
	patterns := []string{digits}
	if digits == "" { // Ids are random: a sixteenth tells how many there are.
		patterns = []string{"0", ""}
	}
	missions := make(map[record.ID]git.Hash)
	for _, digits := range patterns {
		refs, err := repo.Refs(ctx, record.MissionRefs+digits+"*")
		if err != nil {
			return nil, fmt.Errorf("list missions: %w", err)
		}
		found := ofRefs(refs)
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if len(missions) < most {
				missions[id] = found[id]
			}
		}
		if len(missions) == most {
			break
		}
	}
	return missions, nil
}
