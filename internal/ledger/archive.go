package ledger

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
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// The refs of the archive.
const (
	ArchiveRef     = "refs/agent/archive"
	ArchiveKeepRef = "refs/agent/archive-keep"
)

// SeenArchives is the prefix of remotes' archives as last seen: an escaped
// remote name, then "index" and perhaps "keep". They serve fetches only.
const SeenArchives = "refs/agent/archives/"

// Limits in bytes of an archive's index, which may be untrusted.
const (
	maxArchiveFile = 16 << 20
	maxArchiveDir  = 1 << 20
)

// archiver makes all commits of an archive, before any commit of git's, so that
// git does not walk into them to find what two repositories have in common.
var archiver = object.Signature{Name: "git-agent", Email: "git-agent@localhost", When: time.Unix(1_000_000_000, 0).UTC()}

// ArchiveTip returns the index among refs, zero for none. The error wraps
// [git.ErrDamaged] if its ref holds no hash, or is gone while [ArchiveKeepRef]
// exists: nothing may then replace it.
func ArchiveTip(refs map[string]object.Hash) (object.Hash, error) {
	tip, ok := refs[ArchiveRef]
	if ok && tip.IsZero() || !ok && !refs[ArchiveKeepRef].IsZero() {
		return tip, fmt.Errorf("read the archive: %s is %w", ArchiveRef, git.ErrDamaged)
	}
	return tip, nil
}

// Moves returns the updates of the archive's refs to x and to its
// [ArchiveStem], in an order that never leaves the latter alone. It stages new
// commits. refs are at least the archive's and those below their names, which
// give a [*git.InWayError].
func (x *Archive) Moves(refs map[string]object.Hash) (moves []git.Update, err error) {
	if err := git.InWay(refs, ArchiveRef, ArchiveKeepRef); err != nil {
		return nil, err
	}
	keep, err := x.Keep()
	if err == nil {
		keep, err = ArchiveStem(x.objects, keep)
	}
	if err != nil {
		return nil, err
	}
	for _, m := range []git.Update{{Ref: ArchiveRef, New: x.Tip, Old: refs[ArchiveRef]}, {Ref: ArchiveKeepRef, New: keep, Old: refs[ArchiveKeepRef]}} {
		if m.New != m.Old {
			moves = append(moves, m)
		}
	}
	if x.Tip.IsZero() {
		slices.Reverse(moves)
	}
	return moves, nil
}

// An Archive keeps missions without refs: an index, and commits that keep their
// objects. Both depend only on the set of missions, so any order of additions,
// removals and merges gives the same hashes. docs/format.md specifies them. It
// is not safe for concurrent use.
//
// The index is a commit with 256 files, by the first two digits of ids; a
// look-up reads one. A clone can have it without the keeping commits.
type Archive struct {
	Tip     object.Hash
	objects *git.Objects
	files   map[string]object.Entry

	// last is the last file read: look-ups of many are in order of ids.
	last struct {
		name    string
		entries []ArchiveEntry
		err     error
	}
}

// OpenArchive opens the index of a commit.
func OpenArchive(objects *git.Objects, tip object.Hash) (*Archive, error) {
	x := &Archive{Tip: tip, objects: objects}
	if tip.IsZero() {
		return x, nil
	}
	tree, err := objects.TreeOf(tip)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	top, err := objects.Tree(tree, maxArchiveDir)
	if err == nil {
		x.files, err = objects.Tree(top["missions"].Hash, maxArchiveDir)
	}
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	return x, nil
}

// ArchiveCommit returns the content of the commit of an index with a tree.
func ArchiveCommit(tree object.Hash) []byte {
	c := object.Commit{Tree: tree, Author: archiver, Committer: archiver, Message: "archive\n"}
	return c.Encode()
}

// Find returns a mission's entry. ok is false if it is missing or removed.
func (x *Archive) Find(id record.ID) (e ArchiveEntry, ok bool, err error) {
	if len(id) < 2 {
		return ArchiveEntry{}, false, nil
	}
	entries, err := x.file(string(id[:2]))
	i, ok := slices.BinarySearchFunc(entries, id, func(e ArchiveEntry, id record.ID) int { return cmp.Compare(e.ID, id) })
	if !ok {
		return ArchiveEntry{}, false, err
	}
	return entries[i], !entries[i].Gone(), nil
}

// Like returns the missions of an id prefix, in order, but no removed ones.
func (x *Archive) Like(digits string) (found []ArchiveEntry, err error) {
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
func (x *Archive) All() iter.Seq2[ArchiveEntry, error] { return x.from("") }

func (x *Archive) from(digits string) iter.Seq2[ArchiveEntry, error] {
	return func(yield func(ArchiveEntry, error) bool) {
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
			if err != nil && !yield(ArchiveEntry{}, err) {
				return
			}
		}
	}
}

