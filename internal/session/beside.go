package session

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"gitagent/internal/git/object"
)

// A Beside is a worktree of the same repository, beside the one in which a
// session's turns are recorded, in which its tools or its sub-agents work.
type Beside struct {
	GitDir string      `json:"git_dir"`
	Made   int64       `json:"made,omitempty"` // when, in nanoseconds: another may follow at its place; zero for the main one
	Name   string      `json:"name"`
	Agent  string      `json:"agent,omitempty"`  // the sub-agent's id; "" for the session's own calls
	Branch string      `json:"branch,omitempty"` // "" when HEAD was detached
	Base   object.Hash `json:"base"`             // commit whose tree it had when it was first seen, or when a turn took it last
	Code   object.Hash `json:"code,omitzero"`    // the same when it was looked at last
	At     int64       `json:"at,omitempty"`     // when that was, in milliseconds
	Cost   int64       `json:"cost,omitempty"`   // and how long it took
}

// Same reports whether another entry is of the same worktree.
func (b Beside) Same(other Beside) bool { return b.GitDir == other.GitDir && b.Made == other.Made }

// MaxBeside is how many worktrees of a session are known at once.
const MaxBeside = 100

func besidePath(id string) string { return filepath.Join(sessions, id+".worktrees") }

// UpdateBeside changes the list of a session's worktrees. It has its own lock:
// sub-agents stop while a turn is recorded.
func (s Store) UpdateBeside(ctx context.Context, id string, f func([]Beside) []Beside) error {
	held, err := s.shared(ctx, "worktrees", id)
	if err != nil {
		return err
	}
	defer held.Release()
	data, err := json.Marshal(f(s.LoadBeside(id)))
	if err == nil {
		err = s.dir.WriteFile(besidePath(id), data)
	}
	if err != nil {
		return fmt.Errorf("note the worktrees of session %s: %w", id, err)
	}
	return nil
}

// LoadBeside returns the list of a session's worktrees, which may be empty.
func (s Store) LoadBeside(id string) (list []Beside) {
	data, err := s.dir.ReadFile(besidePath(id))
	if err != nil || json.Unmarshal(data, &list) != nil {
		return nil
	}
	return list
}
