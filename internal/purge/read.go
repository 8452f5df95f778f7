package purge

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
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

// read is [git.Objects.Read] with what was read ahead.
func (r *Rewrite) read(t plumbing.ObjectType, hash git.Hash, most int64) ([]byte, error) {
	if obj := r.cache[hash]; obj != nil && obj.Type == t && int64(len(obj.Content)) <= most {
		return obj.Content, nil
	}
	return r.Objects.Read(t, hash, most)
}

// write stages an object. It flushes at times: nothing refers to it yet.
func (r *Rewrite) write(t plumbing.ObjectType, content []byte) (git.Hash, error) {
	if r.staged += len(content); r.staged > held {
		if err := r.Objects.Flush(); err != nil {
			return git.Hash{}, err
		}
		r.Objects.Forget()
		r.staged = 0
	}
	return r.Objects.Write(t, content)
}

// each reads objects and passes on those that can be read.
func (r *Rewrite) each(ctx context.Context, list []git.Hash, most int64, f func(hash git.Hash, content []byte) error) error {
	wanted := make([]git.Wanted, len(list))
	for i, hash := range list {
		wanted[i] = git.Wanted{Hash: hash, Most: most}
	}
	return r.Objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err != nil {
			return ctx.Err() // reported where it is needed
		}
		return f(list[i], obj.Content)
	})
}

// prefetch reads commits and what is new in their trees, level by level: asking
// git for single objects takes ten times as long. It forgets earlier reads.
func (r *Rewrite) prefetch(ctx context.Context, commits []git.Hash) error {
	clear(r.cache)
	next := commits
	seen := map[git.Hash]bool{}
	size := 0
	for len(next) > 0 {
		wanted := make([]git.Wanted, len(next))
		for i, hash := range next {
			wanted[i] = git.Wanted{Hash: hash, Most: small}
		}
		next = nil
		want := func(hash git.Hash) {
			if !seen[hash] && !r.looked[hash] {
				seen[hash] = true
				next = append(next, hash)
			}
		}
		err := r.Objects.Each(wanted, func(_ int, obj *git.Object, err error) error {
			if err != nil {
				return ctx.Err()
			}
			if size += len(obj.Content); size > held {
				return errEnough
			}
			r.cache[obj.Hash] = obj
			r.looked[obj.Hash] = true
			switch obj.Type {
			case plumbing.CommitObject:
				if c, err := git.ParseCommit(obj.Content); err == nil {
					want(c.Tree)
				}
			case plumbing.TreeObject:
				list, _ := entries(obj.Content, obj.Hash.Format())
				for _, e := range list {
					if e.mode == isDir || e.mode == isFile || e.mode == isLink {
						want(e.hash)
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
