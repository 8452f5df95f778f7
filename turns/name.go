package turns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/suggest"
	"gitagent/internal/workspace"
)

// Find returns the state that a person names. A number is always a turn. If
// there is no such state, the error is a [MissingError].
//
//	12            the end of turn 12 of the current mission
//	a1b2/12       that of another, by 4 digits or more of its id, in any case
//	a1b2, latest  the end of the last turn; so is no name at all
//	12^, 12.0     the state in which turn 12 started
//	12.3          step 3 of turn 12; 12.3^ is the state before it
//	12:lib        what turn 12 left in the worktree lib; 12:lib^ is what it found
//	1f2e3d4c      a commit that a mission keeps: a turn's, or a saved state's
func Find(ctx context.Context, w *workspace.Workspace, current record.ID, name string) (*State, error) {
	n, err := parseName(name)
	if err != nil {
		return byCommit(ctx, w, current, name)
	}
	mission := current
	switch id, err := ledger.Expand(ctx, w.Repo, n.mission); {
	case n.mission == "":
	case errors.Is(err, git.ErrNotFound) && (!n.slashed || !n.number):
		return byCommit(ctx, w, current, name) // a commit or a branch may have such a name
	case errors.Is(err, git.ErrNotFound):
		return nil, missingMission(ctx, w.Repo, n.mission)
	case err != nil:
		return nil, err
	default:
		mission = id
	}
	if mission == "" {
		return nil, Missing(ctx, w.Repo, fmt.Sprintf("turn %q", name), "")
	}
	there, err := Exists(ctx, w.Repo, mission)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, missingMission(ctx, w.Repo, string(mission))
	}
	t, err := Read(ctx, w.Repo, mission, n.turn)
	if err != nil {
		return nil, err
	}
	switch {
	case n.worktree != "":
		return t.Worktree(n.worktree, n.start)
	case n.steps && n.step > 0:
		return t.stepIn(ctx, w, t.mission(), n.step)
	case n.start, n.steps:
		return t.Before(), nil
	}
	return t.After(), nil
}

// Range returns the states of a name like `3..7`: what came after the first, up
// to the second. The second defaults to the end of the last turn, in the
// first's mission; the first to the mission's start. ok is false for other
// names.
func Range(ctx context.Context, w *workspace.Workspace, current record.ID, name string) (from, to *State, ok bool, err error) {
	first, second, ok := strings.Cut(name, "..")
	if !ok {
		return nil, nil, false, nil
	}
	if first == "" {
		if to, err = Find(ctx, w, current, second); err != nil {
			return nil, nil, true, err
		}
		t, err := firstTurn(ctx, w.Repo, to.In)
		if err != nil {
			return nil, nil, true, err
		}
		return t.Before(), to, true, nil
	}
	if from, err = Find(ctx, w, current, first); err == nil {
		to, err = Find(ctx, w, from.In, second)
	}
	return from, to, true, err
}

func firstTurn(ctx context.Context, repo *git.Repo, id record.ID) (*Turn, error) {
	var first *Turn
	err := Each(ctx, repo, id, func(t *Turn) error {
		first = t
		return nil
	})
	if first == nil && err == nil {
		err = &MissingError{Mission: string(id)}
	}
	if first != nil {
		err = nil // the first is one that can be read
	}
	return first, err
}

// A name is what a person types for the end or start of a turn.
type name struct {
	mission string // as typed, digits of an id; empty for the current one
	slashed bool   // the mission was followed by a slash
	turn    int    // 0 for the last one
	number  bool   // the turn was named by number, or as the last one
	start   bool
	steps   bool // a step was named
	step    int  // 0 for the turn's start

	worktree string // of the turn; "" for the session's own
}

// errNoName reports a text that can only be a commit's name.
var errNoName = errors.New("not the name of a turn")

func parseName(text string) (n name, err error) {
	text, n.start = strings.CutSuffix(text, "^")
	if head, tail, is := strings.Cut(text, ":"); is {
		if !IsWorktreeName(tail) {
			return n, errNoName
		}
		start := n.start
		if n, err = parseName(head); err != nil || !n.number || n.start || n.steps {
			return n, errNoName // a file in a commit, for git
		}
		n.start, n.worktree = start, tail
		return n, nil
	}
	rest := text
	if head, tail, slashed := strings.Cut(text, "/"); slashed {
		if !record.IsPrefix(head) {
			return n, errNoName
		}
		n.mission, n.slashed, rest = head, true, tail
	}
	if turn, step, is := strings.Cut(rest, "."); is {
		of, ok := record.ParseNumber(turn)
		at, also := record.ParseNumber(step)
		if zero := step == "0"; !ok || !also && !zero || zero && n.start {
			return n, errNoName
		}
		n.turn, n.number, n.steps, n.step = of, true, true, at
		if n.start { // the one before
			n.start, n.step = false, at-1
		}
		return n, nil
	}
	switch number, ok := record.ParseNumber(rest); {
	case ok:
		n.turn, n.number = number, true
	case rest == "latest", rest == "" && !n.slashed && !n.start:
		n.number = true
	case record.IsPrefix(rest) && !n.slashed:
		n.mission = rest
	default:
		return n, errNoName
	}
	return n, nil
}

