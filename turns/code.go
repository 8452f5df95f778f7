package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/ledger"
	"gitagent/internal/snapshot"
)

// code returns the commit for the worktree as the snapshot has it, and whether it was made for it.
//
// It is HEAD if the worktree equals HEAD's tree and, in a passive mission, the start if it equals that.
// Otherwise it is a new commit with exactly one parent: the start if HEAD has not moved since,
// otherwise HEAD; in an attached mission always HEAD. A merge commit as a turn would lose its
// work in a rebase, and could not be cherry-picked.
//
// A new commit of an attached mission moves the branch. The index comes first: see [snapshot.Snapshot.Publish].
func (r *recording) code(ctx context.Context, s start, message func() string) (commit plumbing.Hash, fresh bool, err error) {
	head := r.snap.Head.Commit
	if !head.IsZero() {
		tree, err := r.objects.TreeOf(head)
		if err != nil || tree == r.snap.Tree {
			return head, false, err
		}
	}
	parent := head
	if !r.onBranch {
		tree, err := r.objects.TreeOf(s.base)
		if err != nil || tree == r.snap.Tree {
			return s.base, false, err
		}
		if s.head == head {
			parent = s.base
		}
	}
	var parents []plumbing.Hash
	if !parent.IsZero() {
		parents = []plumbing.Hash{parent}
	}
	config, err := r.config()
	if err != nil {
		return plumbing.ZeroHash, false, err
	}
	commit, err = r.objects.CommitTree(r.snap.Tree, parents, config.Author(r.At), config.Committer(r.At), message())
	if err != nil || !r.moves {
		return commit, true, err
	}
	switch err := r.snap.Publish(ctx); {
	case errors.Is(err, snapshot.ErrIndexBusy):
		r.moves = false // recorded all the same; the next turn catches up
	case err != nil:
		return commit, true, err
	default:
		r.branch = commit
	}
	return commit, true, nil
}

// maxSubject is how much of a prompt a commit's subject quotes, in runes.
const maxSubject = 60

// subject is the first line of a turn's commit message.
func (r *recording) subject(turn int, prompt string) string {
	s := fmt.Sprintf("turn %d", turn)
	if !r.Capture.SubjectPrompt {
		return s
	}
	if line := head(firstLine(prompt), maxSubject); line != "" {
		s += ": " + line
	}
	return s
}

// firstLine is the first line of a text that says something. It is shown by `git log`, which
// escapes nothing, so control characters become blanks.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Map(func(c rune) rune {
			switch {
			case c == '\n':
				return -1
			case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c), c == unicode.ReplacementChar:
				return ' '
			}
			return c
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// The trailers of a code commit. They are how a turn is found again after a rebase that lost its note.
const (
	trailerMission = "Agent-Mission"
	trailerTurn    = "Agent-Turn"
	trailerSession = "Agent-Session"
)

// message is a commit message with trailers; turn 0 is for a commit that is no turn.
func (r *recording) message(subject string, turn int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s: %s\n", subject, trailerMission, r.id)
	if turn > 0 {
		fmt.Fprintf(&b, "%s: %d\n", trailerTurn, turn)
	}
	if r.Session != "" {
		fmt.Fprintf(&b, "%s: %s\n", trailerSession, r.Session)
	}
	return b.String()
}

// append adds an event to the ledger.
func (r *recording) append(subject string, files map[string][]byte, keep ...plumbing.Hash) error {
	config, err := r.config()
	if err != nil {
		return err
	}
	r.ledger.Mission.AddSession(r.Session)
	tip, err := r.ledger.Append(ledger.Event{
		Subject: subject, Files: files, Keep: keep,
		Author: config.Author(r.At), Committer: config.Committer(r.At),
	})
	if err != nil {
		return err
	}
	r.ledger, err = ledger.At(r.objects, r.id, tip)
	return err
}
