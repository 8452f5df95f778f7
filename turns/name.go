package turns

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// Find returns the turn that a person names: `12` of the current mission, `a1b2c3d4/12`, `a1b2c3d4`
// or `latest` for the last one, or a rev of a code commit. An empty name is `latest`. If there is
// no such turn, the error is a [MissingError].
func Find(ctx context.Context, repo *git.Repo, current ledger.ID, name string) (*Turn, error) {
	mission, number := current, 0
	head, rest, slashed := strings.Cut(name, "/")
	id, notID := ledger.ParseID(head)
	n, notNumber := strconv.Atoi(name)
	switch {
	case name == "" || name == "latest":
	case notNumber == nil && n > 0 && (len(name) < 8 || notID != nil):
		number = n
	case slashed && notID == nil:
		mission = id
		if rest != "latest" {
			if number, notNumber = strconv.Atoi(rest); notNumber != nil || number < 1 {
				return byCommit(ctx, repo, current, name) // a branch may have such a name
			}
		}
	case notID == nil && exists(ctx, repo, id):
		mission = id
	default:
		return byCommit(ctx, repo, current, name)
	}
	if mission == "" {
		e := missingMission(ctx, repo, "")
		e.What = fmt.Sprintf("turn %q", name)
		return nil, e
	}
	if !exists(ctx, repo, mission) {
		return nil, missingMission(ctx, repo, string(mission))
	}
	return Read(ctx, repo, mission, number)
}

// MissionOf returns the mission in the name of a turn, if it has one.
func MissionOf(name string) (ledger.ID, bool) {
	head, _, slashed := strings.Cut(name, "/")
	id, err := ledger.ParseID(head)
	return id, slashed && err == nil
}

func exists(ctx context.Context, repo *git.Repo, id ledger.ID) bool {
	refs, err := repo.Refs(ctx, id.Ref())
	return err == nil && len(refs) == 1
}

// byCommit finds the turn that ended in the commit rev: the newest one of the current mission, else
// of any.
func byCommit(ctx context.Context, repo *git.Repo, current ledger.ID, rev string) (*Turn, error) {
	commit, err := repo.Resolve(ctx, rev)
	if err != nil {
		e := missingMission(ctx, repo, rev)
		e.What = fmt.Sprintf("turn %q", rev)
		return nil, e
	}
	missions, err := ledger.List(ctx, repo)
	if err != nil {
		return nil, err
	}
	ids := slices.Sorted(maps.Keys(missions))
	if _, ok := missions[current]; ok {
		ids = append([]ledger.ID{current}, ids...)
	}
	for _, id := range ids {
		list, err := List(ctx, repo, id)
		if err != nil {
			return nil, err
		}
		for _, t := range slices.Backward(list) {
			if t.Code.Hash() == commit {
				return t, nil
			}
		}
	}
	return nil, &MissingError{What: fmt.Sprintf("a turn that ended in commit %q", rev)}
}
