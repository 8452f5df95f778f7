package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// Expand returns the mission of an id prefix, in any case. An archived one must
// be named in full or match alone. If there is none, the error wraps
// [git.ErrNotFound].
func Expand(ctx context.Context, repo *git.Repo, prefix string) (record.ID, error) {
	if !record.IsPrefix(prefix) {
		return "", fmt.Errorf("mission %q: name it by %d hex digits or more", prefix, record.LeastDigits)
	}
	prefix = strings.ToLower(prefix)
	if id, err := record.ParseID(prefix); err == nil {
		if _, err := Tip(ctx, repo, id); !errors.Is(err, git.ErrNotFound) {
			return id, err
		}
	}
	refs, err := repo.Refs(ctx, record.MissionRefs+prefix+"*")
	if err != nil {
		return "", fmt.Errorf("find mission %s: %w", prefix, err)
	}
	found := slices.Collect(maps.Keys(OfRefs(refs)))
	if len(found) == 0 {
		like, err := ArchivedByPrefix(ctx, repo, prefix)
		if err != nil {
			return "", fmt.Errorf("find mission %s: %w", prefix, err)
		}
		for _, e := range like {
			found = append(found, e.ID)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", fmt.Errorf("mission %s: %w", prefix, git.ErrNotFound)
	case 1:
		return found[0], nil
	}
	names, more := make([]string, len(found)), ""
	for i, id := range found {
		names[i] = string(id)
	}
	if n := len(found) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return "", fmt.Errorf("mission %s: several begin like this: %s%s", prefix, strings.Join(names, ", "), more)
}

const maxNamed = 5
