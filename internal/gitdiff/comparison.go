package gitdiff

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Comparison is how two trees differ.
type Comparison struct {
	Found   []Difference // as [Differences] finds them, in its order; their Tree is 0
	Whole   bool         // if not, ask [Differences]
	Links   bool         // a submodule's commit differs: whether git shows that is a setting, so ask [Patches]
	Patches map[Versions]*Patch
}

// Compare is [Patches] that also tells what differs. Git reads each tree for both, where
// [Differences] would read it once more. It is not Whole if a pair has more
// than limit differences, with directories, or what needs a closer look.
func Compare(ctx context.Context, r *git.Repo, pairs [][2]object.Hash, most, limit int, f func(i int, c *Comparison) error) error {
	return patches(ctx, r, &patchReader{pairs: pairs, most: most, limit: limit, paths: make(map[string]bool), next: f}, Paths{}, "--raw", "-t", "--no-abbrev", "--ignore-submodules=none")
}

// maxDeep is how many directories may be around what is compared: arranging it
// goes through all of it for each.
const maxDeep = 100

// entry reads `:<mode> <mode> <hash> <hash> <status>`, a tab and the path.
func (p *patchReader) entry() {
	raw, name, ok := bytes.Cut(p.line, []byte{'\t'})
	path, err := unquotePath(string(name))
	var c Change
	if err == nil {
		c, _, err = parseRaw([]string{string(raw), path})
	}
	twice := p.paths[path] // a file for a directory, or a tree that repeats names
	if !ok || err != nil || twice || strings.Count(path, "/") > maxDeep || len(path) > maxDiffPath || len(p.raw) == p.limit {
		p.found.Whole = false
		return
	}
	p.paths[path] = true
	p.found.Links = p.found.Links || c.Old.Mode == filemode.Submodule && c.New.Mode == filemode.Submodule
	p.raw = append(p.raw, Difference{0, path, c.Old, c.New})
}

// arranged puts what git tells of a directory, each entry before what is in
// it, into the order of [Differences]: first what the new tree has, then what is
// gone from it by name. It leaves directories out.
func arranged(raw []Difference) (found []Difference) {
	var gone [][]Difference
	add := func(entry []Difference) {
		if first := entry[0]; first.Old.Mode == filemode.Dir || first.New.Mode == filemode.Dir {
			found = append(found, arranged(entry[1:])...)
		} else {
			found = append(found, first)
		}
	}
	for len(raw) > 0 {
		n, dir := 1, raw[0].Path+"/"
		for n < len(raw) && strings.HasPrefix(raw[n].Path, dir) {
			n++
		}
		if raw[0].New.Mode == filemode.Empty {
			gone = append(gone, raw[:n])
		} else {
			add(raw[:n])
		}
		raw = raw[n:]
	}
	slices.SortFunc(gone, func(a, b []Difference) int { return strings.Compare(a[0].Path, b[0].Path) })
	for _, entry := range gone {
		add(entry)
	}
	return found
}
