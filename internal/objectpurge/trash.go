package objectpurge

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gitagent/internal/git"
)

// asideName is an object directory for what is to go. Git ignores it.
const asideName = "agent-erased"

// trash moves a file from the objects to the trash.
func (e *eraser) trash(file string) error {
	name, err := filepath.Rel(e.dir, file)
	if err == nil {
		_, err = os.Lstat(file)
	}
	if err != nil {
		return err
	}
	to := filepath.Join(e.aside, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.Rename(file, to)
}

// restore moves a dead predecessor's trash back: it may be needed again.
func (e *eraser) restore() error {
	var list []string
	err := filepath.WalkDir(e.aside, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range inOrder(list, ".keep") {
		name, err := filepath.Rel(e.aside, file)
		if err != nil {
			return err
		}
		to := filepath.Join(e.dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(file, to); err != nil {
			return err
		}
	}
	return os.RemoveAll(e.aside)
}

// takeBack restores what something leads to again. A git that finds an object
// does not write it, and may have counted on those in the trash.
func (e *eraser) takeBack(ctx context.Context, own func(Root) bool) ([]Root, error) {
	if _, err := os.Lstat(e.aside); err != nil {
		return nil, nil // nothing was put there
	}
	if err := e.awaitIndexes(ctx); err != nil {
		return nil, err
	}
	if err := e.makeTemp(); err != nil {
		return nil, err
	}
	all := e.repo.With(git.Env("GIT_OBJECT_DIRECTORY=" + e.temp)) // with the trash
	leading, err := FindReferrers(ctx, all, e.doomed)
	if err != nil {
		return nil, err
	}
	roots, err := leading.Roots(ctx, all, nil)
	if err != nil {
		return nil, err
	}
	roots = slices.DeleteFunc(roots, func(r Root) bool { return own != nil && own(r) })
	goes := leading.Without(roots)
	var needed bytes.Buffer
	for h := range e.gone {
		if !goes[h] {
			delete(e.gone, h)
			needed.WriteString(h.String() + "\n")
		}
	}
	if needed.Len() == 0 {
		return nil, nil
	}
	base, err := e.pack(ctx, &needed, false)
	if err == nil {
		err = e.install(ctx, filepath.Base(base), time.Now())
	}
	return roots, err
}

// adding bounds how long a git may add files to an index that it has locked.
const adding = 10 * time.Second

// awaitIndexes waits for gits that add files, whose indexes lead to them soon.
func (e *eraser) awaitIndexes(ctx context.Context) error {
	const written = time.Second // since when a non-empty index counts as complete
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for _, file := range append(e.repo.Glob("index.lock"), e.repo.Glob("worktrees/*/index.lock")...) {
		for {
			info, err := os.Lstat(file)
			if err != nil || time.Since(info.ModTime()) > adding || info.Size() > 0 && time.Since(info.ModTime()) > written {
				break
			}
			select {
			case <-poll.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// drop deletes the trash, renamed first: half of it must not be restored.
func (e *eraser) drop() error {
	if err := e.makeTemp(); err != nil {
		return err
	}
	if err := os.Rename(e.aside, filepath.Join(e.temp, "gone")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(e.temp)
}
