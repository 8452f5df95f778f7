// Package workspace is what a process works on: a repository seen from a
// worktree, its settings, and its local state. A process opens it once.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/trust"
)

// ErrUntrusted reports what somebody recorded whom the user does not trust, and
// nobody has accepted.
var ErrUntrusted = errors.New("not signed by a key you trust")

// A Workspace is a repository with its settings and local state.
type Workspace struct {
	Repo     *git.Repo
	Settings *config.Config
	Store    session.Store
	Trust    *trust.Trust

	// Say tells the user what they have not asked for, and what was done about
	// it, perhaps nothing; to begin with, in the log.
	Say func(text, done string)

	witnesses func() map[record.ID]*session.Known // see TrustLevel
	purged    func() *scrub.Finder
	seen      *seen
}

// New returns the workspace of a repository with the given settings.
func New(repo *git.Repo, settings *config.Config) *Workspace {
	w := &Workspace{Settings: settings, Store: session.Open(repo.CommonDir)}
	w.Repo = repo.Watched(w.lookOn)
	w.Say = w.SayInLog
	w.Trust = trust.New(w.Store.Dir(), func() *trust.Keys { return Keys(settings) })
	w.witnesses = sync.OnceValue(w.lastOfMissions)
	w.purged = sync.OnceValue(w.readPurged)
	w.seen = new(seen)
	return w
}

// SayInLog is [Workspace.Say] where nobody is there to be told.
func (w *Workspace) SayInLog(text, done string) { _ = w.Store.Log(time.Now(), Said(text, done)) }

// Said joins what [Workspace.Say] was given.
func Said(text, done string) string {
	if done != "" {
		text += "; " + done
	}
	return text
}

// Keys returns the keys that a user signs with and trusts.
func Keys(settings *config.Config) *trust.Keys {
	dir := ""
	if path := config.UserPath(); path != "" {
		dir = filepath.Dir(path)
	}
	return trust.ReadKeys(dir, settings.Trust.Key)
}

// Open reads the user's and the repository's settings. If an error reports a
// part of them, the workspace is usable with the valid ones.
func Open(repo *git.Repo) (*Workspace, error) {
	file := "" // without a worktree there is none
	if repo.Top != "" {
		file = filepath.Join(repo.Top, config.RepoFile)
	}
	settings, err := config.Load(config.UserPath(), file)
	return New(repo, settings), err
}

// OpenCommon opens the repository with a common directory, if git would work
// there. Settings that are not valid are left out.
func OpenCommon(ctx context.Context, common string) (*Workspace, error) {
	repo, err := git.OpenCommon(ctx, common)
	if err != nil {
		return nil, err
	}
	w, _ := Open(repo)
	return w, nil
}

// Branch returns the full name of a mission's branch.
func (w *Workspace) Branch(id record.ID) string { return id.Branch(w.Settings.Capture.BranchPrefix) }

// BranchName returns the short name of a mission's branch.
func (w *Workspace) BranchName(id record.ID) string {
	return w.Settings.Capture.BranchPrefix + string(id)
}

// MissionOf returns the mission that a full branch name names, if any.
func (w *Workspace) MissionOf(branch string) (record.ID, bool) {
	return record.OfBranch(branch, w.Settings.Capture.BranchPrefix)
}

// Mission returns the mission of the branch at HEAD, or being rebased, or "".
func (w *Workspace) Mission(ctx context.Context) (record.ID, error) {
	branch, err := w.Repo.HeadRef(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	if branch == "" {
		branch = w.Repo.RebasedBranch()
	}
	id, _ := w.MissionOf(branch)
	return id, nil
}

// Policy returns what a snapshot of the worktree takes.
func (w *Workspace) Policy() snapshot.Policy {
	c := w.Settings.Capture
	return snapshot.Policy{
		MaxFileSize:       c.MaxFileSize,
		MaxUntrackedFiles: c.MaxUntrackedFiles,
		MaxUntrackedSize:  c.MaxUntrackedSize,
		Exclude:           c.Exclude,
		Purged:            w.Purged(),
		Branches:          w.Branch(""),
	}
}

// Purged finds what must not be recorded again, and logs what it can't read.
func (w *Workspace) Purged() *scrub.Finder { return w.purged() }

func (w *Workspace) readPurged() *scrub.Finder {
	m, err := scrub.ReadMemory(w.Store.Dir())
	if err != nil {
		w.Store.Log(time.Now(), err.Error())
	}
	return m.Finder()
}
