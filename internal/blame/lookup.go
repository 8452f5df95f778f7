package blame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// A lookup is what files were in a list of commits, as where they changed: git
// compares neighbours, so it reads little of most trees, and is asked about
// several files at once.
type lookup struct {
	from    []int               // by place in the list: the earlier place that it is compared with, -1 for an empty tree
	with    map[object.Hash]int // the last place with a tree; nil before it is needed
	changes map[string]changes  // by file
	kept    int                 // changes in all
}

// changes are where a file changed, among the places before one.
type changes struct {
	until int
	list  []change
}

// A change is a place in a list, and what a file is there and was not at the
// place that it is compared with: zero if it is not there.
type change struct {
	at   int
	blob object.Hash
}

// Limits of what is looked up at once, and kept.
const (
	maxTogether = 32
	maxChanges  = 1 << 20
)

// follow finds, for each new place in the list, an earlier one with a tree that
// is likely to be much the same: one with the very same tree, else the first
// parent, else the one before it. It is -1 for the first.
func (l *lookup) follow(list []real, index map[object.Hash]int) {
	if len(l.from) == len(list) {
		return
	}
	if l.with == nil {
		l.with = make(map[object.Hash]int, len(list))
		for at := range l.from {
			l.with[list[at].tree] = at
		}
	}
	for at := len(l.from); at < len(list); at++ {
		r, from := list[at], at-1
		if same, ok := l.with[r.tree]; ok {
			from = same
		} else if len(r.parents) > 0 {
			if first, ok := index[r.parents[0]]; ok && first < at {
				from = first
			}
		}
		l.from = append(l.from, from)
		l.with[r.tree] = at
	}
}

// has reports whether a file was looked up in the whole list.
func (l *lookup) has(name string) bool {
	return len(l.from) > 0 && l.changes[name].until == len(l.from)
}

// blobs returns what a file that was looked up is at each place.
func (l *lookup) blobs(name string) []object.Hash {
	blobs := make([]object.Hash, len(l.from))
	changes := l.changes[name].list
	for at, from := range l.from {
		if from >= 0 {
			blobs[at] = blobs[from]
		}
		if len(changes) > 0 && changes[0].at == at {
			blobs[at], changes = changes[0].blob, changes[1:]
		}
	}
	return blobs
}

// ask looks files up in a list of commits, and returns how many git compared.
func (l *lookup) ask(ctx context.Context, repo *git.Repo, list []real, names []string) (compared int, err error) {
	since := len(list)
	for _, name := range names {
		since = min(since, l.changes[name].until)
	}
	var places []int // where git has to compare
	for at := since; at < len(list); at++ {
		if from := l.from[at]; from < 0 || list[from].tree != list[at].tree {
			places = append(places, at)
		}
	}
	parts := max(1, min(runtime.GOMAXPROCS(0), len(places)/256))
	found, errs := make([]map[string][]change, parts), make([]error, parts)
	var done sync.WaitGroup
	for i := range parts {
		done.Go(func() {
			found[i], errs[i] = l.compare(ctx, repo, list, places[i*len(places)/parts:(i+1)*len(places)/parts], names)
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if l.kept > maxChanges {
		maps.DeleteFunc(l.changes, func(name string, _ changes) bool { return !slices.Contains(names, name) })
		l.kept = 0
	}
	for _, name := range names {
		all := l.changes[name]
		for _, part := range found {
			for _, c := range part[name] {
				if c.at >= all.until {
					all.list = append(all.list, c)
					l.kept++
				}
			}
		}
		all.until = len(list)
		l.changes[name] = all
	}
	return len(places), nil
}

func (l *lookup) compare(ctx context.Context, repo *git.Repo, list []real, places []int, names []string) (map[string][]change, error) {
	pairs := make([][2]object.Hash, len(places))
	var in strings.Builder
	for i, at := range places {
		from := repo.Format().EmptyTree()
		if l.from[at] >= 0 {
			from = list[l.from[at]].tree
		}
		pairs[i] = [2]object.Hash{from, list[at].tree}
		in.WriteString(heading(pairs[i]))
	}
	// cat-file would need the blobs, which a partial clone fetches one by one.
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--"}
	out, err := repo.With(git.Env("GIT_LITERAL_PATHSPECS=1")).Output(ctx, strings.NewReader(in.String()), append(args, limits(names)...)...)
	if err != nil {
		return nil, err
	}
	return parseComparisons(out, pairs, places, names)
}

// maxNamed is how many files of a directory are named to git. It holds each name
// against each entry of a tree, so to take the changes of all is faster soon.
const maxNamed = 2

// limits returns the paths to which git is limited for some files.
func limits(names []string) (paths []string) {
	in := make(map[string]int)
	for _, name := range names {
		in[path.Dir(name)]++
	}
	for _, name := range names {
		if dir := path.Dir(name); dir == "." || in[dir] <= maxNamed {
			paths = append(paths, name)
		} else {
			paths = appendNew(paths, dir)
		}
	}
	return paths
}

// parseComparisons reads what `git diff-tree` prints for pairs of trees: each
// pair, as it was asked, then for each path its modes, hashes and status, NUL,
// the path, NUL. It returns the changes of some paths, by place.
func parseComparisons(out []byte, pairs [][2]object.Hash, places []int, names []string) (map[string][]change, error) {
	changes := make(map[string][]change)
	next := 0 // in pairs
	for len(out) > 0 {
		if out[0] != ':' {
			if next == len(pairs) {
				return nil, fmt.Errorf("unexpected answer of git diff-tree, after %d comparisons", next)
			}
			rest, ok := bytes.CutPrefix(out, []byte(heading(pairs[next])))
			if !ok {
				return nil, gitdiff.Skipped(pairs[next][0], pairs[next][1])
			}
			out = rest
			next++
			continue
		}
		meta, rest, _ := bytes.Cut(out, []byte{0})
		name, rest, ended := bytes.Cut(rest, []byte{0})
		fields := bytes.Fields(meta)
		if len(fields) != 5 || !ended || next == 0 {
			return nil, fmt.Errorf("unexpected answer %q of git diff-tree", meta)
		}
		out = rest
		at := slices.Index(names, string(name))
		if at < 0 {
			continue
		}
		var blob object.Hash
		if string(fields[1]) != submodule {
			var err error
			if blob, err = object.ParseHash(fields[3]); err != nil {
				return nil, err
			}
		}
		changes[names[at]] = append(changes[names[at]], change{places[next-1], blob})
	}
	if next != len(pairs) {
		return nil, gitdiff.Skipped(pairs[next][0], pairs[next][1])
	}
	return changes, nil
}

// heading is how git is asked about two trees, and begins its answer.
func heading(pair [2]object.Hash) string {
	return pair[0].String() + " " + pair[1].String() + "\n"
}

const submodule = "160000"
