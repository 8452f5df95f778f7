package finisher

import (
	"errors"
	"testing"
)

// TestMergeable: whether the branch of a mission is merged, or why not.
func TestMergeable(t *testing.T) {
	t.Parallel()
	const head, merged, conflicts = 1, 2, 0 // trees
	for _, tt := range []struct {
		name     string
		turns    string
		merged   byte
		missing  bool
		split    bool
		staged   bool
		resolved bool
		lacks    bool
		err      error
	}{
		{name: "HEAD lacks it", turns: "1", merged: merged, lacks: true},
		{name: "HEAD lacks it, in several commits", turns: "1 2", merged: merged, split: true, lacks: true},
		{name: "HEAD lacks what the user has committed there", turns: "1-", merged: merged, lacks: true},
		{name: "HEAD lacks it, but for what is elsewhere", turns: "1", merged: merged, missing: true, lacks: true},
		{name: "HEAD has it all", turns: "1", merged: head},
		{name: "HEAD has it all, and something is staged", turns: "1", merged: head, staged: true},
		{name: "HEAD has it all, but for what is elsewhere", turns: "1", merged: head, missing: true},
		{name: "nothing changed", turns: "1- 2-", merged: head, err: ErrEmpty},
		{name: "all that changed was dropped", turns: "1d", merged: head, err: ErrEmpty},
		{name: "all of it is elsewhere", turns: "1-", merged: head, missing: true, err: ErrElsewhere},
		{name: "there is no turn", merged: head, err: ErrEmpty},
		{name: "conflicts", turns: "1", merged: conflicts, lacks: true},
		{name: "conflicts, in several commits", turns: "1", merged: conflicts, split: true, err: ErrNotSplit},
		{name: "conflicts, in several commits, and something is staged", turns: "1", merged: conflicts, split: true, staged: true, err: ErrNotSplit},
		{name: "conflicts, of which HEAD's side was taken", turns: "1", merged: conflicts, resolved: true, err: ErrResolved},
		{name: "no conflicts, and a message of one that had some", turns: "1", merged: merged, resolved: true, lacks: true},
		{name: "something is staged", turns: "1", merged: merged, staged: true, err: ErrStaged},
		{name: "conflicts, and something is staged", turns: "1", merged: conflicts, staged: true, resolved: true, err: ErrStaged},
	} {
		k := made(t, tt.turns)
		if tt.missing {
			k.missing = ErrElsewhere
		}
		lacks, err := k.mergeable(hash(head), hash(tt.merged), tt.split, tt.staged, func() bool { return tt.resolved })
		if lacks != tt.lacks || !errors.Is(err, tt.err) {
			t.Errorf("%s: %t, %v; want %t, %v", tt.name, lacks, err, tt.lacks, tt.err)
		}
	}
}

// TestProposed: whose the message is that git proposes, and whether it is of all that is to be committed.
func TestProposed(t *testing.T) {
	t.Parallel()
	tip := hash(2).String()
	for _, tt := range []struct {
		name          string
		turns         string
		message       string
		names, merges bool
		part          bool
	}{
		{"none", "1 2", "", false, false, true},
		{"ours", "1 2", "Subject\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 1-2\n", true, false, false},
		{"with other line ends", "1 2", "Subject\r\n\r\nAgent-Mission: a1b2c3d4\r\nAgent-Turns: 1-2\r\n", true, false, false},
		{"of the first of two", "1 2", "Subject\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 1\n", true, false, true},
		{"of the first, the second changed nothing", "1 2-", "Subject\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 1\n", true, false, false},
		{"of the second, the first is committed", "1c 2", "Subject\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 2\n", true, false, false},
		{"of the second, the first is elsewhere", "1e 2", "Subject\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 2\n", true, false, false},
		{"of the second, the first was dropped", "1d 2", "Subject\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 2\n", true, false, false},
		{"another mission's", "1 2", "Subject\n\nAgent-Mission: 00000000\nAgent-Turns: 1-2\n", false, false, true},
		{"it is in the midst of a line", "1 2", "See Agent-Mission: a1b2c3d4\n", false, false, true},
		{"a longer id", "1 2", "Agent-Mission: a1b2c3d4e5f6\n", false, false, true},
		{"git's own", "1 2", "Squashed commit of the following:\n\ncommit " + tip + "\nAuthor: somebody\n\n    turn 2\n", false, true, true},
		{"git's own, of a part", "1 2", "Squashed commit of the following:\n\ncommit " + hash(1).String() + "\n", false, false, true},
	} {
		k := made(t, tt.turns)
		if names, merges, part := k.names(tt.message), k.merges(tt.message), k.isPart(tt.message); names != tt.names || merges != tt.merges || part != tt.part {
			t.Errorf("%s: names it %t, merges it %t, is a part %t; want %t, %t, %t", tt.name, names, merges, part, tt.names, tt.merges, tt.part)
		}
	}
}

func TestBegunOf(t *testing.T) {
	t.Parallel()
	b := &begun{Worktree: "/w/.git", Tip: hash(2)}
	for _, tt := range []struct {
		b        *begun
		worktree string
		tip      byte
		want     bool
	}{
		{b, "/w/.git", 2, true},
		{b, "/w/.git", 3, false},
		{b, "/w/.git/worktrees/other", 2, false},
		{nil, "/w/.git", 2, false},
	} {
		if got := tt.b.of(tt.worktree, hash(tt.tip)); got != tt.want {
			t.Errorf("%+v is of %s at %d: %t", tt.b, tt.worktree, tt.tip, got)
		}
	}
}
