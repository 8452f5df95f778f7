// Package objectpurge removes objects from a repository for good: loose ones,
// and those in packs, which are rewritten. All others stay, even if
// unreachable.
//
//	referrers.go  what leads to doomed objects: trees, commits and tags
//	roots.go      what keeps them: refs, logs (also reftable.go), files
//	logs.go       entries out of the logs of refs
//	objects.go    the objects, with pack.go, packindex.go and stray.go
//	trash.go      where they are until nothing leads to them for certain
//	search.go     whether a secret is still in any object or file
//
// A caller moves its refs, then:
//
//	leading, err := objectpurge.FindReferrers(ctx, repo, doomed)
//	roots, err := leading.Roots(ctx, repo, has)
//	err = objectpurge.Forget(ctx, repo, logs)  // the logs among the roots
//	goes := leading.Without(others)            // the user's roots, which stay
//	report, err := objectpurge.Objects(ctx, repo, goes, own)
//	found, err := objectpurge.Search(ctx, repo, has)
package objectpurge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
)

// A Result says what was done.
type Result struct {
	Loose, Packs int // loose objects removed; packs rewritten or removed
	Objects      int // that are gone

	// Taken are new roots, found by a git meanwhile. Their objects are back.
	Taken []Root

	// Elsewhere are object directories that this repository borrows from and
	// that have doomed objects. They are not touched.
	Elsewhere []string
}

// ErrCollecting reports a running `git gc`, which may copy objects it had read.
// All are erased, but must be erased again when it has ended.
var ErrCollecting = errors.New("a git gc is running")

// Objects removes the doomed objects. No root other than those that own accepts
// (nil for none) may lead to one, and what refers to one must be doomed too,
// see [Referrers.Without]. It can be killed and repeated, and loses nothing
// else. The error wraps [ErrCollecting] while git collects garbage.
func Objects(ctx context.Context, repo *git.Repo, doomed map[object.Hash]bool, own func(Root) bool) (Result, error) {
	var report Result
	if len(doomed) == 0 {
		return report, nil
	}
	// A roll-up of packs would copy what is erased. Our gits hold the lock.
	held, err := statedir.Of(repo.CommonDir).Lock(ctx, filepath.Join("locks", "packs"))
	if err != nil {
		return report, err
	}
	defer held.Release()
	e := eraser{
		store:  store{quiet(repo).With(git.Holding(held.File())), filepath.Join(repo.CommonDir, "objects")},
		doomed: doomed, gone: make(map[object.Hash]bool), clean: make(map[string]bool),
	}
	e.temp, e.aside = filepath.Join(e.dir, tempName), filepath.Join(e.dir, asideName)
	tables := append(Tables(repo), filepath.Join(e.dir, "info")+"/", e.packDir()+"/") // where git locks tables
	if err = git.DropLeft(ctx, held); err == nil {
		err = held.With(statedir.Note{Words: tables}, func() error { return e.erase(ctx, &report, own) })
	}
	if err != nil {
		return report, fmt.Errorf("erase %d objects: %w", len(doomed), err)
	}
	return report, nil
}

// tempName is where packs are written. By its prefix git may prune it.
const tempName = "tmp_agent-erase"

type eraser struct {
	store
	doomed map[object.Hash]bool
	temp   string
	aside  string

	gone  map[object.Hash]bool
	clean map[string]bool // packs without doomed objects, by name
}

func (e *eraser) erase(ctx context.Context, report *Result, own func(Root) bool) error {
	if err := os.RemoveAll(e.temp); err != nil { // what our dead predecessor left
		return err
	}
	defer os.RemoveAll(e.temp)
	if err := e.restore(); err != nil {
		return err
	}
	if err := e.writeGraph(ctx); err != nil {
		return err
	}
	collecting := false
	for {
		collecting = git.GCRuns(e.repo)
		loose, err := e.loose()
		if err != nil {
			return err
		}
		packs, err := e.packs(ctx)
		if err != nil {
			return err
		}
		report.Loose += loose
		report.Packs += packs
		if loose+packs == 0 {
			break // nothing was copied meanwhile
		}
	}
	var err error
	if report.Taken, err = e.takeBack(ctx, own); err == nil {
		err = e.drop()
	}
	if err != nil {
		return err
	}
	if collecting {
		return ErrCollecting
	}
	if err := e.dropGarbage(ctx); err != nil {
		return err
	}
	if err := dropLost(ctx, e.repo); err != nil {
		return err
	}
	report.Objects = len(e.gone)
	others, err := e.alternates(ctx)
	for _, dir := range others {
		has, e := store{e.repo, dir}.having(ctx, e.doomed)
		if err = errors.Join(err, e); len(has) > 0 {
			report.Elsewhere = append(report.Elsewhere, dir)
		}
	}
	return err
}

// loose moves loose doomed objects to the trash.
func (e *eraser) loose() (n int, err error) {
	for h := range e.doomed {
		switch err := e.trash(e.looseFile(h)); {
		case err == nil:
			n++
			e.gone[h] = true
		case !errors.Is(err, fs.ErrNotExist):
			return n, err
		}
	}
	return n, nil
}

// packs moves dirty packs to the trash, once the rest is in new ones.
func (e *eraser) packs(ctx context.Context) (n int, err error) {
	names, err := e.packNames()
	if err != nil {
		return 0, err
	}
	var old []string
	for _, name := range names {
		if e.clean[name] {
			continue
		}
		list, err := e.entries(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // git has repacked meanwhile
		}
		if err != nil {
			return 0, err
		}
		dirty := false
		for _, o := range list {
			if e.doomed[o.Hash] {
				dirty, e.gone[o.Hash] = true, true
			}
		}
		if !dirty {
			e.clean[name] = true
			continue
		}
		if err := e.rewritePack(ctx, name, list); err != nil {
			return 0, fmt.Errorf("rewrite %s: %w", name, err)
		}
		old = append(old, name)
	}
	if len(old) == 0 {
		return 0, nil
	}
	if err := e.writeMultiPackIndex(ctx, old); err != nil {
		return 0, err
	}
	for _, name := range old {
		if err := e.trashPack(name); err != nil {
			return 0, err
		}
	}
	return len(old), nil
}

// quiet returns the repository with a git that never fetches removed objects,
// as in a partial clone. Before 2.45 only the second variable prevents that.
func quiet(repo *git.Repo) *git.Repo {
	return repo.With(git.Env("GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"))
}