// MissionOf returns the mission in a state's or range's name, as typed, if any.
func MissionOf(text string) (string, bool) {
	n, err := parseName(leading(text))
	return n.mission, err == nil && n.slashed
}

// MissionNamed returns the mission that a text is the id of, or a beginning of
// it; empty if it names something else.
func MissionNamed(ctx context.Context, w *workspace.Workspace, text string) (record.ID, error) {
	n, err := parseName(text)
	if err != nil || n.mission == "" || n.slashed || n.start {
		return "", nil
	}
	id, err := ledger.Expand(ctx, w.Repo, n.mission)
	if errors.Is(err, git.ErrNotFound) { // it may be a commit
		return "", nil
	}
	return id, err
}

// OfCommit reports whether a text is no name of a turn or a mission here.
func OfCommit(ctx context.Context, w *workspace.Workspace, text string) bool {
	n, err := parseName(text)
	if err != nil || n.mission == "" || n.slashed {
		return err != nil
	}
	_, err = ledger.Expand(ctx, w.Repo, n.mission)
	return errors.Is(err, git.ErrNotFound)
}

// OfCurrent reports whether a name or range begins in the current mission.
func OfCurrent(text string) bool {
	n, err := parseName(leading(text))
	return err == nil && n.mission == ""
}

// leading returns the part of a range that has its mission: the first state, or
// the second if there is no first. Other names are returned as they are.
func leading(text string) string {
	first, second, isRange := strings.Cut(text, "..")
	if isRange && first == "" {
		return second
	}
	return first
}

// Exists reports whether a mission has a ledger here, live or archived.
func Exists(ctx context.Context, repo *git.Repo, id record.ID) (bool, error) {
	_, err := ledger.Tip(ctx, repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// A MissingError reports a turn or a mission that is not there, and names some
// that are. It wraps [git.ErrNotFound].
type MissingError struct {
	What    string   // is not there; empty for any turn of the mission
	Mission string   // as named, if it is not there or has no turn yet
	Nearest []string // names for [Find]; empty if nothing is similar
	At      string   // a remote whose archive is known to have the mission
}

func (e *MissingError) Error() string {
	if e.What == "" {
		return "mission " + e.Mission + " has no turn yet"
	}
	return e.What + ": not found"
}

func (e *MissingError) Unwrap() error { return git.ErrNotFound }

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
		return &MissingError{Mission: string(l.ID)}
	}
	e := &MissingError{What: "turn " + record.TurnID{Mission: l.ID, Turn: number}.String()}
	for _, n := range []int{before, after} {
		if n > 0 {
			e.Nearest = append(e.Nearest, record.TurnID{Mission: l.ID, Turn: n}.String())
		}
	}
	return e
}

func missingMission(ctx context.Context, repo *git.Repo, named string) error {
	e := Missing(ctx, repo, "mission "+named, named)
	e.Mission = named
	return e
}

const maxSuggested = 3

// Missing names the mission nearest to the word, or else the newest ones.
func Missing(ctx context.Context, repo *git.Repo, what, word string) *MissingError {
	e := &MissingError{What: what}
	if e.At = archivedAt(ctx, repo, word); e.At != "" {
		e.Mission = word
		return e
	}
	lines, _ := Missions(ctx, repo) // unreadable ones are not named
	for _, l := range lines {
		e.Nearest = append(e.Nearest, string(l.ID))
	}
	if near := suggest.Nearest(strings.ToLower(word), e.Nearest); near != "" {
		e.Nearest = []string{near}
	}
	e.Nearest = slices.Clone(e.Nearest[:min(maxSuggested, len(e.Nearest))])
	return e
}

// archivedAt returns a remote whose archive has a mission, or "".
func archivedAt(ctx context.Context, repo *git.Repo, named string) string {
	id, err := record.ParseID(strings.ToLower(named))
	if err != nil {
		return ""
	}
	refs, _ := repo.Refs(ctx, ledger.SeenArchives) // there may be no archive
	objects := repo.Objects(ctx)
	defer objects.Close()
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		name, ok := strings.CutSuffix(strings.TrimPrefix(ref, ledger.SeenArchives), "/index")
		if !ok {
			continue
		}
		if e, err := ledger.Archived(objects, refs[ref], id); err == nil && !e.Gone() {
			if name, err = url.PathUnescape(name); err == nil {
				return name
			}
		}
	}
	return ""
}
