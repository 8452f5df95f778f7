// Package archive keeps missions without refs: an index, and commits that keep
// their objects. Both depend only on the set of missions, so any order of
// additions, removals and merges gives the same hashes. docs/format.md
// specifies them.
//
// The index is a commit with 256 files, by the first two digits of ids; a
// look-up reads one. A clone can have it without the keeping commits.
package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// The refs of the archive.
const (
	IndexRef = "refs/agent/archive"
	KeepRef  = "refs/agent/archive-keep"
)

// SeenRefs is the prefix of remotes' archives as last seen: an escaped remote
// name, then "index" and perhaps "keep". They serve fetches only.
const SeenRefs = "refs/agent/archives/"

// Limits in bytes of an index, which may be untrusted.
const (
	maxFile = 16 << 20
	maxDir  = 1 << 20
)

// who makes all commits, before any commit of git's, so that git does not walk
// into them to find what two repositories have in common.
var who = git.Signature{Name: "git-agent", Email: "git-agent@localhost", When: time.Unix(1_000_000_000, 0).UTC()}

// Tip returns the index among refs, zero for none. The error wraps
// [git.ErrDamaged] if its ref holds no hash, or is gone while KeepRef exists:
// nothing may then replace it.
func Tip(refs map[string]git.Hash) (git.Hash, error) {
	tip, ok := refs[IndexRef]
	if ok && tip.IsZero() || !ok && !refs[KeepRef].IsZero() {
		return tip, fmt.Errorf("read the archive: %s is %w", IndexRef, git.ErrDamaged)
	}
	return tip, nil
}

// Moves returns the updates of the archive's refs to x and to its [Stem], in an
// order that never leaves the latter alone. It stages new commits.
func (x *Index) Moves(refs map[string]git.Hash) (moves []git.Update, err error) {
	keep, err := x.Keep()
	if err == nil {
		keep, err = Stem(x.objects, keep)
	}
	if err != nil {
		return nil, err
	}
	for _, m := range []git.Update{{Ref: IndexRef, New: x.Tip, Old: refs[IndexRef]}, {Ref: KeepRef, New: keep, Old: refs[KeepRef]}} {
		if m.New != m.Old {
			moves = append(moves, m)
		}
	}
	if x.Tip.IsZero() {
		slices.Reverse(moves)
	}
	return moves, nil
}

// An Index is the missions of an archive. It is not safe for concurrent use.
type Index struct {
	Tip     git.Hash
	objects *git.Objects
	files   map[string]git.Entry

	// last is the last file read: look-ups of many are in order of ids.
	last struct {
		name    string
		entries []Entry
		err     error
	}
}

// Open opens the index of a commit.
func Open(objects *git.Objects, tip git.Hash) (*Index, error) {
	x := &Index{Tip: tip, objects: objects}
	if tip.IsZero() {
		return x, nil
	}
	tree, err := objects.TreeOf(tip)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	top, err := objects.Tree(tree, maxDir)
	if err == nil {
		x.files, err = objects.Tree(top["missions"].Hash, maxDir)
	}
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	return x, nil
}

// IndexCommit returns the content of the commit of an index with a tree.
func IndexCommit(tree git.Hash) []byte {
	c := git.Commit{Tree: tree, Author: who, Committer: who, Message: "archive\n"}
	return c.Encode()
}

// Find returns a mission's entry. ok is false if it is missing or removed.
func (x *Index) Find(id record.ID) (e Entry, ok bool, err error) {
	if len(id) < 2 {
		return Entry{}, false, nil
	}
	entries, err := x.file(string(id[:2]))
	i, ok := slices.BinarySearchFunc(entries, id, func(e Entry, id record.ID) int { return cmp.Compare(e.ID, id) })
	if !ok {
		return Entry{}, false, err
	}
	return entries[i], !entries[i].Gone(), nil
}

// Like returns the missions of an id prefix, in order, but no removed ones.
func (x *Index) Like(digits string) (found []Entry, err error) {
	for e, err := range x.from(digits) {
		if err != nil {
			return found, err
		}
		if !e.Gone() && strings.HasPrefix(string(e.ID), digits) {
			found = append(found, e)
		}
	}
	return found, nil
}

// All yields all entries in order of ids, removed missions too. An unreadable
// file is an error in its entries' place.
func (x *Index) All() iter.Seq2[Entry, error] { return x.from("") }

func (x *Index) from(digits string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		digits = digits[:min(len(digits), 2)]
		for _, name := range slices.Sorted(maps.Keys(x.files)) {
			if len(name) != 2 || name[:len(digits)] != digits {
				continue
			}
			entries, err := x.file(name)
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil && !yield(Entry{}, err) {
				return
			}
		}
	}
}

// file returns the valid entries of a file.
func (x *Index) file(name string) ([]Entry, error) {
	f, ok := x.files[name]
	if !ok || f.Mode != filemode.Regular {
		return nil, nil
	}
	if x.last.name == name {
		return x.last.entries, x.last.err
	}
	content, err := x.objects.Blob(f.Hash, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read the archive's missions %s: %w", name, err)
	}
	entries, err := decode(name, content, x.objects.Format())
	if err != nil {
		err = fmt.Errorf("read the archive's missions %s: %w", name, err)
	}
	x.last.name, x.last.entries, x.last.err = name, entries, err
	return entries, err
}

