package turns

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/redact"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// A start is the state that a turn began with.
type start struct {
	base     plumbing.Hash // the commit whose tree the worktree had
	head     plumbing.Hash // HEAD; zero on an unborn branch
	promptID string
	prompt   string // redacted
	at       time.Time
}

// prompted opens a turn. If another one is open, that was interrupted, and ends here.
// If the worktree is not what the last turn left, its state becomes a code commit
// of its own first, so that the turn's diff is the agent's work alone. Whose
// work the difference is (the user's, another session's) is not claimed.
//
// The event may come in the middle of the turn that it names; see [recording.announced].
// Then the worktree is no longer what the turn began with.
func (r *recording) prompted(ctx context.Context) error {
	f, err := r.segment()
	if err != nil {
		return err
	}
	prompt, began := r.Prompt, r.At
	if turns := transcript.Turns(f.Bytes); r.announced(turns) >= 0 {
		r.running = true
		t := turns[r.announced(turns)]
		prompt, began = t.Prompt, t.At
	}
	var base plumbing.Hash
	switch {
	case r.state.Open != nil || r.unannounced(f):
		if err = r.ended(ctx); err == nil {
			base = r.result.Turns[len(r.result.Turns)-1].Code.Hash()
		}
	case r.running:
		var s start
		s, err = r.startWithoutPrompt()
		base = s.base
	default:
		base, err = r.settle(ctx)
	}
	if err != nil {
		return err
	}
	r.state.Open = &session.OpenTurn{
		PromptID: r.PromptID,
		Prompt:   redact.String(clip(prompt)),
		Started:  began,
		Base:     git.Hex(base),
		Head:     git.Hex(r.headNow()),
	}
	return nil
}

// clip bounds a prompt before it is redacted: a pasted log of many MB is not kept, and what is
// kept is cut again after redaction.
func clip(prompt string) string {
	const limit = 64 << 10 // bytes
	if len(prompt) > limit {
		return prompt[:limit]
	}
	return prompt
}

// settle returns the commit that holds the worktree as it is now, and makes it if there is none.
func (r *recording) settle(ctx context.Context) (plumbing.Hash, error) {
	at, err := r.startWithoutPrompt()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	last, err := r.ledger.LastTurn()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	subject := fmt.Sprintf("before turn %d", last+1)
	code, fresh, err := r.code(ctx, at, func() string { return r.message(subject, 0) })
	if err != nil || !fresh {
		return code, err
	}
	return code, r.append(subject, nil, code) // the ledger keeps it until the turn does
}

// startWithoutPrompt is the start of a turn whose prompt event was not seen: what this session
// recorded last, if HEAD has not moved since, otherwise HEAD.
func (r *recording) startWithoutPrompt() (start, error) {
	head := r.snap.Head.Commit
	last := r.state.Last
	if last != nil && last.Mission == string(r.id) && last.Head.Hash() == head && !last.Code.IsZero() && !r.elsewhere() {
		if _, err := r.objects.TreeOf(last.Code.Hash()); err == nil {
			return start{base: last.Code.Hash(), head: head}, nil
		}
	}
	base, err := r.headOrRoot()
	return start{base: base, head: head}, err
}

// elsewhere reports whether the session's last event came from another worktree: what it left there says nothing about
// this one.
func (r *recording) elsewhere() bool {
	return r.state.Worktree != "" && r.state.Worktree != r.Repo.GitDir
}

// headOrRoot is HEAD or, on an unborn branch, a root commit with the empty tree.
func (r *recording) headOrRoot() (plumbing.Hash, error) {
	if head := r.snap.Head.Commit; !head.IsZero() {
		return head, nil
	}
	config, err := r.config()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree, err := r.objects.EmptyTree()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return r.objects.CommitTree(tree, nil, config.Author(r.At), config.Committer(r.At), r.message("before the first commit", 0))
}
