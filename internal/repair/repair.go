// Package repair finds what is missing, damaged or stale in what git-agent
// keeps in a repository, and mends what needs no guess: from refs, ledgers,
// remotes.
//
//	scan.go      damaged loose objects and packs
//	derived.go   what git has made of the objects to be faster
//	walk.go      what our refs lead to, and what of that is lost
//	missing.go   which turns that concerns, and how
//	archive.go   the archive's refs, each restored from the other
//	refs.go      unreadable refs, landing refs, lone branches and ledgers
//	notes.go     notes that the ledgers say should be there
//	stale.go     what dead processes left
//
// Damaged files are put into agent/damaged of the local state, not deleted, and
// replacements checked by hash. A repair can be repeated at any time.
package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A Finding is one thing that is wrong.
type Finding struct {
	What   string // in a line, for a person
	Mended string // what mends it, or has mended it; empty if nothing can
	Hint   string // a command with which a person may decide; empty if there is none
	Lost   bool   // something that was recorded is not here
}

type repair struct {
	*workspace.Workspace
	at    time.Time
	dry   bool
	found []Finding

	index    object.Hash // the list of what is archived, zero if empty or unknown
	archived map[record.ID]ledger.ArchiveEntry
	unread   error // why that is not all
}

// Run looks for what is wrong, mends it unless dry is set, and returns it.
func Run(ctx context.Context, w *workspace.Workspace, at time.Time, dry bool) ([]Finding, error) {
	plain := *w // the rest is to see what is there
	plain.Repo = w.Repo.Watched(nil)
	r := &repair{Workspace: &plain, at: at.UTC(), dry: dry, archived: make(map[record.ID]ledger.ArchiveEntry)}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"a purge that was killed", r.purge},
		{"what dead processes left", r.dead},
		{"what was filtered", r.filtered},
		{"what git has made of the objects", r.derived},
		{"what killed fetches left", r.landings},
		{"refs", r.refs},
		{"where missions stand", r.standings},
		{"the archive", r.archive},
		{"objects", r.objects},
		{"what keeps the archive", r.kept},
		{"branches", r.branches},
		{"notes", r.notes},
		{"the configuration", r.rewrites},
		{"sessions", r.sessions},
		{"worktrees and locks", r.named},
		{"what keeps missions", r.keepers},
	} {
		if err := step.do(ctx); err != nil {
			if ctx.Err() != nil {
				return r.found, ctx.Err()
			}
			r.say(Finding{Lost: true, What: fmt.Sprintf("%s could not be looked at: %v", step.what, err)}) // perhaps
		}
	}
	return r.found, nil
}

func (r *repair) say(f Finding) { r.found = append(r.found, f) }

// purge reports a purge that was killed and so has not taken out everything.
func (r *repair) purge(context.Context) error {
	entries, err := r.Store.Dir().ReadDir("purge")
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 {
		return nil
	}
	r.say(Finding{What: "a purge was killed before it was done", Hint: "git agent-turn purge"})
	return err
}

// filtered makes missions ours again whose commits a filter has rewritten.
func (r *repair) filtered(ctx context.Context) error {
	if r.dry {
		if purge.FilterPending(r.Workspace) {
			r.say(Finding{What: "git filter-repo or git filter-branch has run here", Mended: "missions follow it"})
		}
		return nil
	}
	done, err := purge.FollowFilter(ctx, r.Workspace)
	for _, line := range done.Mended() {
		r.say(Finding{What: line, Mended: "that is done"})
	}
	for _, line := range done.Missing() {
		r.say(Finding{What: line, Lost: true})
	}
	return err
}

// asideDir is where damaged files are kept in the local state.
const asideDir = "damaged"

// aside puts a file of the repository away, in a directory of this run.
func (r *repair) aside(path string) error {
	name, ok := git.Within(r.Repo.CommonDir, path)
	if !ok {
		name, ok = git.Within(r.Repo.RefsDir(), path)
	}
	if !ok {
		return fmt.Errorf("put %s away: it is not in the repository", path)
	}
	if err := r.Store.Dir().Make(); err != nil {
		return err
	}
	to := r.Store.Dir().Path(filepath.Join(asideDir, r.at.Format("20060102T150405.000Z"), name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Rename(path, to); err != nil {
		return fmt.Errorf("put %s away: %w", path, err)
	}
	return nil
}

func (r *repair) missions(ctx context.Context) ([]record.ID, error) {
	tips, err := ledger.List(ctx, r.Repo)
	var ids []record.ID
	for id := range tips {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, err
}

// scratchName is a repository for objects that must not count as the
// repository's. Git prunes what has that prefix, with its gits' locks.
const scratchName = "tmp_agent-mend"

// scratch makes that repository, instead of a killed repair's, until done.
func (r *repair) scratch(ctx context.Context) (repo *git.Repo, done func(), err error) {
	held, err := r.Store.Lock(ctx, "repair")
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Join(r.Repo.CommonDir, "objects", scratchName)
	done = func() {
		_ = os.RemoveAll(dir)
		held.Release()
	}
	if err = os.RemoveAll(dir); err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		repo, err = git.Init(ctx, dir, r.Repo.Format())
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return repo.With(git.Holding(held.File())), done, nil
}
