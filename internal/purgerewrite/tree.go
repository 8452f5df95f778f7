package purgerewrite

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// isFile is the kind of files, whatever their permissions.
const isFile filemode.FileMode = 0o100000

// A pruned is what replaces a tree, and the paths below it that it leaves out.
type pruned struct {
	hash object.Hash // zero if nothing is left of it
	left []string
}

type treeKey struct {
	hash object.Hash
	only *paths
}

// paths are the files that are taken out of trees, whatever they hold.
type paths struct {
	whole bool
	below map[string]*paths
}

func (p *paths) add(file string) {
	for name := range strings.SplitSeq(file, "/") {
		if p.below == nil {
			p.below = make(map[string]*paths)
		}
		if p.below[name] == nil {
			p.below[name] = new(paths)
		}
		p = p.below[name]
	}
	p.whole = true
}

func (p *paths) at(name string) *paths {
	if p == nil {
		return nil
	}
	return p.below[name]
}

// tree returns what replaces a tree of a state at a place.
func (r *Rewrite) tree(ctx context.Context, at Place, hash object.Hash, only *paths) (pruned, error) {
	key := treeKey{hash, only}
	if done, ok := r.trees[key]; ok {
		return done, nil
	}
	if r.clean(hash) {
		return pruned{hash: hash}, nil
	}
	done, err := r.rewriteTree(ctx, at, hash, only)
	if err == nil {
		r.trees[key] = done
		if done.hash != hash {
			r.replaced[hash] = done.hash
		}
	}
	return done, err
}

func (r *Rewrite) rewriteTree(ctx context.Context, at Place, hash object.Hash, only *paths) (pruned, error) {
	same := pruned{hash: hash}
	content, err := r.read(plumbing.TreeObject, hash, git.MaxTree)
	var list []object.RawEntry
	if err == nil {
		list, err = object.ParseRawTree(hash.Format(), content)
	}
	if err != nil {
		return same, r.unread(ctx, at, err)
	}
	out := make([]byte, 0, len(content))
	var done pruned
	leave := func(path string) {
		if len(done.left) < record.MaxSkipped {
			done.left = append(done.left, path)
		}
	}
	for _, e := range list {
		here := at
		here.Path = join(at.Path, r.cleanText(e.Name))
		to, below := e.Hash, only.at(e.Name)
		switch {
		case below != nil && below.whole && e.Kind() != filemode.Dir:
			r.find(here, LeftOut, 1)
			leave(r.cleanText(e.Name))
			continue
		case r.named(e.Name):
			here.Kind = FileName
			r.find(here, LeftOut, 1)
			if e.Kind() == filemode.Dir {
				leave(r.cleanText(e.Name) + "/")
			} else {
				leave(r.cleanText(e.Name))
			}
			continue
		case e.Kind() == filemode.Dir:
			sub, err := r.tree(ctx, here, e.Hash, below)
			if err != nil {
				return same, err
			}
			for _, path := range sub.left {
				leave(e.Name + "/" + path)
			}
			if to = sub.hash; to.IsZero() {
				continue
			}
		case e.Kind() == isFile || e.Kind() == filemode.Symlink:
			file, err := r.blob(ctx, here, e.Hash, plain)
			if err != nil {
				return same, err
			}
			if to = file.hash; to.IsZero() {
				leave(e.Name)
				continue
			}
		}
		out = hash.Format().Append(append(out, e.Head...), to)
	}
	switch {
	case bytes.Equal(out, content):
		done.hash = hash
	case len(out) > 0:
		done.hash, err = r.write(plumbing.TreeObject, out)
	}
	return done, err
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
