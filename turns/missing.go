package turns

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/spell"
)

// A MissingError says that a turn or a mission is not there, and which ones are. It wraps
// [git.ErrNotFound].
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

// missingMission names the mission that resembles what was typed, or else the newest ones.
func missingMission(ctx context.Context, repo *git.Repo, word string) *MissingError {
	e := &MissingError{What: "mission " + word}
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
