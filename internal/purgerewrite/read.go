package purgerewrite

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

const (
	// together is how many commits are read at once, with their new objects.
	together = 256
	// small is the size in bytes of the largest object that is read ahead.
	small = 1 << 20
	// held bounds, roughly, the bytes of what is read ahead or staged.
	held = 64 << 20
)

var errEnough = errors.New("enough")

// A store reads many objects at once, and writes new ones.
type store struct {
	Objects *git.Objects

	staged int                         // bytes written since the last flush, about
	cache  map[object.Hash]*git.Object // that were read together
	looked map[object.Hash]bool        // objects that were read ahead, and need not be again
}

// read is [git.Objects.Read] with what was read ahead.
func (s *store) read(t plumbing.ObjectType, hash object.Hash, most int64) ([]byte, error) {
	if obj := s.cache[hash]; obj != nil && obj.Type == t && int64(len(obj.Content)) <= most {
		return obj.Content, nil
	}
	return s.Objects.Read(t, hash, most)
}

// write stages an object. It flushes at times: nothing refers to it yet.
func (s *store) write(t plumbing.ObjectType, content []byte) (object.Hash, error) {
	if s.staged += len(content); s.staged > held {
		if err := s.Objects.Flush(); err != nil {
			return object.Hash{}, err
		}
		s.Objects.Forget()
		s.staged = 0
	}
	return s.Objects.Write(t, content)
}

// each reads objects and passes on those that can be read.
func (s *store) each(ctx context.Context, list []object.Hash, most int64, f func(hash object.Hash, content []byte) error) error {
	wanted := make([]git.Wanted, len(list))
	for i, hash := range list {
		wanted[i] = git.Wanted{Hash: hash, Most: most}
	}
	return s.Objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err != nil {
			return ctx.Err() // reported where it is needed
		}
		return f(list[i], obj.Content)
	})
}

// prefetch reads commits and what is new in their trees, level by level: asking
// git for single objects takes ten times as long. It forgets earlier reads.
func (s *store) prefetch(ctx context.Context, commits []object.Hash) error {
	clear(s.cache)
	next := commits
	seen := map[object.Hash]bool{}
	size := 0
	for len(next) > 0 {
		wanted := make([]git.Wanted, len(next))
		for i, hash := range next {
			wanted[i] = git.Wanted{Hash: hash, Most: small}
		}
		next = nil
		want := func(hash object.Hash) {
			if !seen[hash] && !s.looked[hash] {
				seen[hash] = true
				next = append(next, hash)
			}
		}
		err := s.Objects.Each(wanted, func(_ int, obj *git.Object, err error) error {
			if err != nil {
				return ctx.Err()
			}
			if size += len(obj.Content); size > held {
				return errEnough
			}
			s.cache[obj.Hash] = obj
			s.looked[obj.Hash] = true
			switch obj.Type {
			case plumbing.CommitObject:
				if c, err := object.ParseCommit(obj.Content); err == nil {
					want(c.Tree)
				}
			case plumbing.TreeObject:
				list, _ := object.ParseRawTree(obj.Hash.Format(), obj.Content)
				for _, e := range list {
					if e.Kind() == filemode.Dir || e.Kind() == isFile || e.Kind() == filemode.Symlink {
						want(e.Hash)
					}
				}
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}