// file returns the valid entries of a file.
func (x *Archive) file(name string) ([]ArchiveEntry, error) {
	f, ok := x.files[name]
	if !ok || f.Mode != filemode.Regular {
		return nil, nil
	}
	if x.last.name == name {
		return x.last.entries, x.last.err
	}
	content, err := x.objects.Blob(f.Hash, maxArchiveFile)
	if err != nil {
		return nil, fmt.Errorf("read the archive's missions %s: %w", name, err)
	}
	entries, err := decodeEntries(name, content, x.objects.Format())
	if err != nil {
		err = fmt.Errorf("read the archive's missions %s: %w", name, err)
	}
	x.last.name, x.last.entries, x.last.err = name, entries, err
	return entries, err
}

// With stages x with changed entries; a zero [ArchiveEntry] removes one without
// a trace. The tip of an empty index is zero. Changed files lose invalid lines.
func (x *Archive) With(changes map[record.ID]ArchiveEntry) (*Archive, error) {
	byFile := make(map[string][]record.ID)
	for id := range changes {
		if !id.Valid() {
			return nil, fmt.Errorf("archive mission %q: that is no id", id)
		}
		name := string(id[:2])
		byFile[name] = append(byFile[name], id)
	}
	out := &Archive{objects: x.objects, files: maps.Clone(x.files)}
	if out.files == nil {
		out.files = make(map[string]object.Entry)
	}
	for name, ids := range byFile {
		entries, err := x.file(name)
		if err != nil && entries == nil {
			return nil, err
		}
		all := make(map[record.ID]ArchiveEntry, len(entries)+len(ids))
		for _, e := range entries {
			all[e.ID] = e
		}
		for _, id := range ids {
			if delete(all, id); changes[id] != (ArchiveEntry{}) {
				all[id] = changes[id]
			}
		}
		if len(all) == 0 {
			delete(out.files, name)
			continue
		}
		content, err := encodeEntries(all)
		if err != nil {
			return nil, err
		}
		blob, err := x.objects.Write(plumbing.BlobObject, content)
		if err != nil {
			return nil, err
		}
		out.files[name] = object.Entry{Mode: filemode.Regular, Hash: blob}
	}
	if len(out.files) == 0 {
		return out, nil
	}
	tree := make(map[string]object.Entry, len(out.files))
	for name, f := range out.files {
		tree["missions/"+name] = f
	}
	top, err := x.objects.EditTree(object.Hash{}, tree)
	if err != nil {
		return nil, err
	}
	out.Tip, err = x.objects.Write(plumbing.CommitObject, ArchiveCommit(top))
	return out, err
}

// Unite stages the union of two indexes, with the [later] entry of a mission.
// What the other one has in addition becomes a mission of its own: side returns
// its id, "" if the first commit contains the second.
func (x *Archive) Unite(other *Archive, side func(commit, besides object.Hash) (record.ID, error)) (*Archive, error) {
	changes := make(map[record.ID]ArchiveEntry)
	at := func(id record.ID) (ArchiveEntry, error) {
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
func later(a, b ArchiveEntry) bool {
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
func (x *Archive) Keep() (object.Hash, error) {
	var tips []object.Hash
	for e, err := range x.All() {
		if err != nil {
			return object.Hash{}, err
		}
		tips = append(tips, e.tips()...)
	}
	return KeepingAll(x.objects, tips)
}

// KeepingAll stages the commits that keep others, however many, and returns the
// last; zero for none.
func KeepingAll(objects *git.Objects, tips []object.Hash) (object.Hash, error) {
	tips = slices.SortedFunc(slices.Values(tips), object.Hash.Compare)
	tips = slices.Compact(tips)
	if len(tips) == 0 {
		return object.Hash{}, nil
	}
	empty, err := objects.EmptyTree()
	if err != nil {
		return object.Hash{}, err
	}
	return keep(objects, empty, tips, 0)
}

// KeepingAlso stages a commit that keeps one more than another such commit,
// which may be zero. Its tree is the one's, so that none is written.
func KeepingAlso(objects *git.Objects, tip, before object.Hash) (object.Hash, error) {
	tree, err := objects.TreeOf(tip)
	if err != nil {
		return object.Hash{}, err
	}
	parents := []object.Hash{tip}
	if !before.IsZero() {
		parents = append(parents, before)
	}
	return objects.CommitTree(tree, parents, archiver, archiver, keptMessage)
}

const keptMessage = "kept\n"

// keep stages the commit that keeps sorted tips with digits common digits, or a
// commit per next digit, so that a new mission changes few of them.
func keep(objects *git.Objects, tree object.Hash, tips []object.Hash, digits int) (object.Hash, error) {
	parents := tips
	if len(tips) > maxParents {
		parents = nil
		for len(tips) > 0 {
			next := tips[0].String()[digits]
			n := 1
			for n < len(tips) && tips[n].String()[digits] == next {
				n++
			}
			commit, err := keep(objects, tree, tips[:n], digits+1)
			if err != nil {
				return object.Hash{}, err
			}
			parents, tips = append(parents, commit), tips[n:]
		}
	}
	return objects.CommitTree(tree, parents, archiver, archiver, keptMessage)
}

var errOrder = errors.New("its lines are not in order")
