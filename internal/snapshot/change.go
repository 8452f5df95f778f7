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

// A Change is a command's change of a worktree, with what undoes it. Only the
// last one of a worktree is kept, and it may be deleted at any time.
type Change struct {
	V       int         `json:"v"`              // [changeVersion]
	What    string      `json:"what"`           // such as "restore of turn a1b2c3d4/12"
	Undo    bool        `json:"undo,omitempty"` // the change undid that
	At      time.Time   `json:"at"`
	Mission record.ID   `json:"mission"`           // the ledger that keeps Before
	Before  object.Hash `json:"before"`            // the commit that holds the worktree as it was
	From    object.Hash `json:"from"`              // its tree
	To      object.Hash `json:"to"`                // the tree that the change has made of it
	Foreign bool        `json:"foreign,omitempty"` // untrusted files may have come with it
	Half    bool        `json:"half,omitempty"`    // it was killed in the middle: there may be parts of files
}

const changeVersion = 1

func (s *Change) String() string {
	if s.Undo {
		return "undo of the " + s.What
	}
	return s.What
}

// The files of changes. begunFile is renamed to lastFile when the change is done;
// only the worktree is written between.
const (
	lastFile  = "step"
	begunFile = "step.begun"
)

// NewestChange returns the change begun last, even if it changed nothing, or nil.
func NewestChange(repo *git.Repo) *Change {
	dir := statedir.Of(repo.GitDir)
	if s := readChange(dir, begunFile); s != nil {
		return s
	}
	return readChange(dir, lastFile)
}

// LastChanges returns the last change that may have changed the worktree. If its
// process was killed, the one before follows, in case nothing is to be undone.
func (s *Snapshot) LastChanges(ctx context.Context) []*Change {
	var changes []*Change
	if begun := readChange(s.index.dir, begunFile); begun != nil && s.cameOf(ctx, begun) != untouched {
		changes = append(changes, begun)
	}
	if last := readChange(s.index.dir, lastFile); last != nil {
		changes = append(changes, last)
	}
	return changes
}

// An outcome is how much a change did.
type outcome int

const (
	untouched outcome = iota
	inPart
	complete
)

// cameOf returns the outcome of change from the paths that it had to change,
// not from other changes since, and sets its Half.
func (s *Snapshot) cameOf(ctx context.Context, change *Change) outcome {
	change.Half = false
	switch s.Tree {
	case change.From:
		return untouched
	case change.To:
		return complete
	}
	became, err := gitdiff.Changed(ctx, s.index.repo, change.From, change.To, gitdiff.Paths{})
	var since map[string]object.Entry
	if err == nil {
		since, err = gitdiff.Changed(ctx, s.index.repo, change.From, s.Tree, gitdiff.Paths{})
	}
	came := inPart
	if err == nil { // else the trees may have gone with the mission
		came = outcomeOf(became, since)
	}
	change.Half = came == inPart
	return came
}

// outcomeOf compares what the change makes of paths with what became of them.
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

// settle finds the outcome of a change that was killed. A complete one becomes
// the last change, one that changed nothing goes, and others stay.
func (s *Snapshot) settle(ctx context.Context, objects *git.Objects) {
	dir := s.index.dir
	begun := readChange(dir, begunFile)
	if begun == nil || objects.Flush() != nil {
		return
	}
	switch s.cameOf(ctx, begun) {
	case complete:
		_ = dir.Rename(begunFile, lastFile)
	case untouched:
		if time.Since(begun.At) > orphaned {
			_ = dir.Remove(begunFile)
		}
	}
}

// ErrHalf reports a change not noted as done that may have changed the worktree.
var ErrHalf = errors.New("the worktree may have changed")

// Change makes the worktree match a tree as [Snapshot.CheckOut] does, and notes
// how to undo it: refs must keep change.Before already. If the process is killed,
// [Snapshot.LastChanges] tells what changed. If the checkout or the note after it
// fails, the error wraps [ErrHalf]; a dry checkout finds most of it before.
func (s *Snapshot) Change(ctx context.Context, change Change) error {
	dir := s.index.dir
	if _, err := dir.ReadFile(lastFile); errors.Is(err, statedir.ErrRefused) { // it can't be replaced
		return fmt.Errorf("note how to undo it: %w", err)
	}
	var err error
	if begun := readChange(dir, begunFile); begun != nil && s.cameOf(ctx, begun) != untouched {
		err = writeChange(dir, lastFile, begun) // begunFile still tells of it
	}
	if err == nil {
		err = writeChange(dir, begunFile, &change)
	}
	if err != nil {
		return err
	}
	if err := s.CheckOut(ctx, change.To, Checkout{Foreign: change.Foreign}); err != nil {
		return fmt.Errorf("%w: %w", ErrHalf, err)
	}
	if err := dir.Rename(begunFile, lastFile); err != nil {
		return fmt.Errorf("%w: note how to undo it: %w", ErrHalf, err)
	}
	return nil
}

func writeChange(dir *statedir.Dir, name string, s *Change) error {
	s.V = changeVersion
	data, err := json.Marshal(s)
	if err == nil {
		err = dir.WriteFile(name, data)
	}
	if err != nil {
		return fmt.Errorf("note how to undo it: %w", err)
	}
	return nil
}

// readChange returns nil for what it can't read, another version, and what we
// don't write: git directories come in archives, and What goes into messages.
func readChange(dir *statedir.Dir, name string) *Change {
	data, err := dir.ReadFile(name)
	s := new(Change)
	if err != nil || json.Unmarshal(data, s) != nil || s.V != changeVersion || strings.ContainsFunc(s.What, unicode.IsControl) {
		return nil
	}
	return s
}
