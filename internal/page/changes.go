package page

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/turns"
)

// Limits on what is shown of files.
const (
	maxChanges   = 500             // files of a turn
	maxDiffering = 20 * maxChanges // paths that are looked at, with directories
	maxPatch     = 256 << 10       // bytes of a patch
	maxWhole     = 256 << 10       // bytes of a whole version
)

// job returns what to write of t, which follows before.
func (w *writing) job(t, before *turns.Turn, l *line) *job {
	j := &job{turn: t, line: l}
	if w.without(Code) || t.CodeKnown() != nil {
		return j
	}
	if before != nil && before.CodeKnown() == nil {
		j.others = [2]object.Hash{before.Code, t.Before().Commit}
	}
	own := t.Change()
	j.own = [2]object.Hash{own.Sure, own.To}
	return j
}

// A pair says for which job two trees are compared.
type pair struct {
	job int
	own bool // the turn's change, not what others did before
}

// give gives the pair's job the files that differ. It keeps no job alive that is written.
func (p pair) give(jobs []*job, list []*fileDiff) {
	if j := jobs[p.job]; p.own {
		j.files = list
	} else {
		j.between = list
	}
}

// pairs returns the trees that differ between the states of jobs.
func (w *writing) pairs(jobs []*job) (pairs []pair, trees [][2]object.Hash) {
	known := w.treesOf(jobs)
	tree := func(commit object.Hash) (object.Hash, error) {
		if commit.IsZero() {
			return w.objects.EmptyTree()
		}
		if tree, ok := known[commit]; ok {
			return tree, nil
		}
		return w.objects.TreeOf(commit) // which says what is wrong with it
	}
	add := func(p pair, states [2]object.Hash) {
		if states[0] == states[1] {
			return
		}
		a, err := tree(states[0])
		var b object.Hash
		if err == nil {
			b, err = tree(states[1])
		}
		if w.unread.Add(err); err == nil && a != b {
			pairs, trees = append(pairs, p), append(trees, [2]object.Hash{a, b})
		}
	}
	for i, j := range jobs {
		add(pair{i, false}, j.others)
		add(pair{i, true}, j.own)
	}
	return pairs, trees
}

// treesOf returns the trees of jobs' commits, read at once, but for those that
// can't be.
func (w *writing) treesOf(jobs []*job) map[object.Hash]object.Hash {
	trees := make(map[object.Hash]object.Hash)
	var list []git.Wanted
	for _, j := range jobs {
		for _, h := range slices.Concat(j.others[:], j.own[:]) {
			if _, wanted := trees[h]; !wanted && !h.IsZero() {
				trees[h] = object.Hash{}
				list = append(list, git.Wanted{Hash: h, Most: git.MaxCommit})
			}
		}
	}
	clear(trees)
	_ = w.objects.Each(list, func(i int, obj *git.Object, err error) error {
		if err != nil || obj.Type != plumbing.CommitObject {
			return nil
		}
		if c, err := object.ParseCommit(obj.Content); err == nil {
			trees[obj.Hash] = c.Tree
		}
		return nil
	})
	return trees
}

// differences are the files in which two trees differ, read one at a time.
// Their patches are not read yet.
func (w *writing) differences(trees [2]object.Hash) []*fileDiff {
	found, whole, err := gitdiff.Differences(w.objects, trees[0], trees[1:], maxDiffering)
	if err != nil {
		w.unread.Add(err)
		return nil
	}
	return listed(found, whole)
}

func listed(found []gitdiff.Difference, whole bool) (list []*fileDiff) {
	for _, d := range found {
		if len(list) == maxChanges {
			whole = false
			break
		}
		list = append(list, &fileDiff{Path: strings.ToValidUTF8(d.Path, "\uFFFD"), Kind: kindOf(d), Old: version(d.Old), New: version(d.New), versions: gitdiff.Versions{Old: d.Old.Hash, New: d.New.Hash}})
	}
	if !whole {
		list = append(list, &fileDiff{Path: "...", Kind: "M", Left: "there are more files"})
	}
	return list
}

