package gitnotes

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// A Store holds objects, as [git.Objects] does for a repository.
type Store interface {
	// Read returns the content of an object of the given type, which nobody may
	// change. If there is none, the error wraps [plumbing.ErrObjectNotFound].
	// One of more than most bytes is an error, and should cost no memory: notes
	// may be untrusted.
	Read(t plumbing.ObjectType, h git.Hash, most int64) ([]byte, error)
	// Format is the object format of the store.
	Format() git.Format
	// Write stores an object and returns its hash.
	Write(t plumbing.ObjectType, content []byte) (git.Hash, error)
}

// Limits on what is read, far above what git writes.
const (
	maxCommit  = 1 << 20 // bytes
	maxTree    = 8 << 20 // bytes
	maxNote    = 4 << 20 // bytes
	maxEntries = 1 << 18 // of trees, per Notes
)

func readCommit(s Store, hash git.Hash) (*git.Commit, error) {
	return load(s, plumbing.CommitObject, hash, maxCommit, git.ParseCommit)
}

func readTree(s Store, hash git.Hash) ([]git.TreeEntry, error) {
	return load(s, plumbing.TreeObject, hash, maxTree, func(content []byte) ([]git.TreeEntry, error) { return git.ParseTree(s.Format(), content) })
}

func load[T any](s Store, t plumbing.ObjectType, hash git.Hash, most int64, parse func([]byte) (T, error)) (T, error) {
	var object T
	content, err := s.Read(t, hash, most)
	if err == nil {
		object, err = parse(content)
	}
	if err != nil {
		return object, fmt.Errorf("read notes %s %s: %w", t, hash, err)
	}
	return object, nil
}
