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
	"gitagent/internal/local"
)

// A Step is a change that a command has made to a worktree, with what it takes to take it back. The
// last one of each worktree is noted in its git directory, where it may be deleted at any time.
type Step struct {
	V       int       `json:"v"`              // [stepVersion]
	What    string    `json:"what"`           // "restore of turn a1b2c3d4/12"
	Undo    bool      `json:"undo,omitempty"` // the step took that back
	At      time.Time `json:"at"`
	Mission string    `json:"mission"`           // the ledger that keeps Before
	Before  git.Hash  `json:"before"`            // the commit that holds the worktree as it was
	From    git.Hash  `json:"from"`              // its tree
	To      git.Hash  `json:"to"`                // the tree that the step has made of it
	Foreign bool      `json:"foreign,omitempty"` // a stranger's files may have come with it
	Half    bool      `json:"half,omitempty"`    // it was killed in the middle: there may be parts of files
}

const stepVersion = 1

func (s *Step) String() string {
	if s.Undo {
		return "undo of the " + s.What
	}
	return s.What
}

// The files of steps. A step that was begun becomes the last one when it is done. Nothing is written
// between its two ends but the worktree.
const (
	lastStep  = "step"
	begunStep = "step.begun"
)

// NewestStep returns the step that was begun last in a worktree, which may not have changed anything;
// nil if none is known.
func NewestStep(repo *git.Repo) *Step {
	dir := local.In(repo.GitDir, "agent")
	if s := readStep(dir, begunStep); s != nil {
		return s
	}
	return readStep(dir, lastStep)
}

// LastSteps returns the last step that may have changed the snapshot's worktree. If its process was
// killed, the one before it follows: it is the last one if there is nothing of the first to take back.
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

// An outcome is what came of a step that was begun.
type outcome int

const (
	untouched outcome = iota // nothing
	inPart
	complete
)

// cameOf looks at the paths that a step that was begun had to change, and notes whether it did so in
// part. What else has changed since says nothing about it.
func (s *Snapshot) cameOf(ctx context.Context, step *Step) outcome {
	step.Half = false
	switch s.Tree {
	case step.From:
		return untouched
	case step.To:
		return complete
	}
	became, err := s.index.repo.Changed(ctx, step.From, step.To, git.Paths{})
	var since map[string]git.Entry
	if err == nil {
		since, err = s.index.repo.Changed(ctx, step.From, s.Tree, git.Paths{})
	}
	came := inPart
	if err == nil { // else the trees went with their mission, perhaps
		came = outcomeOf(became, since)
	}
	step.Half = came == inPart
	return came
}

// outcomeOf tells that of the paths that the step had to change, with what it was to make of them, and of those that
// have changed since it was begun.
func outcomeOf(became, since map[string]git.Entry) outcome {
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

// orphaned is how long after its step was begun a git whose parent was killed may still begin.
const orphaned = 10 * time.Second

// settle finds out, before anybody goes on to change the worktree, what came of a step whose process
// was killed. One that is complete becomes the last one, and one that has changed nothing never was.
// What can't be settled is left as it is.
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

// ErrHalf reports a step that may have changed the worktree, or a part of it, and is not noted as done.
var ErrHalf = errors.New("the worktree may have changed")

// Step makes the worktree match a tree as [Snapshot.CheckOut] does, as a step that can be taken back:
// the refs must keep its Before already. Whenever this process is killed, [Snapshot.LastSteps] then
// tells of what has really changed the worktree. If the checkout fails, which a dry one should have
// found out, or the step can't be noted as done after it, the error wraps [ErrHalf].
func (s *Snapshot) Step(ctx context.Context, step Step) error {
	dir := s.index.dir
	if _, err := dir.ReadFile(lastStep); errors.Is(err, local.ErrRefused) { // nothing could take its place
		return fmt.Errorf("note how to undo it: %w", err)
	}
	var err error
	if begun := readStep(dir, begunStep); begun != nil && s.cameOf(ctx, begun) != untouched {
		err = writeStep(dir, lastStep, begun) // the other file goes on to tell of it meanwhile
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

func writeStep(dir *local.Dir, name string, s *Step) error {
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

// readStep returns nil for what can't be read, has another version, or is not what we write: git
// directories come in archives, too, and what a step was is said in a commit's message.
func readStep(dir *local.Dir, name string) *Step {
	data, err := dir.ReadFile(name)
	s := new(Step)
	if err != nil || json.Unmarshal(data, s) != nil || s.V != stepVersion || strings.ContainsFunc(s.What, unicode.IsControl) {
		return nil
	}
	return s
}
