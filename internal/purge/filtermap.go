package purge

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// What filters leave in a repository. git filter-repo lists the new commits,
// and before version 2.45 of its latest run alone, but then has a replace ref
// for each old one. git filter-branch has the old refs below [original].
const (
	filterRepoMap  = "commit-map"
	filterRepoRefs = "ref-map" // of its latest run
	replacing      = "refs/replace/"
	original       = "refs/original/"
)

// Files of the local state: what [filterSeen] returned when a filter was
// followed, and all that is known of filters so far, lines as in filterRepoMap.
const (
	filterFile    = "filter/seen"
	filterMapFile = "filter/map"
)

// FilterPending reports whether git filter-repo or git filter-branch has run
// since [FollowFilter]. Where none ever did, it looks for three names.
func FilterPending(w *workspace.Workspace) bool {
	seen := filterSeen(w.Repo)
	if seen == "" {
		return false
	}
	was, err := w.Store.Dir().ReadFile(filterFile)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = w.Store.Dir().Lstat(".") // without local state, nothing is ours
	}
	return err == nil && string(was) != seen
}

// filterSeen returns a text that another run of a filter changes, "" if there
// was none. Of git filter-branch it sees refs in files only.
func filterSeen(repo *git.Repo) string {
	var b strings.Builder
	for _, file := range append(filterRepo(repo, filterRepoMap), filepath.Join(repo.CommonDir, original)) {
		if info, err := os.Lstat(file); err == nil {
			name, _ := filepath.Rel(repo.CommonDir, file)
			fmt.Fprintln(&b, name, info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// filterRepo returns the files of a name that git filter-repo left, the newest
// last: they are in the git directory of the worktree that it ran in.
func filterRepo(repo *git.Repo, name string) []string {
	files := append(repo.Glob("filter-repo/"+name), repo.Glob("worktrees/*/filter-repo/"+name)...)
	if len(files) > 1 {
		at := make(map[string]int64)
		for _, file := range files {
			if info, err := os.Lstat(file); err == nil {
				at[file] = info.ModTime().UnixNano()
			}
		}
		slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(at[a], at[b]) })
	}
	return files
}

// newCommits returns what filters have made of commits, zero for those that
// they dropped.
func (f *filter) newCommits() (map[object.Hash]object.Hash, error) {
	known := make(map[object.Hash]object.Hash)
	files := filterRepo(f.Repo, filterRepoMap)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parseMap(known, text)
	}
	if len(files) > 0 {
		for ref, to := range f.refs {
			if old := object.NewHash(strings.TrimPrefix(ref, replacing)); strings.HasPrefix(ref, replacing) && !old.IsZero() {
				if _, ok := known[old]; !ok {
					known[old] = to
				}
			}
		}
	}
	branched := make(map[object.Hash]object.Hash)
	for _, ref := range slices.Sorted(maps.Keys(f.refs)) {
		if now := f.refs[strings.TrimPrefix(ref, original)]; strings.HasPrefix(ref, original) && !now.IsZero() {
			f.pair(branched, f.refs[ref], now)
		}
	}
	for old, to := range known { // after git filter-repo; and before, as that filters the old refs, too
		if next, ok := branched[to]; ok {
			known[old] = next
		}
	}
	for old, to := range branched {
		if _, ok := known[old]; !ok {
			known[old] = to
		}
	}
	if len(known) == 0 {
		return nil, nil
	}
	before := make(map[object.Hash]object.Hash)
	switch text, err := f.Store.Dir().ReadFile(filterMapFile); {
	case err == nil:
		parseMap(before, text)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for old, to := range before {
		next, direct := known[old]
		later, ok := known[to]
		switch {
		case ok && !direct:
			known[old] = later
		case !ok && direct && next != to && !to.IsZero(): // filter-repo's map joins its runs
			known[to] = next
		case !ok && !direct:
			known[old] = to
		}
	}
	maps.DeleteFunc(known, func(old, to object.Hash) bool { return old == to })
	return known, nil
}

// deleted returns the missions whose refs filters have deleted, and that are
// not archived.
func (f *filter) deleted() ([]record.ID, error) {
	had := make(map[string]object.Hash)
	for _, file := range filterRepo(f.Repo, filterRepoRefs) {
		list, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(list)) {
			if words := strings.Fields(line); len(words) == 3 && object.NewHash(words[1]).IsZero() {
				had[words[2]] = object.NewHash(words[0])
			}
		}
	}
	for ref, tip := range f.refs {
		if name, ok := strings.CutPrefix(ref, original); ok {
			had[name] = tip
		}
	}
	ids := missions(had)
	return slices.DeleteFunc(ids, func(id record.ID) bool {
		_, archived := f.archived[id]
		return archived || !f.refs[id.Ref()].IsZero() || !f.Trust.Known(id)
	}), nil
}

func parseMap(into map[object.Hash]object.Hash, text []byte) {
	for line := range bytes.Lines(text) {
		old, to, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if h := object.NewHash(old); ok && !h.IsZero() { // the first line is a heading
			into[h] = object.NewHash(to)
		}
	}
}

// pair notes which commit of a rewritten history was which, if it has the same
// shape, and its commits the same messages or times. Otherwise it notes nothing.
func (f *filter) pair(known map[object.Hash]object.Hash, old, to object.Hash) {
	pairs := make(map[object.Hash]object.Hash)
	type both struct{ old, to object.Hash }
	for list := []both{{old, to}}; len(list) > 0; {
		at := list[len(list)-1]
		list = list[:len(list)-1]
		before, done := pairs[at.old]
		if !done {
			before, done = known[at.old]
		}
		switch {
		case at.old == at.to, done && before == at.to:
			continue
		case done:
			return
		}
		was, err := f.objects.Commit(at.old)
		if err != nil {
			return
		}
		is, err := f.objects.Commit(at.to)
		if err != nil || len(is.Parents) != len(was.Parents) || is.Message != was.Message && !is.Author.When.Equal(was.Author.When) {
			return
		}
		pairs[at.old] = at.to
		for i := range was.Parents {
			list = append(list, both{was.Parents[i], is.Parents[i]})
		}
	}
	maps.Copy(known, pairs)
}

// keepMap keeps what is known of filters: the next one may tell only what it
// did itself, or what has become of the commits before both.
func (f *filter) keepMap() error {
	var b strings.Builder
	for old, to := range f.Known {
		fmt.Fprintln(&b, old, old.Format().Text(to))
	}
	return replaceFile(f.Store.Dir(), filterMapFile, []byte(b.String()))
}

// sessions changes what is known of sessions, and drops the caches, which have
// objects that a filter deletes.
func (s *fileScrub) sessions(dirs []*statedir.Dir) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, ours(dir, func(dir *statedir.Dir, name string, text []byte) error {
			if isCache(name) {
				return dir.Remove(name)
			}
			now := s.text(text)
			if bytes.Equal(now, text) || !strings.HasPrefix(filepath.ToSlash(name), "sessions/") {
				return nil
			}
			return replaceFile(dir, name, now)
		}))
	}
	return err
}
