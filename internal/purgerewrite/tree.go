package purgerewrite

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// An entry is a tree's as stored, so that what stays is the same byte for byte:
// even modes that git does not write, or duplicate names.
type entry struct {
	head []byte // mode, blank, name and NUL
	mode uint64 // its kind
	name string
	hash object.Hash
}

// The kinds of entries.
const (
	isDir  = 0o040000
	isLink = 0o120000
	isFile = 0o100000
	kindOf = 0o170000
)

var errTree = errors.New("not a tree")

func entries(content []byte, format object.Format) ([]entry, error) {
	var list []entry
	for len(content) > 0 {
		end := bytes.IndexByte(content, 0) + 1
		mode, name, ok := strings.Cut(string(content[:max(0, end-1)]), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		e := entry{head: content[:end], mode: bits & kindOf, name: name}
		if !ok || err != nil || len(content)-end < format.Size() {
			return nil, errTree
		}
		e.hash = format.Hash(content[end:])
		content = content[end+format.Size():]
		list = append(list, e)
	}
	return list, nil
}

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
	var list []entry
	if err == nil {
		list, err = entries(content, hash.Format())
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
		here.Path = join(at.Path, r.cleanText(e.name))
		to, below := e.hash, only.at(e.name)
		switch {
		case below != nil && below.whole && e.mode != isDir:
			r.find(here, LeftOut, 1)
			leave(r.cleanText(e.name))
			continue
		case r.holds([]byte(e.name)):
			here.Kind = FileName
			r.find(here, LeftOut, 1)
			if e.mode == isDir {
				leave(r.cleanText(e.name) + "/")
			} else {
				leave(r.cleanText(e.name))
			}
			continue
		case e.mode == isDir:
			sub, err := r.tree(ctx, here, e.hash, below)
			if err != nil {
				return same, err
			}
			for _, path := range sub.left {
				leave(e.name + "/" + path)
			}
			if to = sub.hash; to.IsZero() {
				continue
			}
		case e.mode == isFile || e.mode == isLink:
			file, err := r.blob(ctx, here, e.hash, plain)
			if err != nil {
				return same, err
			}
			if to = file.hash; to.IsZero() {
				leave(e.name)
				continue
			}
		}
		out = hash.Format().Append(append(out, e.head...), to)
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
