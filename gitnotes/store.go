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
	var c *git.Commit
	content, err := s.Read(plumbing.CommitObject, hash)
	if err == nil {
		c, err = git.ParseCommit(content)
	}
	if err != nil {
		return nil, fmt.Errorf("read notes commit %s: %w", hash, err)
	}
	return c, nil
}

func readTree(s Store, hash plumbing.Hash) ([]git.TreeEntry, error) {
	var entries []git.TreeEntry
	content, err := s.Read(plumbing.TreeObject, hash)
	if err == nil {
		entries, err = git.ParseTree(content)
	}
	if err != nil {
		return nil, fmt.Errorf("read notes tree %s: %w", hash, err)
	}
	return entries, nil
}
