package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// A Fork is a mission that begins at a turn of another one, code and conversation together.
type Fork struct {
	Source *Turn
	Before bool // at the state in which the turn started, not at the one it ended in
	ID     ledger.ID
	Title  string
	At     time.Time

	Worktree string // made for it; empty for none: then only the branch is made
	// Session is the id of the new conversation, and Config the client's configuration directory that
	// it is placed in. Without a session no conversation is made.
	Session string
	Config  string

	Progress io.Writer // git's progress of the checkout, on a terminal; nil for none
}

// A Forked is a fork that was made.
type Forked struct {
	Mission *ledger.Mission
	File    string // the session's file; empty if there is no conversation, or none yet: see [Fork.Before]
	Why     error  // why there is none, if one was asked for
}

// Fork makes the mission: ledger and branch in one transaction, then the worktree, then the conversation.
// The source stays as it is. If a step fails, the ones before are undone; if that fails too,
// the error says what is left. That a conversation can't be rebuilt is no failure: see [Forked.Why].
func (r *Recorder) Fork(ctx context.Context, f Fork) (*Forked, error) {
	config, err := r.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	from := f.Source.Code.Hash()
	if f.Before {
		from = f.Source.Base.Hash()
	}
	if _, err := objects.TreeOf(from); err != nil {
		return nil, fmt.Errorf("fork turn %s: its code commit is not here: %w", f.Source.ID(), err)
	}
	l, err := r.ledgerOf(ctx, objects, f)
	if err != nil {
		return nil, fmt.Errorf("fork turn %s: %w", f.Source.ID(), err)
	}
	b := Beginning{ID: f.ID, Title: f.Title, From: from, Worktree: f.Worktree, Session: f.Session, At: f.At}
	branch := f.ID.Branch(r.Capture.BranchPrefix)
	source := f.Source.ID()
	m := &ledger.Mission{
		V: ledger.Version, ID: f.ID, Title: f.Title, Created: f.At.UTC().Truncate(time.Millisecond), Agent: f.Source.Agent,
		Base: from.String(), Branch: branch, ForkedFrom: &source,
	}
	if m.Title == "" {
		m.Title = l.Mission.Title
	}
	m.AddSession(f.Session)
	l.ID, l.Mission = f.ID, m
	tip, err := l.Append(ledger.Event{
		Subject: "fork of " + source.String(), Keep: []plumbing.Hash{from},
		Author: config.Author(f.At), Committer: config.Committer(f.At),
	})
	if err != nil {
		return nil, err
	}
	if err := objects.Flush(); err != nil {
		return nil, err
	}
	done := &Forked{Mission: m}
	undo, err := r.plant(ctx, b, tip, branch, f.Progress)
	if err != nil {
		return nil, fmt.Errorf("fork turn %s: %w", source, err)
	}
	if f.Session == "" {
		return done, nil
	}
	done.File, err = r.converse(ctx, f)
	if err == nil {
		return done, nil
	}
	if errors.Is(err, errConversation) {
		done.File, done.Why = "", errors.Unwrap(err)
		return done, nil
	}
	return nil, errors.Join(fmt.Errorf("fork turn %s: %w", source, err), undo())
}

