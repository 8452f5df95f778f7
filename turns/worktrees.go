package turns

import (
	"fmt"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/record"
)

// IsWorktreeName reports whether a text can name a worktree of a turn, as in
// 12:agent-a1b2.
func IsWorktreeName(s string) bool {
	return s != "" && len(s) <= record.MaxWorktreeName+4 && !strings.Contains(s, "..") && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// Worktree returns the state in which a worktree of the turn was, or in which it
// was found. The error wraps [git.ErrNotFound] if the turn has none of that name.
func (t *Turn) Worktree(name string, start bool) (*State, error) {
	s := &State{In: t.mission(), At: t.At, Turn: t, Worktree: name, Start: start}
	var near []string
	for i := range t.Worktrees {
		w := &t.Worktrees[i]
		if w.Name == name {
			if s.Commit = w.Code; start {
				s.Commit = w.Base
			}
			return s, nil
		}
		if len(near) < maxSuggested {
			near = append(near, fmt.Sprintf("%s:%s", t.After(), w.Name))
		}
	}
	return nil, &MissingError{What: s.Describe(), Nearest: near}
}

// Within reports whether it is a state beside the turn's start and end: a step,
// or one of another worktree.
func (s *State) Within() bool { return s.Step > 0 || s.Worktree != "" }

// WorktreeLine says in a line what was done in another worktree.
func WorktreeLine(w record.Worktree) string {
	text := w.Name
	if w.Agent != "" {
		text += ", sub-agent " + w.Agent
	}
	if w.Branch != "" {
		text += ", branch " + w.Branch
	}
	if w.Removed {
		text += ", removed"
	}
	return fmt.Sprintf("%s; %s +%d -%d", text, cmdline.Plural(w.Files, "file"), w.Insertions, w.Deletions)
}

// InWorktrees says in a few words what the turn did in other worktrees; "" for
// nothing.
func (t *Turn) InWorktrees() string {
	files := 0
	for i := range t.Worktrees {
		files += t.Worktrees[i].Files
	}
	switch len(t.Worktrees) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s in worktree %s", cmdline.Plural(files, "file"), t.Worktrees[0].Name)
	}
	return fmt.Sprintf("%s in %d worktrees", cmdline.Plural(files, "file"), len(t.Worktrees))
}
