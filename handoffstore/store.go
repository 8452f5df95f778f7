package handoffstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/gitnotes"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
)

// A Store keeps the handoffs of a repository, seen from the worktree that Repo was found from.
type Store struct {
	Repo    *git.Repo
	Capture config.Capture // what a snapshot of the worktree takes
	Handoff config.Handoff
}

// lockWait bounds the wait for others that work on the same worktree.
const lockWait = 30 * time.Second

// maxAttempts is how often a lost race is run again.
const maxAttempts = 20

// Lock keeps others from ending and beginning sessions in this worktree. It is taken before the locks of package turns,
// and held while a turn is recorded and handed off.
func (s *Store) Lock(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return s.local().Lock(ctx, "handoff-"+s.worktree())
}

func (s *Store) local() session.Store { return session.Open(s.Repo.CommonDir) }

// worktree names the worktree within the repository: ".git" for the main one.
func (s *Store) worktree() string { return filepath.Base(s.Repo.GitDir) }

// A writing is one attempt to add an event to a mission's ledger.
type writing struct {
	*Store
	at      time.Time
	id      ledger.ID
	changes bool // the worktree is going to be changed from what the snapshot holds
	config  git.Config
	objects *git.Objects
	snap    *snapshot.Snapshot
	tips    map[string]plumbing.Hash // the refs as the attempt found them
	ledger  *ledger.Ledger           // nil if the mission has none
}

// attempt runs f, which stages an event and commits it, until it has won its race. The worktree's lock is held;
// changes says that f is going to change the worktree.
func (s *Store) attempt(ctx context.Context, id ledger.ID, at time.Time, changes bool, f func(*writing) error) error {
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err := s.local().Lock(wait, "worktree-"+s.worktree())
	if err != nil {
		return err
	}
	defer unlock()
	for n := 1; ; n++ {
		w := &writing{Store: s, id: id, at: at.UTC().Truncate(time.Millisecond), changes: changes}
		err := w.run(ctx, f)
		if !errors.Is(err, git.ErrConflict) || n == maxAttempts {
			return err
		}
	}
}

func (w *writing) run(ctx context.Context, f func(*writing) error) error {
	var err error
	if w.config, err = w.Repo.Config(ctx); err != nil {
		return err
	}
	if w.config.SHA256() {
		return errors.New("the repository's object format is SHA-256, which git-agent can't write yet")
	}
	w.objects = w.Repo.Objects(ctx)
	defer w.objects.Close()
	if w.tips, err = w.Repo.Refs(ctx, w.id.Ref(), w.id.NotesRef()); err != nil {
		return err
	}
	if tip, ok := w.tips[w.id.Ref()]; ok {
		if w.ledger, err = ledger.At(w.objects, w.id, tip); err != nil {
			return err
		}
	}
	w.snap, err = snapshot.Take(ctx, w.Repo, w.objects, snapshot.Options{
		Policy: snapshot.Policy{
			MaxFileSize:       w.Capture.MaxFileSize,
			MaxUntrackedFiles: w.Capture.MaxUntrackedFiles,
			MaxUntrackedSize:  w.Capture.MaxUntrackedSize,
			Exclude:           w.Capture.Exclude,
		},
		Config:  func() (git.Config, error) { return w.config, nil },
		Publish: w.changes,
		Now:     w.at,
	})
	if err != nil {
		return err
	}
	return f(w)
}

// uncommitted returns a commit that holds the worktree and whose parent is HEAD. It is zero if the worktree
// equals HEAD's tree.
func (w *writing) uncommitted(subject, session string) (plumbing.Hash, error) {
	head := w.snap.Head.Commit
	tree, err := w.objects.TreeOf(head)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var parents []plumbing.Hash
	if !head.IsZero() {
		parents = []plumbing.Hash{head}
	} else if tree, err = w.objects.EmptyTree(); err != nil {
		return plumbing.ZeroHash, err
	}
	if tree == w.snap.Tree {
		return plumbing.ZeroHash, nil
	}
	message := fmt.Sprintf("%s\n\nAgent-Mission: %s\n", subject, w.id)
	if session != "" {
		message += fmt.Sprintf("Agent-Session: %s\n", session)
	}
	return w.objects.CommitTree(w.snap.Tree, parents, w.config.Author(w.at), w.config.Committer(w.at), message)
}

// commit adds an event to the ledger, with a line in the note on a commit if there is one,
// and moves the refs together. Then w.ledger is the new one.
func (w *writing) commit(ctx context.Context, e ledger.Event, noted plumbing.Hash, line []byte) error {
	author, committer := w.config.Author(w.at), w.config.Committer(w.at)
	e.Author, e.Committer = author, committer
	tip, err := w.ledger.Append(e)
	if err != nil {
		return err
	}
	updates := []git.Update{{Ref: w.id.Ref(), New: tip, Old: w.tips[w.id.Ref()]}}
	if !noted.IsZero() {
		before := w.tips[w.id.NotesRef()]
		notes, err := gitnotes.Open(w.objects, before)
		if err != nil {
			return err
		}
		if err := notes.Append(noted, line); err != nil {
			return err
		}
		after, err := notes.Commit(author, committer, fmt.Sprintf("mission %s", w.id))
		if err != nil {
			return err
		}
		updates = append(updates, git.Update{Ref: w.id.NotesRef(), New: after, Old: before})
	}
	if err := w.objects.Flush(); err != nil {
		return err
	}
	err = w.Repo.UpdateRefs(ctx, fmt.Sprintf("agent mission %s: %s", w.id, e.Subject), updates)
	if err == nil {
		w.ledger, err = ledger.At(w.objects, w.id, tip)
		return err
	}
	if errors.Is(err, git.ErrConflict) {
		return err
	}
	// All these refs are our own: a git that was killed may have left a lock on one.
	locked, waitErr := w.Repo.AwaitLocks(ctx, w.id.Ref(), w.id.NotesRef())
	if waitErr != nil {
		return errors.Join(err, waitErr)
	}
	if locked {
		return fmt.Errorf("the mission's refs were locked: %w", git.ErrConflict)
	}
	return err
}
