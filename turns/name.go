package turns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/spell"
)

// Find returns the turn that a person names: `12` of the current mission, `a1b2c3d4/12`, `a1b2c3d4`
// or `latest` for the last one, or a rev of a code commit. An empty name is `latest`. If there is
// no such turn, the error is a [MissingError].
func Find(ctx context.Context, repo *git.Repo, current ledger.ID, name string) (*Turn, error) {
	mission, number := current, 0
	head, rest, slashed := strings.Cut(name, "/")
	id, notID := ledger.ParseID(head)
	n, isNumber := ledger.ParseNumber(name)
	switch {
	case name == "" || name == "latest":
	case isNumber:
		number = n
	case slashed && notID == nil:
		mission = id
		if rest != "latest" {
			if number, isNumber = ledger.ParseNumber(rest); !isNumber {
				return byCommit(ctx, repo, current, name) // a branch may have such a name
			}
		}
	case notID == nil && exists(ctx, repo, id):
		mission = id
	default:
		return byCommit(ctx, repo, current, name)
	}
	if mission == "" {
		return nil, missing(ctx, repo, fmt.Sprintf("turn %q", name), "")
	}
	if !exists(ctx, repo, mission) {
		return nil, missing(ctx, repo, "mission "+string(mission), string(mission))
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

// byCommit finds the turn that ended in commit rev, the newest of the current mission or else of any.
func byCommit(ctx context.Context, repo *git.Repo, current ledger.ID, rev string) (*Turn, error) {
	commit, err := repo.Resolve(ctx, rev)
	if err != nil {
		return nil, missing(ctx, repo, fmt.Sprintf("turn %q", rev), rev)
	}
	missions, err := ledger.List(ctx, repo)
	if err != nil {
		return nil, err
	}
	var unread ledger.Unread
	ids := slices.Sorted(maps.Keys(missions))
	if _, ok := missions[current]; ok {
		ids = append([]ledger.ID{current}, ids...)
	}
	for _, id := range ids {
		var found *Turn
		err := Each(ctx, repo, id, func(t *Turn) error {
			if t.Code.Hash() == commit {
				found = t
				return errFound
			}
			return nil
		})
		if found != nil {
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		unread.Add(err)
	}
	if err := unread.Err(); err != nil {
		return nil, err
	}
	return nil, &MissingError{What: fmt.Sprintf("a turn that ended in commit %q", rev)}
}

// errFound ends a search.
var errFound = errors.New("found")

// A MissingError wraps [git.ErrNotFound]: a turn or a mission is not there. It says which ones are.
type MissingError struct {
	What    string
	Nearest []string // names for [Find]; empty if nothing is similar
}

func (e *MissingError) Error() string { return e.What + ": not found" }
func (e *MissingError) Unwrap() error { return git.ErrNotFound }

// missingTurn names the turns before and after the one that a ledger lacks.
func missingTurn(l *ledger.Ledger, number int) error {
	before, after := 0, 0
	for r, err := range l.Turns() {
		if err != nil {
			continue
		}
		if before = r.Number; before < number {
			break
		}
		before, after = 0, r.Number
	}
	if before == 0 && after == 0 {
		return &MissingError{What: fmt.Sprintf("turns of mission %s", l.ID)}
	}
	e := &MissingError{What: "turn " + ledger.TurnID{Mission: l.ID, Turn: number}.String()}
	for _, n := range []int{before, after} {
		if n > 0 {
			e.Nearest = append(e.Nearest, ledger.TurnID{Mission: l.ID, Turn: n}.String())
		}
	}
	return e
}

// maxSuggested is how many missions are named if none resembles what was typed.
const maxSuggested = 3

// missing names the mission that resembles the word that was typed, or else the newest ones.
func missing(ctx context.Context, repo *git.Repo, what, word string) *MissingError {
	e := &MissingError{What: what}
	lines, _ := Missions(ctx, repo) // unreadable ones are not named
	for _, l := range lines {
		e.Nearest = append(e.Nearest, string(l.ID))
	}
	if near := spell.Nearest(strings.ToLower(word), e.Nearest); near != "" {
		e.Nearest = []string{near}
	}
	e.Nearest = slices.Clone(e.Nearest[:min(maxSuggested, len(e.Nearest))])
	return e
}
