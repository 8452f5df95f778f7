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
	"gitagent/internal/spell"
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

// A MissingError wraps [git.ErrNotFound]: a turn or a mission is not there. It says which ones are.
type MissingError struct {
	What    string
	Nearest []string // names for [Find]; empty if nothing is similar
}

func (e *MissingError) Error() string { return e.What + ": not found" }
func (e *MissingError) Unwrap() error { return git.ErrNotFound }

// missingTurn names the turns before and after the one that a ledger lacks.
func missingTurn(l *ledger.Ledger, number, last int) error {
	if last == 0 {
		return &MissingError{What: fmt.Sprintf("turns of mission %s", l.ID)}
	}
	e := &MissingError{What: "turn " + ledger.TurnID{Mission: l.ID, Turn: number}.String()}
	for _, step := range []int{-1, 1} {
		for n := max(0, min(number, last+1)) + step; n > 0 && n <= last; n += step {
			if _, err := l.Read(ledger.TurnPath("turns", n, ".json")); err == nil {
				e.Nearest = append(e.Nearest, ledger.TurnID{Mission: l.ID, Turn: n}.String())
				break
			}
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
