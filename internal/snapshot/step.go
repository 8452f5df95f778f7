package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"

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
	Before  git.Hex   `json:"before"`            // the commit that holds the worktree as it was
	From    git.Hex   `json:"from"`              // its tree
	To      git.Hex   `json:"to"`                // the tree that the step has made of it
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

// LastStep returns the last step that has changed the snapshot's worktree; nil if none is known.
func (s *Snapshot) LastStep() *Step {
	if begun := s.cutOff(); begun != nil {
		return begun
	}
	return readStep(s.index.dir, lastStep)
}

// cutOff returns the step whose process was killed after it had begun to change the worktree.
func (s *Snapshot) cutOff() *Step {
	begun := readStep(s.index.dir, begunStep)
	if begun == nil || begun.From.Hash() == s.Tree {
		return nil
	}
	begun.Half = begun.To.Hash() != s.Tree
	return begun
}

// ErrHalf reports a checkout that may have changed a part of the worktree.
var ErrHalf = errors.New("the worktree may have changed in part")

// Step makes the worktree match a tree as [Snapshot.CheckOut] does, as a step that can be taken back:
// the refs must keep its Before already. Whenever this process is killed, [Snapshot.LastStep] then
// tells of what has really changed the worktree. If the checkout fails, which a dry one should have
// found out, the error wraps [ErrHalf].
func (s *Snapshot) Step(ctx context.Context, step Step) error {
	dir, err := s.index.dir, error(nil)
	if last := s.cutOff(); last != nil {
		err = writeStep(dir, lastStep, last) // the other file goes on to tell of it meanwhile
	}
	if err == nil {
		err = writeStep(dir, begunStep, &step)
	}
	if err != nil {
		return err
	}
	if err := s.CheckOut(ctx, plumbing.Hash(step.To), Checkout{Foreign: step.Foreign}); err != nil {
		return fmt.Errorf("%w: %w", ErrHalf, err)
	}
	if err := dir.Rename(begunStep, lastStep); err != nil {
		return fmt.Errorf("note how to undo it: %w", err)
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
