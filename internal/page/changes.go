package page

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/turns"
)

// Limits on what is shown of files.
const (
	maxChanges = 500       // files of a turn
	maxPatch   = 256 << 10 // bytes of a patch
	maxWhole   = 256 << 10 // bytes of a whole version
)

// job returns what to write of t, which follows before.
func (w *writing) job(t, before *turns.Turn, l *line) *job {
	j := &job{turn: t, line: l}
	if w.without(Code) || t.CodeKnown() != nil {
		return j
	}
	own := t.Change()
	if before != nil && before.CodeKnown() == nil {
		j.between = w.differences(before.Code, t.Before().Commit)
	}
	j.files = w.differences(own.Sure, own.To)
	return j
}

// differences are the files in which two states differ. Their patches are not
// read yet.
func (w *writing) differences(from, to object.Hash) []*fileDiff {
	if from == to {
		return nil
	}
	a, err := w.tree(from)
	var b object.Hash
	if err == nil {
		b, err = w.tree(to)
	}
	var found []gitdiff.Difference
	whole := true
	if err == nil && a != b {
		found, whole, err = gitdiff.Differences(w.objects, a, []object.Hash{b}, maxChanges*20)
	}
	if err != nil {
		w.unread.Add(err)
		return nil
	}
	var list []*fileDiff
	for _, d := range found {
		if len(list) == maxChanges {
			whole = false
			break
		}
		list = append(list, &fileDiff{Path: strings.ToValidUTF8(d.Path, "\uFFFD"), Kind: kindOf(d), Old: w.version(d.Old), New: w.version(d.New), versions: gitdiff.Versions{Old: d.Old.Hash, New: d.New.Hash}, from: a, to: b})
	}
	if !whole {
		list = append(list, &fileDiff{Path: "...", Kind: "M", Left: "there are more files"})
	}
	return list
}

func (w *writing) tree(commit object.Hash) (object.Hash, error) {
	if commit.IsZero() {
		return w.objects.EmptyTree()
	}
	return w.objects.TreeOf(commit)
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
func (w *writing) version(e object.Entry) string {
	if e.Mode == filemode.Empty {
		return ""
	}
	digits := e.Hash.String() // "" for an untrusted entry of zeros
	return digits[:min(16, len(digits))]
}

// compare reads jobs' patches, and calls upTo(i) once those before i are done.
func (w *writing) compare(jobs []*job, upTo func(int) error) error {
	type pair struct {
		job  int
		list []*fileDiff
	}
	var pairs []pair
	var trees [][2]object.Hash
	for i, j := range jobs {
		for _, list := range [][]*fileDiff{j.between, j.files} {
			if len(list) > 0 && list[0].from != list[0].to {
				pairs = append(pairs, pair{i, list})
				trees = append(trees, [2]object.Hash{list[0].from, list[0].to})
			}
		}
	}
	return gitdiff.Patches(w.ctx, w.Workspace.Repo, trees, gitdiff.Paths{}, maxPatch, func(i int, patches map[gitdiff.Versions]*gitdiff.Patch) error {
		if err := upTo(pairs[i].job); err != nil {
			return err
		}
		list := pairs[i].list
		pairs[i].list = nil // its job has it
		for _, f := range list {
			w.patch(f, patches[f.versions])
		}
		return w.wholes(list)
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
