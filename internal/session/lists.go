package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"gitagent/internal/limit"
)

// Files that are derived from the missions, for lists of many, in the store's
// directory. They can be made again, and go when a mission is forgotten; the
// second has titles and prompts, the third names files.
const (
	SeenFile     = "seen"     // of package workspace
	MissionsFile = "missions" // of package turns
	CommitsFile  = "commits"  // of package blame
	Fresh        = ".new"     // behind the name of one that is being written
	listsLock    = "lists"    // of who writes them
	PurgeLock    = "purge"    // of who purges
)

// WriteList writes such a file unless another process writes one, or purges.
// make returns its content: what it has read may have been forgotten meanwhile,
// and nothing is from now on.
func (s Store) WriteList(name string, make func() ([]byte, error)) error {
	for _, lock := range []string{PurgeLock, listsLock} {
		held, err := s.TryLock(lock)
		if held == nil {
			return err
		}
		defer held.Release()
	}
	list, err := make()
	if err == nil {
		err = s.dir.WriteFile(name+Fresh, list)
	}
	if err == nil {
		err = s.dir.Rename(name+Fresh, name)
	}
	if err != nil {
		_ = s.dir.Remove(name + Fresh) // a part of it would fill what a full disk has left
		return fmt.Errorf("note what lists need in %s: %w", name, err)
	}
	return nil
}

// forgetLists removes what has texts. The missions' refs are gone before.
func (s Store) forgetLists(ctx context.Context) error {
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Lock)
	defer cancel()
	held, err := s.Lock(ctx, listsLock)
	if err != nil {
		return err
	}
	defer held.Release()
	for _, name := range []string{MissionsFile, MissionsFile + Fresh, CommitsFile, CommitsFile + Fresh} {
		if err := s.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
