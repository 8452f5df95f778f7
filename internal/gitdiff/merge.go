package gitdiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Merge is the result of a three-way merge of trees.
type Merge struct {
	Tree      object.Hash // on disk
	Conflicts []Conflict
}

// A Conflict is a path that a merge could not resolve.
type Conflict struct {
	Name  string // in the merge's tree, as git has it
	Path  string // Name without the suffix of a file that gave way to a directory
	Holds Holds
}

// Holds says what a merge's tree contains at a conflict.
type Holds int

const (
	HoldsBoth  Holds = iota // both versions, between markers
	HoldsOurs               // ours: a binary file or a link has no place for markers
	HoldsOther              // no markers either: for example ours deleted it and theirs changed it
)

// nobody makes the commits of a merge, which nothing keeps. It never changes,
// so that equal merges have equal markers.
var nobody = object.Signature{Name: "git-agent", Email: "git-agent@localhost"}

// MergeTrees applies the changes from base to theirs to ours. It flushes o.
//
// Git finds the merge base itself (--merge-base exists only since 2.40), so
// both trees become commits on base. A file put into a directory that the other
// tree moved stays. Merge drivers run as configured; see [git.Repo.Foreign].
func MergeTrees(ctx context.Context, r *git.Repo, o *git.Objects, base, ours, theirs object.Hash) (Merge, error) {
	m, err := mergeTrees(ctx, r, o, base, ours, theirs)
	if err != nil {
		return Merge{}, fmt.Errorf("merge trees %s and %s: %w", ours, theirs, err)
	}
	return m, nil
}

func mergeTrees(ctx context.Context, r *git.Repo, o *git.Objects, base, ours, theirs object.Hash) (m Merge, err error) {
	commit := func(tree object.Hash, message string, parents ...object.Hash) (hash object.Hash) { // does nothing after an error
		if err == nil {
			hash, err = o.CommitTree(tree, parents, nobody, nobody, message)
		}
		return hash
	}
	root := commit(base, "what both come from\n")
	a, b := commit(ours, "ours\n", root), commit(theirs, "theirs\n", root)
	if err == nil {
		err = o.Flush()
	}
	if err != nil {
		return m, err
	}
	out, err := r.Output(ctx, nil,
		"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", a.String(), b.String())
	if err != nil && git.Status(err) != 1 {
		return m, err
	}
	tree, names, _ := bytes.Cut(out, []byte{0})
	if len(names) == 0 && err != nil {
		return m, err
	}
	if m.Tree, err = object.ParseHash(string(tree)); err != nil {
		return m, err
	}
	for name := range strings.FieldsFuncSeq(string(names), func(r rune) bool { return r == 0 }) {
		c := Conflict{Name: name, Path: strings.TrimSuffix(strings.TrimSuffix(name, "~"+a.String()), "~"+b.String())}
		if c.Holds, err = holds(o, name, m.Tree, ours, theirs); err != nil {
			return m, err
		}
		m.Conflicts = append(m.Conflicts, c)
	}
	return m, nil
}

// maxMarked is the largest file, in bytes, that is searched for markers.
const maxMarked = 64 << 20

// holds says what a merged tree has at a conflict. Git's message does not tell:
// a conflict of links is one of content.
func holds(o *git.Objects, name string, merged, ours, theirs object.Hash) (Holds, error) {
	var is [3]object.Entry
	for i, tree := range []object.Hash{merged, ours, theirs} {
		var err error
		if is[i], err = o.Lookup(tree, name); err != nil {
			return 0, err
		}
	}
	switch {
	case is[0] == is[1]:
		return HoldsOurs, nil
	case is[0] == is[2] || !is[0].Mode.IsRegular() && is[0].Mode != filemode.Executable:
		return HoldsOther, nil
	}
	text, err := o.Blob(is[0].Hash, maxMarked)
	if err != nil && !errors.Is(err, git.ErrTooLarge) {
		return 0, err
	}
	if !bytes.Contains(append([]byte("\n"), text...), []byte("\n<<<<<<<")) {
		return HoldsOther, nil
	}
	return HoldsBoth, nil
}
