package gitnotes

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// A Store holds objects. That of a repository is [git.Objects].
type Store interface {
	// Read returns the content of an object of the given type, which nobody may change. If there is
	// none, the error wraps [plumbing.ErrObjectNotFound].
	Read(plumbing.ObjectType, plumbing.Hash) ([]byte, error)
	// Write stores an object and returns its hash.
	Write(t plumbing.ObjectType, content []byte) (plumbing.Hash, error)
}

func readCommit(s Store, hash plumbing.Hash) (*git.Commit, error) {
	return load(s, plumbing.CommitObject, hash, git.ParseCommit)
}

func readTree(s Store, hash plumbing.Hash) ([]git.TreeEntry, error) {
	return load(s, plumbing.TreeObject, hash, git.ParseTree)
}

func load[T any](s Store, t plumbing.ObjectType, hash plumbing.Hash, parse func([]byte) (T, error)) (T, error) {
	var object T
	content, err := s.Read(t, hash)
	if err == nil {
		object, err = parse(content)
	}
	if err != nil {
		return object, fmt.Errorf("read notes %s %s: %w", t, hash, err)
	}
	return object, nil
}
