package gitnotes

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

// A Store holds objects, as [git.Objects] does for a repository.
type Store interface {
	// Read returns the content of an object of the given type, which nobody may
	// change. If there is none, the error wraps [plumbing.ErrObjectNotFound].
	// For one of more than most bytes it wraps [object.ErrTooLarge]. That should
	// cost no memory: notes may be untrusted.
	Read(t plumbing.ObjectType, h object.Hash, most int64) ([]byte, error)
	// Format is the object format of the store.
	Format() object.Format
	// Write stores an object and returns its hash.
	Write(t plumbing.ObjectType, content []byte) (object.Hash, error)
}

// Limits on what is read, far above what git writes.
const (
	maxCommit  = 1 << 20 // bytes
	maxTree    = 8 << 20 // bytes
	maxNote    = 4 << 20 // bytes
	maxEntries = 1 << 18 // of trees, per Notes
)

func readCommit(s Store, hash object.Hash) (*object.Commit, error) {
	return load(s, plumbing.CommitObject, hash, maxCommit, object.ParseCommit)
}

func readTree(s Store, hash object.Hash) ([]object.TreeEntry, error) {
	return load(s, plumbing.TreeObject, hash, maxTree, func(content []byte) ([]object.TreeEntry, error) { return object.ParseTree(s.Format(), content) })
}

func load[T any](s Store, t plumbing.ObjectType, hash object.Hash, most int64, parse func([]byte) (T, error)) (T, error) {
	var on T
	content, err := s.Read(t, hash, most)
	if err == nil {
		on, err = parse(content)
	}
	if err != nil {
		return on, fmt.Errorf("read notes %s %s: %w", t, hash, err)
	}
	return on, nil
}
