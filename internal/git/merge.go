package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Merge is what became of three trees.
type Merge struct {
	Tree      plumbing.Hash // on the disk; a file with a conflict holds both sides, with markers, where git can do that
	Conflicts []string      // paths in Tree as git has them
	Paths     []string      // the same without the suffix of a file that a directory is in the place of
}

// nobody makes the commits of a merge, which nothing keeps. So a merge of the same trees has the same
// markers.
var nobody = Signature{Name: "git-agent", Email: "git-agent@localhost"}

// MergeTrees applies what changed from base to theirs to ours. All that is staged is flushed.
//
// Git finds the merge base by itself (--merge-base exists only since 2.40), so both sides are made
// commits on a commit of base. Merge drivers run as they are configured; see [Repo.Foreign].
func (r *Repo) MergeTrees(ctx context.Context, o *Objects, base, ours, theirs plumbing.Hash) (Merge, error) {
	m, err := r.mergeTrees(ctx, o, base, ours, theirs)
	if err != nil {
		return Merge{}, fmt.Errorf("merge trees %s and %s: %w", ours, theirs, err)
	}
	return m, nil
}

func (r *Repo) mergeTrees(ctx context.Context, o *Objects, base, ours, theirs plumbing.Hash) (m Merge, err error) {
	commit := func(tree plumbing.Hash, message string, parents ...plumbing.Hash) (hash plumbing.Hash) { // unless something has failed
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
	out, err := r.Output(ctx, nil, "-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
		a.String(), b.String())
	if err != nil && Status(err) != 1 {
		return m, err
	}
	tree, names, _ := bytes.Cut(out, []byte{0})
	m.Conflicts = strings.FieldsFunc(string(names), func(r rune) bool { return r == 0 })
	for _, name := range m.Conflicts {
		m.Paths = append(m.Paths, strings.TrimSuffix(strings.TrimSuffix(name, "~"+a.String()), "~"+b.String()))
	}
	if len(m.Conflicts) == 0 && err != nil {
		return m, err
	}
	m.Tree, err = ParseHash(string(tree))
	return m, err
}