func kindOf(d gitdiff.Difference) string {
	switch {
	case d.Old.Mode == filemode.Empty:
		return "A"
	case d.New.Mode == filemode.Empty:
		return "D"
	case d.Old.Mode&^0o777 != d.New.Mode&^0o777:
		return "T"
	}
	return "M"
}

// version returns a short name, unique in the page, for what a path has.
func version(e object.Entry) string {
	if e.Mode == filemode.Empty {
		return ""
	}
	digits := e.Hash.String() // "" for an untrusted entry of zeros
	return digits[:min(16, len(digits))]
}

// compare reads jobs' files and patches, and calls upTo(i) once those before i are done.
func (w *writing) compare(jobs []*job, upTo func(int) error) error {
	pairs, trees := w.pairs(jobs)
	next := 0
	var failed error
	take := func(i int, list []*fileDiff, patches map[gitdiff.Versions]*gitdiff.Patch) error {
		if failed = upTo(pairs[i].job); failed != nil {
			return failed
		}
		pairs[i].give(jobs, list)
		next = i + 1
		for _, f := range list {
			w.patch(f, patches[f.versions])
		}
		failed = w.wholes(list)
		return failed
	}
	err := gitdiff.Compare(w.ctx, w.Workspace.Repo, trees, maxPatch, maxDiffering, func(i int, c *gitdiff.Comparison) error {
		list := listed(c.Found, true)
		if !c.Whole {
			list = w.differences(trees[i])
		}
		if !c.Links {
			return take(i, list, c.Patches)
		}
		return gitdiff.Patches(w.ctx, w.Workspace.Repo, trees[i:i+1], gitdiff.Paths{}, maxPatch, func(_ int, patches map[gitdiff.Versions]*gitdiff.Patch) error {
			return take(i, list, patches)
		})
	})
	if err == nil || failed != nil || w.ctx.Err() != nil {
		return err
	}
	// Git ends at a tree that can't be read.
	done := next
	var readable []int
	var lists [][]*fileDiff
	var some [][2]object.Hash
	for i := range pairs {
		list := w.differences(trees[i])
		if len(list) > 0 && list[0].Left == "" {
			readable, lists, some = append(readable, i), append(lists, list), append(some, trees[i])
		} else if i >= done {
			pairs[i].give(jobs, list)
		}
	}
	return gitdiff.Patches(w.ctx, w.Workspace.Repo, some, gitdiff.Paths{}, maxPatch, func(i int, patches map[gitdiff.Versions]*gitdiff.Patch) error {
		list := lists[i]
		lists[i] = nil // its job has it
		if readable[i] < done {
			return nil
		}
		return take(readable[i], list, patches)
	})
}

// patch adds p to f.
func (w *writing) patch(f *fileDiff, p *gitdiff.Patch) {
	switch {
	case f.Left != "" || f.versions.Old == f.versions.New: // only the mode changed
	case p == nil:
		f.Left = "git shows no difference of this kind"
	case p.Binary:
		f.Binary = true
	case p.Long:
		f.Left = "its difference is too long"
	default:
		f.Patch = w.Workspace.Settings.Rules().String(strings.ToValidUTF8(p.Hunks, "\uFFFD"))
		for line := range strings.Lines(f.Patch) {
			switch line[0] {
			case '+':
				f.Insertions++
			case '-':
				f.Deletions++
			}
		}
	}
}

// wholes writes the old versions of files that no patch in the page makes.
func (w *writing) wholes(list []*fileDiff) error {
	for _, f := range list {
		if f.Patch == "" {
			continue
		}
		if old := f.versions.Old; !old.IsZero() && !w.made[old] {
			w.made[old] = true
			text, err := w.objects.Blob(old, maxWhole)
			switch {
			case errors.Is(err, git.ErrTooLarge):
			case err != nil:
				w.unread.Add(err)
			case utf8.Valid(text) && bytes.IndexByte(text, 0) < 0:
				number, err := w.whole(f.Old, w.Workspace.Settings.Rules().String(string(text)))
				if err != nil {
					return err
				}
				w.index.Wholes[f.Old] = number
			}
		}
		w.made[f.versions.New] = true
	}
	return nil
}
