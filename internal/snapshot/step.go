package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
)

// A Step is a command's change of a worktree, with what undoes it. Only the
// last one of a worktree is kept, and it may be deleted at any time.
type Step struct {
	V       int         `json:"v"`              // [stepVersion]
	What    string      `json:"what"`           // such as "restore of turn a1b2c3d4/12"
	Undo    bool        `json:"undo,omitempty"` // the step undid that
	At      time.Time   `json:"at"`
	Mission record.ID   `json:"mission"`           // the ledger that keeps Before
	Before  object.Hash `json:"before"`            // the commit that holds the worktree as it was
	From    object.Hash `json:"from"`              // its tree
	To      object.Hash `json:"to"`                // the tree that the step has made of it
	Foreign bool        `json:"foreign,omitempty"` // untrusted files may have come with it
	Half    bool        `json:"half,omitempty"`    // it was killed in the middle: there may be parts of files
}

const stepVersion = 1

func (s *Step) String() string {
	if s.Undo {
		return "undo of the " + s.What
	}
	return s.What
}

// The files of steps. begunStep is renamed to lastStep when the step is done;
// only the worktree is written between.
const (
	lastStep  = "step"
	begunStep = "step.begun"
)

// NewestStep returns the step begun last, even if it changed nothing, or nil.
func NewestStep(repo *git.Repo) *Step {
	dir := statedir.Of(repo.GitDir)
	if s := readStep(dir, begunStep); s != nil {
		return s
	}
	return readStep(dir, lastStep)
}

// LastSteps returns the last step that may have changed the worktree. If its
// process was killed, the one before follows, in case nothing is to be undone.
func (s *Snapshot) LastSteps(ctx context.Context) []*Step {
	var steps []*Step
	if begun := readStep(s.index.dir, begunStep); begun != nil && s.cameOf(ctx, begun) != untouched {
		steps = append(steps, begun)
	}
	if last := readStep(s.index.dir, lastStep); last != nil {
		steps = append(steps, last)
	}
	return steps
}

// An outcome is how much a step did.
type outcome int

const (
	untouched outcome = iota
	inPart
	complete
)

// cameOf returns the outcome of step from the paths that it had to change,
// not from other changes since, and sets its Half.
func (s *Snapshot) cameOf(ctx context.Context, step *Step) outcome {
	step.Half = false
	switch s.Tree {
	case step.From:
		return untouched
	case step.To:
		return complete
	}
	became, err := gitdiff.Changed(ctx, s.index.repo, step.From, step.To, gitdiff.Paths{})
	var since map[string]object.Entry
	if err == nil {
		since, err = gitdiff.Changed(ctx, s.index.repo, step.From, s.Tree, gitdiff.Paths{})
	}
	came := inPart
	if err == nil { // else the trees may have gone with the mission
		came = outcomeOf(became, since)
	}
	step.Half = came == inPart
	return came
}

// outcomeOf compares what the step makes of paths with what became of them.
func outcomeOf(became, since map[string]object.Entry) outcome {
	same, done := 0, 0
	for path, e := range became {
		switch is, changed := since[path]; {
		case !changed:
			same++
		case is == e:
			done++
		}
	}
	switch len(became) {
	case same:
		return untouched
	case done:
		return complete
	}
	return inPart
}

// orphaned is how long a git may still begin after its parent was killed.
const orphaned = 10 * time.Second

// settle finds the outcome of a step that was killed. A complete one becomes
// the last step, one that changed nothing goes, and others stay.
func (s *Snapshot) settle(ctx context.Context, objects *git.Objects) {
	dir := s.index.dir
	begun := readStep(dir, begunStep)
	if begun == nil || objects.Flush() != nil {
		return
	}
	switch s.cameOf(ctx, begun) {
	case complete:
		_ = dir.Rename(begunStep, lastStep)
	case untouched:
		if time.Since(begun.At) > orphaned {
			_ = dir.Remove(begunStep)
		}
	}
}

// ErrHalf reports a step not noted as done that may have changed the worktree.
var ErrHalf = errors.New("the worktree may have changed")

// Step makes the worktree match a tree as [Snapshot.CheckOut] does, and notes
// how to undo it: refs must keep step.Before already. If the process is killed,
// [Snapshot.LastSteps] tells what changed. If the checkout or the note after it
// fails, the error wraps [ErrHalf]; a dry checkout finds most of it before.
func (s *Snapshot) Step(ctx context.Context, step Step) error {
	dir := s.index.dir
	if _, err := dir.ReadFile(lastStep); errors.Is(err, statedir.ErrRefused) { // it can't be replaced
		return fmt.Errorf("note how to undo it: %w", err)
	}
	var err error
	if begun := readStep(dir, begunStep); begun != nil && s.cameOf(ctx, begun) != untouched {
		err = writeStep(dir, lastStep, begun) // begunStep still tells of it
	}
	if err == nil {
		err = writeStep(dir, begunStep, &step)
	}
	if err != nil {
		return err
	}
	if err := s.CheckOut(ctx, step.To, Checkout{Foreign: step.Foreign}); err != nil {
		return fmt.Errorf("%w: %w", ErrHalf, err)
	}
	if err := dir.Rename(begunStep, lastStep); err != nil {
		return fmt.Errorf("%w: note how to undo it: %w", ErrHalf, err)
	}
	return nil
}

func writeStep(dir *statedir.Dir, name string, s *Step) error {
	s.V = stepVersion
	data, err := json.Marshal(s)
	if err == nil {
		err = dir.WriteFile(name, data)
	}
	if err != nil {
		return fmt.Errorf("note how to undo it: %w", err)
	}
	return nil
}

// readStep returns nil for what it can't read, another version, and what we
// don't write: git directories come in archives, and What goes into messages.
func readStep(dir *statedir.Dir, name string) *Step {
	data, err := dir.ReadFile(name)
	s := new(Step)
	if err != nil || json.Unmarshal(data, s) != nil || s.V != stepVersion || strings.ContainsFunc(s.What, unicode.IsControl) {
		return nil
	}
	return s
}
