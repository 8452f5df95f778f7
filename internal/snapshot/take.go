package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// A Snapshot is a worktree at one moment.
type Snapshot struct {
	Head    git.Head      // HEAD at that moment
	Tree    plumbing.Hash // staged, not flushed: see [git.Objects.Flush]
	Skipped []Skip        // what the tree leaves out

	index   *privateIndex
	changed bool // the private index holds what the user's does not
}

// Options say how a snapshot is taken.
type Options struct {
	Policy Policy
	// Config returns git's configuration. It is called when the pass over the
	// worktree is done, so that reading it can overlap with that.
	Config func() (git.Config, error)
	// Publish makes the private index hold what the tree holds,
	// so that it can take the place of the user's; see [Snapshot.Publish].
	Publish bool
	Now     time.Time
}

// Take takes a snapshot of the worktree of repo. Blobs and trees go to objects, or into the
// object database directly where git writes them.
//
// If git fails on the private index, that is made anew once:
// `git gc --prune=now` does not know the objects that it refers to.
func Take(ctx context.Context, repo *git.Repo, objects *git.Objects, opt Options) (*Snapshot, error) {
	index, err := openIndex(repo)
	if err != nil {
		return nil, err
	}
	t := &taker{ctx: ctx, index: index, objects: objects, opt: opt}
	s, err := t.take(false)
	if err != nil && ctx.Err() == nil && git.Status(err) >= 0 {
		s, err = t.take(true)
	}
	if err != nil {
		return nil, fmt.Errorf("take a snapshot of %s: %w", repo.Top, err)
	}
	return s, nil
}

// A taker is one snapshot being taken.
type taker struct {
	ctx     context.Context
	index   *privateIndex
	objects *git.Objects
	opt     Options

	config  git.Config
	skipped []Skip
}

func (t *taker) take(anew bool) (*Snapshot, error) {
	t.skipped = nil
	if err := t.index.prepare(t.opt.Now, anew); err != nil {
		return nil, err
	}
	out, err := t.index.git().Output(t.ctx, nil, t.statusArgs()...)
	if err != nil {
		return nil, err
	}
	head, entries, err := parseStatus(string(out))
	if err != nil {
		return nil, err
	}
	if t.config, err = t.opt.Config(); err != nil {
		return nil, err
	}
	entries = t.choose(entries)
	s := &Snapshot{Head: head, index: t.index}
	if files, ok := t.plain(entries); ok {
		s.Tree, err = t.overlay(head, entries, files)
	} else {
		s.Tree, s.changed, err = t.writeTree(entries)
	}
	if err != nil {
		return nil, err
	}
	s.Skipped = t.skipped
	return s, nil
}

// statusArgs is always the same command line: the untracked cache is valid for one set of
// options only. What a submodule holds is asked only where there are submodules:
// each one costs a process.
func (t *taker) statusArgs() []string {
	args := []string{"-c", "core.splitIndex=false", "-c", "status.showUntrackedFiles=all"}
	if !t.opt.Publish {
		args = append(args, "-c", "core.untrackedCache=true") // a published index keeps the user's choice
	}
	submodules := "--ignore-submodules=dirty"
	if exists(filepath.Join(t.index.repo.Top, ".gitmodules")) {
		submodules = "--ignore-submodules=none"
	}
	return append(args, "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "-uall", "--no-renames", submodules)
}

// choose applies the policy to what is untracked and drops what is skipped.
func (t *taker) choose(entries []entry) []entry {
	var files []untracked
	for _, e := range entries {
		if !e.untracked {
			continue
		}
		f := untracked{path: e.path}
		if info, err := os.Lstat(t.file(e.path)); err == nil {
			f.size = info.Size()
		}
		files = append(files, f)
	}
	taken, skipped := t.opt.Policy.apply(files)
	t.skipped = append(t.skipped, skipped...)
	take := make(map[string]bool, len(taken))
	for _, f := range taken {
		take[f.path] = true
	}
	chosen := entries[:0]
	for _, e := range entries {
		if e.dirty {
			t.skip(e.path, WhySubmodule)
		}
		if !e.untracked || take[e.path] {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

func (t *taker) skip(path, why string) { t.skipped = append(t.skipped, Skip{path, why}) }

func (t *taker) file(path string) string {
	return filepath.Join(t.index.repo.Top, filepath.FromSlash(path))
}

// overlay builds the tree in-process: HEAD's, with what is staged and what was hashed laid over it.
func (t *taker) overlay(head git.Head, entries []entry, files map[string]git.Entry) (plumbing.Hash, error) {
	base, err := t.objects.TreeOf(head.Commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	changes := make(map[string]git.Entry, len(entries))
	for _, e := range entries {
		switch {
		case e.work:
			changes[e.path] = files[e.path]
		case !e.submodule || !e.staged.Hash.IsZero():
			changes[e.path] = e.staged
		}
	}
	if len(changes) == 0 && !base.IsZero() {
		return base, nil
	}
	return t.objects.EditTree(base, changes)
}

// writeTree builds the tree through git on the private index. It reports whether the
// index had to be changed for it.
func (t *taker) writeTree(entries []entry) (tree plumbing.Hash, changed bool, err error) {
	var paths []string
	for _, e := range entries {
		if e.work {
			paths = append(paths, e.path)
		}
	}
	if err := t.add(paths); err != nil {
		return plumbing.ZeroHash, false, err
	}
	out, err := t.index.git().Output(t.ctx, nil, "-c", "core.splitIndex=false", "write-tree")
	if err != nil {
		return plumbing.ZeroHash, false, err
	}
	return plumbing.NewHash(strings.TrimSpace(string(out))), len(paths) > 0, nil
}

// gone reports whether an error means that a file has vanished since status saw it.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
