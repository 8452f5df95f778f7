package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// throughGit builds the tree through git on the private index. With
// Options.Publish it leaves a copy of the index for the user, unless the user's
// already holds the same.
func (t *taker) throughGit(entries []entry) (tree object.Hash, fresh bool, err error) {
	var work, marked []*entry
	var added, settle strings.Builder
	for i := range entries {
		switch e := &entries[i]; {
		case e.work:
			if e.marked != nil {
				marked = append(marked, e)
			} else {
				work = append(work, e)
			}
			if e.untracked {
				added.WriteString(e.path + "\x00")
			}
		case e.conflict:
			settle.WriteString(t.indexLine(e.path, e.staged))
		}
	}
	if len(work) > 0 || len(marked) > 0 || settle.Len() > 0 {
		err = t.index.goAhead(added.String())
	}
	if err == nil {
		err = t.setEntries(settle.String())
	}
	if err == nil {
		err = t.add(work)
	}
	if err == nil {
		err = t.addMarked(marked)
	}
	if err != nil {
		return object.Hash{}, false, err
	}
	path := t.index.path
	fresh = t.opt.Publish && t.index.ahead()
	if fresh {
		path = t.index.newPath()
	}
	out, err := t.writeTree(path)
	if err != nil {
		return object.Hash{}, false, err
	}
	tree, err = object.ParseHash(strings.TrimSpace(out))
	return tree, fresh, err
}

// writeTree writes the private index as a tree. At a different path it copies
// it for the user, without an untracked cache unless they have one.
func (t *taker) writeTree(path string) (string, error) {
	args := []string{"write-tree"}
	if t.partialClone() {
		args = append(args, "--missing-ok") // what was never fetched is not lost
	}
	if path == t.index.path {
		return t.index.git(t.ctx, path, "", args...)
	}
	content, err := t.index.copyIndex(t.index.path, newFile)
	if err != nil {
		return "", err
	}
	if t.index.cached() || t.config.Bool("core.untrackedcache") {
		return t.index.git(t.ctx, path, "", args...)
	}
	const uncached = "core.untrackedCache=false"
	before := idOf(path)
	out, err := t.index.git(t.ctx, path, "", append([]string{"-c", uncached}, args...)...)
	if err == nil && idOf(path) == before && bytes.Contains(content, []byte(untrackedCache)) {
		// The index knew the tree already, so git did not write it.
		_, err = t.index.git(t.ctx, path, "", "-c", uncached, "update-index", "--no-untracked-cache")
	}
	return out, err
}

func (t *taker) partialClone() bool {
	for key := range t.config {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") && t.config.Bool(key) {
			return true
		}
	}
	return t.config.Get("extensions.partialclone") != ""
}

// maxAdds bounds the processes, per filter, that search for paths that git
// can't add. It is enough to find one among 5,000.
const maxAdds = 32

// add brings the private index up to date with the worktree. It leaves out
// paths that can't be read, or that a failing or missing filter keeps from git.
func (t *taker) add(work []*entry) error {
	err := t.updateIndex(work)
	if err == nil || exists(t.index.path+".lock") { // forget removes a killed git's lock
		return err
	}
	// update-index refuses to remove d/one when d has become a link.
	var lines strings.Builder
	var files []*entry
	for _, e := range work {
		if e.gone {
			lines.WriteString(t.indexLine(e.path, object.Entry{}))
		} else {
			files = append(files, e)
		}
	}
	if err := t.setEntries(lines.String()); err != nil {
		return err // the index is broken
	}
	lines.Reset()
	for _, same := range t.byFilter(files) {
		adds := 0
		for _, e := range t.addSome(same, &adds) {
			t.leave(e, t.whyNot(e))
			if e.conflict {
				lines.WriteString(t.indexLine(e.path, e.staged))
			}
		}
	}
	return t.setEntries(lines.String())
}

// addMarked brings files with marks into the private index, as git would store
// them. What git can't convert stays out.
func (t *taker) addMarked(marked []*entry) error {
	if len(marked) == 0 {
		return nil
	}
	contents := make(map[string][]byte, len(marked))
	var list []entry
	for _, e := range marked {
		contents[e.path] = e.marked
		list = append(list, *e)
	}
	converted := t.converted(list, contents)
	var lines strings.Builder
	for _, e := range marked {
		hash, err := t.objects.Write(plumbing.BlobObject, e.marked)
		if converted {
			var out string
			if out, err = t.index.git(t.ctx, t.index.path, string(e.marked), "hash-object", "-w", "--stdin", "--path="+e.path); err == nil {
				hash, err = object.ParseHash(strings.TrimSpace(out))
			}
			if err != nil && t.ctx.Err() == nil {
				lines.WriteString(t.indexLine(e.path, e.staged))
				continue
			}
		}
		if err != nil {
			return err
		}
		lines.WriteString(t.indexLine(e.path, object.Entry{Mode: t.mode(e), Hash: hash}))
	}
	if err := t.objects.FlushLoose(); err != nil { // git looks for what an index names
		return err
	}
	return t.setEntries(lines.String())
}

func (t *taker) addSome(entries []*entry, adds *int) (failed []*entry) {
	if *adds++; *adds > maxAdds {
		return entries
	}
	if t.updateIndex(entries) == nil {
		return nil
	}
	if len(entries) == 1 {
		return entries
	}
	half := len(entries) / 2
	return append(t.addSome(entries[:half], adds), t.addSome(entries[half:], adds)...)
}

// byFilter groups entries by their filters: a missing one fails for all of
// them.
func (t *taker) byFilter(entries []*entry) map[string][]*entry {
	groups := make(map[string][]*entry)
	attributes, err := t.attributes(pathList(entries), "filter", "working-tree-encoding")
	for i, e := range entries {
		name := ""
		if err == nil {
			name = attributes[2*i].value + "\x00" + attributes[2*i+1].value
		}
		groups[name] = append(groups[name], e)
	}
	return groups
}

func (t *taker) updateIndex(entries []*entry) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := t.index.git(t.ctx, t.index.path, pathList(entries),
		"update-index", "-z", "--add", "--remove", "--replace", "--stdin")
	return err
}

// setEntries puts lines into the private index without a look at the worktree.
func (t *taker) setEntries(lines string) error {
	if lines == "" {
		return nil
	}
	_, err := t.index.git(t.ctx, t.index.path, lines, "update-index", "-z", "--index-info")
	return err
}

// indexLine is an entry for `git update-index -z --index-info`; the zero Entry
// removes the path.
func (t *taker) indexLine(path string, e object.Entry) string {
	return fmt.Sprintf("%o %s\t%s\x00", uint32(e.Mode), t.index.repo.Format().Text(e.Hash), path)
}

func pathList(entries []*entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.path + "\x00")
	}
	return b.String()
}

func (t *taker) whyNot(e *entry) string {
	if e.info == nil || e.info.Mode().IsRegular() {
		f, err := os.Open(t.index.file(e.path))
		if err != nil {
			return record.WhyUnreadable
		}
		_ = f.Close()
	}
	return record.WhyFilter
}
