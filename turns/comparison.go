package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// A Compared is what a fork, or a mission that is none, has done up to a state.
type Compared struct {
	Mission *record.Mission
	Point   ForkPoint // turn 0 of the mission itself if it is no fork
	By      string    // who recorded the newest event
	Foreign bool      // one of its turns, or the one it was forked at, has an unknown author
	Newest  bool      // nothing was recorded after the state

	Commit  object.Hash // the state's
	Turns   int         // its own, without inherited ones
	Said    []Said      // in its last maxSaid turns, in order
	Last    *Said       // in the last turn; nil if there is none
	Agent   string      // of the last turn, with its model
	Ended   time.Time
	Took    time.Duration // the sum of its turns, from prompt to end
	Output  int64         // tokens that the model wrote
	Context int64         // tokens of the last known request

	Finished *record.Finish     // nil unless it is finished
	Changes  []gitdiff.FileStat // from the fork point to the state
	Unknown  error              // why Changes are not known
	Unread   error              // which records can't be read
}

// A Said is what a [Compared] keeps of a turn's record.
type Said struct {
	Turn    int
	Prompt  string // its beginning
	Outcome record.Outcome
}

// Limits of a [Compared]: turns, and runes of untrusted outcomes and agents.
const (
	maxSaid    = 20
	maxOutcome = 32
	maxAgent   = 100
)

// Compare reads what a mission has done up to a state in its ledger, or with
// nil until now. The error of an inherited state wraps [ErrNoFork]. Missing
// objects and unreadable turns are noted in Unknown and Unread.
func Compare(ctx context.Context, w *workspace.Workspace, id record.ID, upTo *State) (*Compared, error) {
	tip, err := tipOf(ctx, w.Repo, id)
	if err != nil {
		return nil, err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.At(objects, id, tip)
	if err != nil {
		return nil, ledger.Unreadable(id, err)
	}
	c := &Compared{Mission: l.Mission}
	if c.Point, err = PointOf(l.Mission); err != nil {
		c.Point = ForkPoint{Of: record.TurnID{Mission: id}}
	}
	if upTo != nil && !upTo.Saved && upTo.Turn.Mission != l.Mission.Began {
		return nil, fmt.Errorf("%s was inherited by mission %s: %w", upTo.Describe(), id, ErrNoFork)
	}
	writers, err := w.Writers(ctx, objects, id, tip)
	if err != nil {
		return nil, err
	}
	c.By = writers.Commit(tip)
	c.Foreign = c.By == trust.Unknown
	if err := c.read(ctx, objects, l, upTo, func(n int) { c.Foreign = c.Foreign || writers.Turn(n) == trust.Unknown }); err != nil {
		return nil, err
	}
	if c.Unknown == nil && c.Commit != c.Point.Commit {
		c.Changes, c.Unknown = gitdiff.Shown(ctx, w.Repo, c.Point.Commit, c.Commit)
	}
	return c, ctx.Err()
}

// Forked reports whether the mission is a fork.
func (c *Compared) Forked() bool { return c.Point.Of.Turn > 0 }

// read reads the own turns up to the state, and calls look with their numbers
// and the last inherited one. There may be too many more to read.
func (c *Compared) read(ctx context.Context, objects *git.Objects, l *ledger.Ledger, upTo *State, look func(number int)) error {
	c.Commit = c.Point.Commit
	last, err := l.LastTurn()
	if err != nil {
		last = 0 // the error is noted below
	}
	until := record.MaxNumber
	switch {
	case upTo == nil:
		c.Newest = true
	case upTo.Turn == nil:
		until = 0
	case upTo.Start, upTo.Within():
		until = upTo.Turn.Turn - 1
	default:
		until = upTo.Turn.Turn
		c.Newest = until == last && !upTo.Saved
	}
	inherited := 0
	p := prepare(objects, l)
	since := func(yield func(listed, error) bool) {
		for r, err := range p.below(until + 1) {
			if err == nil && r.Number < c.Point.Of.Turn {
				inherited = r.Number
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
	err = eachRecord(p, since, func(t *Turn) error {
		look(t.Turn)
		if t.Mission == l.Mission.Began { // not if it is inherited: the turn that it was forked at may be
			c.add(t)
		}
		return ctx.Err()
	})
	if c.Unread = err; err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		return err
	}
	if inherited > 0 {
		look(inherited)
	}
	slices.Reverse(c.Said)
	if upTo != nil {
		c.Commit, c.Unknown = upTo.Commit, upTo.Known()
	}
	at := c.Ended
	if at.IsZero() {
		at = c.Mission.Created
	}
	if f := c.Mission.Finished; c.Newest && f.Holds(last, at) {
		c.Finished = f
	}
	return nil
}

func (c *Compared) add(t *Turn) {
	s := Said{t.Turn, strings.Clone(ledger.Head(t.Prompt, record.MaxPrompt)), record.Outcome(strings.Clone(ledger.Head(string(t.Outcome), maxOutcome)))}
	if c.Turns++; c.Turns == 1 {
		c.Last, c.Ended, c.Agent = &s, t.At, strings.Clone(ledger.Head(strings.TrimSpace(t.Agent+" "+t.Model), maxAgent))
		c.Commit, c.Unknown = t.Code, t.CodeKnown()
	}
	if !c.Forked() {
		c.Point.Commit = t.Before().Commit
	}
	if c.Context == 0 { // a turn that failed at once has none
		c.Context = max(0, t.Context)
	}
	if c.Said = append(c.Said, s); len(c.Said) > maxSaid {
		c.Said = c.Said[1:]
	}
	c.Output = sum(c.Output, t.Output)
	if !t.Started.IsZero() {
		c.Took = sum(c.Took, t.At.Sub(t.Started))
	}
}

// sum adds untrusted numbers, taking b < 0 for 0 and an overflow for the most.
func sum[T ~int64](a, b T) T {
	b = max(0, b)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// A Difference is what differs between the states of two forks.
type Difference struct {
	Changes []gitdiff.FileStat
	Both    int // number of paths that both have changed
	Unknown error
}

// Against compares the states of two forks.
func (c *Compared) Against(ctx context.Context, repo *git.Repo, other *Compared) Difference {
	var d Difference
	if d.Unknown = cmp.Or(c.Unknown, other.Unknown); d.Unknown != nil {
		return d
	}
	if c.Commit != other.Commit {
		d.Changes, d.Unknown = gitdiff.Shown(ctx, repo, c.Commit, other.Commit)
	}
	changed := make(map[string]bool)
	for _, f := range c.Changes {
		changed[f.Path] = true
	}
	for _, f := range other.Changes {
		if changed[f.Path] {
			d.Both++
		}
	}
	return d
}
