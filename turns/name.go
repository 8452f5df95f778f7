package turns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// Find returns the turn that a person names: `12` of the current mission, `a1b2c3d4/12`, `a1b2c3d4` or
// `latest` for the last one, or a rev of a code commit. An empty name is `latest`.
// If there is none, the error is a [MissingError].
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

// MissionOf returns the mission that the name of a turn says, if it does.
func MissionOf(name string) (ledger.ID, bool) {
	head, _, slashed := strings.Cut(name, "/")
	id, err := ledger.ParseID(head)
	return id, slashed && err == nil
}

func exists(ctx context.Context, repo *git.Repo, id ledger.ID) bool {
	refs, err := repo.Refs(ctx, id.Ref())
	return err == nil && len(refs) == 1
}

// Read returns the record of a turn, of the last one if number is 0.
// If there is none, the error wraps [git.ErrNotFound].
func Read(ctx context.Context, repo *git.Repo, id ledger.ID, number int) (*Turn, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, id)
	if err != nil {
		return nil, err
	}
	last, err := l.LastTurn()
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = last
	}
	data, err := l.Read(ledger.TurnPath("turns", number, ".json"))
	if errors.Is(err, git.ErrNotFound) {
		return nil, missingTurn(l, number, last)
	}
	if err != nil {
		return nil, err
	}
	t, err := Parse(data)
	if err == nil {
		t.in = id
	}
	return t, err
}

// byCommit finds the turn that ended in the commit that rev names: the newest one of the current mission, else of any.
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
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Code.Hash() == commit {
				return list[i], nil
			}
		}
	}
	return nil, &MissingError{What: fmt.Sprintf("a turn that ended in commit %q", rev)}
}