// plant moves the refs and checks the branch out. The function that it returns takes both back.
func (r *Recorder) plant(ctx context.Context, b Beginning, tip plumbing.Hash, branch string, progress io.Writer) (undo func() error, err error) {
	refs := []git.Update{{Ref: b.ID.Ref(), New: tip}, {Ref: branch, New: b.From}}
	reason := "agent mission " + string(b.ID)
	if err := r.Repo.UpdateRefs(ctx, reason, refs); err != nil {
		return nil, err
	}
	fresh := b.Worktree != "" && !there(b.Worktree)
	undo = func() error {
		ctx := context.WithoutCancel(ctx)
		var errs []error
		if fresh && there(b.Worktree) {
			if _, err := r.Repo.Output(ctx, nil, "worktree", "remove", "--force", "--", b.Worktree); err != nil {
				errs = append(errs, fmt.Errorf("what is left: the worktree %s; remove it with git worktree remove --force: %w", b.Worktree, err))
			}
		}
		if err := r.Repo.UpdateRefs(ctx, reason+": undone", []git.Update{{Ref: b.ID.Ref(), Old: tip}, {Ref: branch, Old: b.From}}); err != nil {
			errs = append(errs, fmt.Errorf("what is left: the branch %s and the mission %s: %w", branch, b.ID, err))
		}
		return errors.Join(errs...)
	}
	if b.Worktree == "" {
		return undo, nil
	}
	if err := r.addWorktree(ctx, b.Worktree, branch, progress); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

func (r *Recorder) addWorktree(ctx context.Context, dir, branch string, progress io.Writer) error {
	name := strings.TrimPrefix(branch, "refs/heads/")
	args := []string{"worktree", "add", "--", dir, name}
	if progress == nil {
		args = []string{"worktree", "add", "--quiet", "--", dir, name}
		_, err := r.Repo.Output(ctx, nil, args...)
		return err
	}
	return r.Repo.Run(ctx, nil, io.Discard, progress, args...)
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ledgerOf returns the ledger of the source's mission as it was when the turn was the last one, or when the one before it was.
func (r *Recorder) ledgerOf(ctx context.Context, objects *git.Objects, f Fork) (*ledger.Ledger, error) {
	mission := f.Source.mission()
	tip, err := ledger.Open(ctx, r.Repo, objects, mission)
	if err != nil {
		return nil, err
	}
	out, err := r.Repo.Output(ctx, nil, "rev-list", "--first-parent", tip.Tip.String())
	if err != nil {
		return nil, err
	}
	events := strings.Fields(string(out)) // newest first; the number of the last turn never grows along them
	want := f.Source.Turn
	if f.Before {
		want--
	}
	var found *ledger.Ledger
	i := sort.Search(len(events), func(i int) bool {
		l, e := ledger.At(objects, mission, plumbing.NewHash(events[i]))
		if e != nil {
			err = e
			return true
		}
		last, e := l.LastTurn()
		if e != nil {
			err = e
		}
		if last == want {
			found = l
		}
		return last <= want
	})
	if err != nil {
		return nil, err
	}
	if found == nil || i == len(events) || events[i] != found.Tip.String() {
		return nil, fmt.Errorf("the ledger has no event that ends with turn %d: %w", want, git.ErrNotFound)
	}
	return found, nil
}

// errConversation marks why a conversation can't be rebuilt.
var errConversation = errors.New("no conversation")

type conversationError struct{ why error }

func (e *conversationError) Error() string        { return e.why.Error() }
func (e *conversationError) Unwrap() error        { return e.why }
func (e *conversationError) Is(target error) bool { return target == errConversation }

// converse places the conversation where the client will look for it, and notes that all of it is
// recorded already, so that nothing is stored twice.
func (r *Recorder) converse(ctx context.Context, f Fork) (string, error) {
	until := f.Source
	if f.Before {
		seg := f.Source.Transcript
		if seg == nil {
			return "", &conversationError{fmt.Errorf("the client kept no transcript of turn %s", f.Source.ID())}
		}
		if seg.After == 0 {
			return "", nil // the turn began its conversation: there is nothing to take along
		}
		before, err := Read(ctx, r.Repo, f.Source.mission(), seg.After)
		if err != nil {
			return "", &conversationError{err}
		}
		until = before
	}
	if until.Agent != "claude-code" {
		return "", &conversationError{fmt.Errorf("sessions of %q can't be taken up again at a turn", until.Agent)}
	}
	stored, err := Conversation(ctx, r.Repo, until)
	if err != nil {
		return "", &conversationError{err}
	}
	file, err := transcript.Rebuild(stored, f.Session)
	if err != nil {
		return "", &conversationError{err}
	}
	dir := r.Repo.Top
	gitDir := r.Repo.GitDir
	if f.Worktree != "" {
		repo, err := git.Find(f.Worktree)
		if err != nil {
			return "", err
		}
		dir, gitDir = repo.Top, repo.GitDir
	}
	path := transcript.Path(f.Config, dir, f.Session)
	if err := place(path, file); err != nil {
		return "", fmt.Errorf("place the conversation: %w", err)
	}
	end, err := transcript.End(path)
	if err == nil {
		number := f.Source.Turn
		if f.Before {
			number = until.Turn
		}
		store := session.Open(r.Repo.CommonDir)
		st := store.Load(f.Session)
		st.Mission, st.Seen, st.Worktree, st.Transcript = string(f.ID), f.At, gitDir, path
		st.Cursors = map[string]session.Cursor{string(f.ID): {Offset: end.Offset, Check: end.Check, Turn: number}}
		err = store.Save(st)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// place writes a session's file: for the user alone, and never half of it under its name.
func place(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}
