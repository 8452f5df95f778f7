package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// Fetch brings missions from the remote: those named, with the branches of attached ones, or all that have
// something which is not here. See [Change] for what becomes of them. A branch that is not here yet is made for a mission
// that is named, and for no other.
// A mission that the remote does not have, or that can't be read, is part of the error; the others are fetched.
func (r *Remote) Fetch(ctx context.Context, ids ...ledger.ID) ([]Change, error) {
	unlock, err := r.lock(ctx, "fetch")
	if err != nil {
		return nil, err
	}
	defer unlock()
	changes, err := r.fetch(ctx, ids)
	if err != nil {
		return changes, fmt.Errorf("fetch from %s: %w", r.Name, err)
	}
	return changes, nil
}

func (r *Remote) fetch(ctx context.Context, ids []ledger.ID) ([]Change, error) {
	var refspecs []string
	if len(ids) > 0 {
		for _, id := range ids {
			refspecs = append(refspecs, r.refspecs(id)...)
		}
	} else {
		theirs, err := r.list(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		ours, err := r.local(ctx, "")
		if err != nil {
			return nil, err
		}
		refspecs = r.news(theirs, ours)
	}
	if len(refspecs) == 0 {
		return nil, nil
	}
	arrived, err := r.bring(ctx, r.Name, refspecs)
	if err != nil {
		return nil, err
	}
	changes, err := r.merge(ctx, arrived, ids)
	for _, id := range ids {
		if arrived[id].ledger.IsZero() {
			err = errors.Join(err, fmt.Errorf("mission %s: %w", id, git.ErrNotFound))
		}
	}
	return changes, err
}

// refspecs are what fetches one mission. They are patterns, because what matches no ref is no error then.
func (r *Remote) refspecs(id ledger.ID) []string {
	return []string{
		r.refspec(ledgers, string(id)+"*"), r.refspec(notes, string(id)+"*"), r.refspec(r.branches(), string(id)+"*"),
	}
}

func (r *Remote) refspec(namespace, name string) string {
	return "+" + namespace + name + ":" + r.landing(namespace) + name
}

// landing is where the refs of a namespace are put until they are merged: never where they would be seen as missions,
// notes or branches of this repository.
func (r *Remote) landing(namespace string) string {
	return r.landings() + map[string]string{ledgers: "missions/", notes: "notes/", r.branches(): "heads/"}[namespace]
}

func (r *Remote) landings() string { return "refs/agent/remotes/" + escape(r.Name) + "/" }

// news are the refspecs of the remote's missions of which we do not have everything.
func (r *Remote) news(theirs map[ledger.ID]tips, ours map[string]plumbing.Hash) []string {
	have := make(map[plumbing.Hash]bool, len(ours)+1)
	have[plumbing.ZeroHash] = true
	for _, hash := range ours {
		have[hash] = true
	}
	var refspecs []string
	for _, id := range slices.Sorted(maps.Keys(theirs)) {
		t := theirs[id]
		if t.ledger.IsZero() { // a branch of that name, and no mission
			continue
		}
		if have[t.ledger] && have[t.notes] && (have[t.branch] || ours[id.Branch(r.prefix)].IsZero()) {
			continue
		}
		refspecs = append(refspecs, r.refspec(ledgers, string(id)))
		if !t.notes.IsZero() {
			refspecs = append(refspecs, r.refspec(notes, string(id)))
		}
		if !t.branch.IsZero() {
			refspecs = append(refspecs, r.refspec(r.branches(), string(id)))
		}
	}
	if len(refspecs) > maxExact {
		return []string{r.refspec(ledgers, "*"), r.refspec(notes, "*"), r.refspec(r.branches(), "*")}
	}
	return refspecs
}

// maxExact is how many refs are fetched by their names; of more, it is all of them by a pattern. Git compares every ref of the remote with
// every name: 20,000 take minutes.
const maxExact = 500

// bring fetches refs from a source, the remote's name or a URL, to where they land. What an earlier fetch that was killed has left there is overwritten or is
// merged with the rest.
//
// It never says --depth: git would not advance the history of a mission that a shallow clone has. And it fetches
// all blobs, also in a partial clone: there are many small ones, and git would ask for each when it is read.
func (r *Remote) bring(ctx context.Context, source string, refspecs []string) (map[ledger.ID]tips, error) {
	if err := r.awaitLandings(ctx); err != nil {
		return nil, err
	}
	_, err := r.run(ctx, strings.Join(refspecs, "\n")+"\n", "fetch", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-prune",
		"--no-prune-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-show-forced-updates", "--no-filter",
		"--stdin", "--end-of-options", source)
	if err != nil {
		return nil, err
	}
	return r.landed(ctx)
}

// awaitLandings waits until no ref is locked where ours land: a git that was killed leaves its locks.
func (r *Remote) awaitLandings(ctx context.Context) error {
	var locked []string
	top := filepath.FromSlash(r.landings())
	err := filepath.WalkDir(filepath.Join(r.repo.CommonDir, top), func(path string, _ fs.DirEntry, err error) error {
		if ref, ok := strings.CutSuffix(path, ".lock"); ok {
			ref, _ = filepath.Rel(r.repo.CommonDir, ref)
			locked = append(locked, filepath.ToSlash(ref))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err = r.repo.AwaitLocks(ctx, locked...)
	return err
}

// landed returns what is to be merged.
func (r *Remote) landed(ctx context.Context) (map[ledger.ID]tips, error) {
	refs, err := r.repo.Refs(ctx, r.landings())
	if err != nil {
		return nil, err
	}
	original := make(map[string]plumbing.Hash, len(refs))
	for ref, hash := range refs {
		for _, namespace := range []string{ledgers, notes, r.branches()} {
			if name, ok := strings.CutPrefix(ref, r.landing(namespace)); ok {
				original[namespace+name] = hash
			}
		}
	}
	return r.byMission(original), nil
}

// clear removes what was brought, if it can: to delete a ref git locks packed-refs, and that lock of a git that
// was killed, whosever it was, is nobody's to remove but the user's. What stays does no harm; the next fetch tries again.
// The objects stay until git collects them.
func (r *Remote) clear(ctx context.Context) error {
	refs, err := r.repo.Refs(ctx, r.landings())
	if err != nil || len(refs) == 0 {
		return err
	}
	var updates []git.Update
	for ref, hash := range refs {
		updates = append(updates, git.Update{Ref: ref, Old: hash})
	}
	_ = r.move(ctx, updates)
	return nil
}

// look brings what a source has under the name of one mission, for a comparison.
func (r *Remote) look(ctx context.Context, source string, id ledger.ID) (tips, error) {
	unlock, err := r.lock(ctx, "fetch")
	if err != nil {
		return tips{}, err
	}
	defer unlock()
	arrived, err := r.bring(ctx, source, r.refspecs(id))
	if err != nil {
		return tips{}, err
	}
	return arrived[id], r.clear(ctx)
}
