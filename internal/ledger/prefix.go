package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// ByPrefix returns at most most missions of an id prefix. Of very many it does
// not read all names.
func ByPrefix(ctx context.Context, repo *git.Repo, digits string, most int) (map[record.ID]object.Hash, error) {
	if strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, nil
	}
	patterns := []string{digits}
	if digits == "" { // ids are random: a sixteenth shows how many there are
		patterns = []string{"0", ""}
	}
	missions := make(map[record.ID]object.Hash)
	for _, digits := range patterns {
		refs, err := repo.Refs(ctx, record.MissionRefs+digits+"*")
		if err != nil {
			return nil, fmt.Errorf("list missions: %w", err)
		}
		found := OfRefs(refs)
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