// With stages x with changed entries; a zero Entry removes one without a trace.
// The tip of an empty index is zero. Changed files lose invalid lines.
func (x *Index) With(changes map[record.ID]Entry) (*Index, error) {
	byFile := make(map[string][]record.ID)
	for id := range changes {
		if !id.Valid() {
			return nil, fmt.Errorf("archive mission %q: that is no id", id)
		}
		name := string(id[:2])
		byFile[name] = append(byFile[name], id)
	}
	out := &Index{objects: x.objects, files: maps.Clone(x.files)}
	if out.files == nil {
		out.files = make(map[string]git.Entry)
	}
	for name, ids := range byFile {
		entries, err := x.file(name)
		if err != nil && entries == nil {
			return nil, err
		}
		all := make(map[record.ID]Entry, len(entries)+len(ids))
		for _, e := range entries {
			all[e.ID] = e
		}
		for _, id := range ids {
			if delete(all, id); changes[id] != (Entry{}) {
				all[id] = changes[id]
			}
		}
		if len(all) == 0 {
			delete(out.files, name)
			continue
		}
		content, err := encode(all)
		if err != nil {
			return nil, err
		}
		blob, err := x.objects.Write(plumbing.BlobObject, content)
		if err != nil {
			return nil, err
		}
		out.files[name] = git.Entry{Mode: filemode.Regular, Hash: blob}
	}
	if len(out.files) == 0 {
		return out, nil
	}
	tree := make(map[string]git.Entry, len(out.files))
	for name, f := range out.files {
		tree["missions/"+name] = f
	}
	top, err := x.objects.EditTree(git.Hash{}, tree)
	if err != nil {
		return nil, err
	}
	out.Tip, err = x.objects.Write(plumbing.CommitObject, IndexCommit(top))
	return out, err
}

// Unite stages the union of two indexes, with the [later] entry of a mission.
// What the other one has in addition becomes a mission of its own: side returns
// its id, "" if the first commit contains the second.
func (x *Index) Unite(other *Index, side func(commit, besides git.Hash) (record.ID, error)) (*Index, error) {
	changes := make(map[record.ID]Entry)
	at := func(id record.ID) (Entry, error) {
		if e, ok := changes[id]; ok {
			return e, nil
		}
		e, _, err := x.Find(id)
		return e, err
	}
	for theirs, err := range other.All() {
		if err != nil {
			return nil, err
		}
		for range maxDiverged { // a diverged part may meet one of its name
			ours, err := at(theirs.ID)
			if err != nil {
				return nil, err
			}
			if ours == theirs {
				break
			}
			stays, goes := ours, theirs
			if ours.ID == "" || later(theirs, ours) {
				stays, goes = theirs, ours
				changes[stays.ID] = stays
			}
			if goes.Gone() {
				break
			}
			id, err := side(stays.last(), goes.Ledger)
			if err != nil {
				return nil, err
			}
			if id == "" {
				break
			}
			theirs = goes
			theirs.ID = id
		}
	}
	return x.With(changes)
}

// maxDiverged bounds the diverged parts with the same name.
const maxDiverged = 16

// later reports whether a stays: by later event, more turns, or removal, or
// else in a fixed order.
func later(a, b Entry) bool {
	switch {
	case a.At != b.At:
		return a.At > b.At
	case a.Turns != b.Turns:
		return a.Turns > b.Turns
	case a.Gone() != b.Gone():
		return a.Gone()
	}
	return bytes.Compare(a.line(), b.line()) < 0
}

// maxParents is a keeping commit's limit: git's tools become slow with more.
const maxParents = 64

// Keep stages the commits that keep an index's objects, and returns the last,
// for a remote's ref; zero for an empty index.
func (x *Index) Keep() (git.Hash, error) {
	var tips []git.Hash
	for e, err := range x.All() {
		if err != nil {
			return git.Hash{}, err
		}
		tips = append(tips, e.tips()...)
	}
	slices.SortFunc(tips, git.Hash.Compare)
	tips = slices.Compact(tips)
	if len(tips) == 0 {
		return git.Hash{}, nil
	}
	empty, err := x.objects.EmptyTree()
	if err != nil {
		return git.Hash{}, err
	}
	return x.keep(empty, tips, 0)
}

// keep stages the commit that keeps sorted tips with digits common digits, or a
// commit per next digit, so that a new mission changes few of them.
func (x *Index) keep(tree git.Hash, tips []git.Hash, digits int) (git.Hash, error) {
	parents := tips
	if len(tips) > maxParents {
		parents = nil
		for len(tips) > 0 {
			next := tips[0].String()[digits]
			n := 1
			for n < len(tips) && tips[n].String()[digits] == next {
				n++
			}
			commit, err := x.keep(tree, tips[:n], digits+1)
			if err != nil {
				return git.Hash{}, err
			}
			parents, tips = append(parents, commit), tips[n:]
		}
	}
	return x.objects.CommitTree(tree, parents, who, who, "kept\n")
}

var errOrder = errors.New("its lines are not in order")
