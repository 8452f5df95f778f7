package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// A FileStat is what changed in one path between two trees.
type FileStat struct {
	Path                  string // bytes as git has them
	Insertions, Deletions int    // lines; both 0 for a binary file
	Binary                bool
}

// DiffTrees returns what differs between two trees, counted as `git diff` does by default, whatever
// the user has configured: a moved file that is at least half unchanged counts as one path, the new
// one. The order is git's. See [Objects.Stat] for small differences.
func (r *Repo) DiffTrees(ctx context.Context, from, to Hash) ([]FileStat, error) {
	return r.numstat(ctx, from, to, nil, DiffCounting()...)
}

// DiffShown is DiffTrees for people, of what a stranger may have made: files of more than 32 MB count
// as binary and are not read.
func (r *Repo) DiffShown(ctx context.Context, from, to Hash) ([]FileStat, error) {
	return r.Wary().numstat(ctx, from, to, []string{"-c", "core.bigFileThreshold=32m"}, DiffCounting()...)
}

// DiffCounting returns the flags that make `git diff` count and show what [Repo.DiffTrees] counts.
func DiffCounting() []string {
	return []string{"--find-renames=50%", "-l1000", "--diff-algorithm=default"}
}

// Diff writes the diff of two commits for people, by default a patch, without colours. The options are
// git's, and so are the paths, all if there are none. What differs is counted and shown as
// [Repo.DiffTrees] does. Files of more than 32 MB count as binary, and are not read; paths are quoted
// only for what is no text. A failure is an [*Error], as that of [Repo.Run].
func (r *Repo) Diff(ctx context.Context, stdout io.Writer, from, to Hash, options, paths []string) error {
	args := slices.Concat(
		[]string{"-c", "core.bigFileThreshold=32m", "-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative"},
		DiffCounting(), options, []string{from.String(), to.String(), "--"}, paths,
	)
	var stderr bytes.Buffer
	err := r.Wary().Run(ctx, nil, stdout, &stderr, args...)
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Stderr = strings.TrimSpace(stderr.String())
	}
	return err
}

// MovedFrom returns where a file of one commit was in another one, "" if it was not there or has not moved.
// Half of it has to be the same.
func (r *Repo) MovedFrom(ctx context.Context, from, to Hash, path string) (string, error) {
	out, err := r.Output(ctx, nil, "diff-tree", "-r", "-z", "--name-status", "--find-renames=50%", "-l1000", "--diff-filter=R", from.String(), to.String())
	if err != nil {
		return "", err
	}
	fields := strings.Split(string(out), "\x00") // of each file: R and a number, the old name, the new one
	for i := 0; i+2 < len(fields); i += 3 {
		if fields[i+2] == path {
			return fields[i+1], nil
		}
	}
	return "", nil
}

// DiffPaths returns every path that differs between two trees, in git's order. A move is two.
func (r *Repo) DiffPaths(ctx context.Context, from, to Hash) ([]FileStat, error) {
	return r.numstat(ctx, from, to, nil, "--no-renames")
}

func (r *Repo) numstat(ctx context.Context, from, to Hash, config []string, flags ...string) ([]FileStat, error) {
	args := slices.Concat(config, []string{"diff-tree", "-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv"}, flags, []string{from.String(), to.String()})
	out, err := r.Output(ctx, nil, args...)
	var stats []FileStat
	if err == nil {
		stats, err = parseNumstat(out)
	}
	if err != nil {
		return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
	}
	return stats, nil
}

// parseNumstat reads `git diff-tree -z --numstat`.
func parseNumstat(out []byte) (stats []FileStat, err error) {
	for len(out) > 0 {
		var s FileStat
		if s, out, err = cutNumstat(out); err != nil {
			return nil, err
		}
		stats = append(stats, s)
	}
	return stats, nil
}

// cutNumstat reads what is said of the first path, and returns the rest.
func cutNumstat(out []byte) (s FileStat, rest []byte, err error) {
	line, out, _ := bytes.Cut(out, []byte{0})
	fields := bytes.SplitN(line, []byte{'\t'}, 3)
	if len(fields) != 3 {
		return s, nil, fmt.Errorf("unexpected line %q", line)
	}
	path := fields[2]
	if len(path) == 0 { // a rename: the old path and the new one follow
		_, out, _ = bytes.Cut(out, []byte{0})
		path, out, _ = bytes.Cut(out, []byte{0})
	}
	s = FileStat{Path: string(path), Binary: bytes.HasPrefix(fields[0], []byte{'-'})}
	if !s.Binary {
		if s.Insertions, err = strconv.Atoi(string(fields[0])); err == nil {
			s.Deletions, err = strconv.Atoi(string(fields[1]))
		}
	}
	return s, out, err
}

// Limits of what is compared in-process; anything larger is left to git.
const (
	maxStatFiles = 64
	maxStatSize  = 1 << 20 // bytes of one file
	maxStatLines = 1000    // lines to align on one side: a few milliseconds at worst
)

// Stat returns what differs between two trees, in order of paths, without the process and without
// the objects on disk that [Repo.DiffTrees] needs. Lines are counted by a minimal diff, which
// nearly always agrees with git's. ok is false, and the answer is left to git, if the work would
// exceed the limits or if one path was added and another deleted, which may be a rename.
func (o *Objects) Stat(from, to Hash) (stats []FileStat, ok bool, err error) {
	s := stater{objects: o}
	if err := s.trees("", from, to); err != nil {
		return nil, false, err
	}
	sort.Slice(s.stats, func(i, j int) bool { return s.stats[i].Path < s.stats[j].Path })
	return s.stats, !s.tooMuch, nil
}

type stater struct {
	objects *Objects
	stats   []FileStat
	tooMuch bool

	added, deleted bool // whether any path was
}

func (s *stater) trees(dir string, from, to Hash) error {
	a, err := s.objects.Tree(from, MaxTree)
	if err != nil {
		return err
	}
	b, err := s.objects.Tree(to, MaxTree)
	if err != nil {
		return err
	}
	for name, old := range a {
		if err := s.entry(dir+name, old, b[name]); err != nil || s.tooMuch {
			return err
		}
		delete(b, name)
	}
	for name, fresh := range b {
		if err := s.entry(dir+name, Entry{}, fresh); err != nil || s.tooMuch {
			return err
		}
	}
	return nil
}

func (s *stater) entry(path string, old, fresh Entry) error {
	if old == fresh {
		return nil
	}
	from, old := split(old)
	to, fresh := split(fresh)
	if from != to {
		if err := s.trees(path+"/", from, to); err != nil {
			return err
		}
	}
	if old == fresh {
		return nil
	}
	s.added = s.added || old.Mode == filemode.Empty
	s.deleted = s.deleted || fresh.Mode == filemode.Empty
	if s.added && s.deleted || len(s.stats) == maxStatFiles || old.Mode == filemode.Submodule || fresh.Mode == filemode.Submodule {
		s.tooMuch = true
		return nil
	}
	return s.file(path, old, fresh)
}

func (s *stater) file(path string, old, fresh Entry) error {
	stat := FileStat{Path: path}
	a, err := s.content(old)
	var b []byte
	if err == nil {
		b, err = s.content(fresh)
	}
	if errors.Is(err, ErrTooLarge) {
		s.tooMuch = true
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case old.Hash == fresh.Hash: // only the mode changed
	case isBinary(a) || isBinary(b):
		stat.Binary = true
	default:
		var ok bool
		stat.Insertions, stat.Deletions, ok = lineStat(a, b)
		s.tooMuch = s.tooMuch || !ok
	}
	s.stats = append(s.stats, stat)
	return nil
}

// split returns what a path holds as a directory and what it holds otherwise; one of them is zero.
func split(e Entry) (dir Hash, file Entry) {
	if e.Mode == filemode.Dir {
		return e.Hash, Entry{}
	}
	return Hash{}, e
}

func (s *stater) content(e Entry) ([]byte, error) {
	if e.Mode == filemode.Empty {
		return nil, nil
	}
	return s.objects.Blob(e.Hash, maxStatSize)
}

// isBinary reports whether git would treat the content as binary: a NUL in the first 8,000 bytes.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}

// lineStat counts the lines that a minimal diff of a and b inserts and deletes. ok is false if that would be
// too much work.
func lineStat(a, b []byte) (insertions, deletions int, ok bool) {
	from, ok := Align(a, b)
	if !ok {
		return 0, 0, false
	}
	for range bytes.Lines(a) {
		deletions++
	}
	for _, old := range from {
		if old < 0 {
			insertions++
		} else {
			deletions--
		}
	}
	return insertions, deletions, true
}

// Align says of each line of a text which line of an older one it is, -1 if it is new, by a minimal diff. ok
// is false if that would be too much work.
func Align(old, fresh []byte) (from []int, ok bool) {
	a, b := slices.Collect(bytes.Lines(old)), slices.Collect(bytes.Lines(fresh))
	from = make([]int, len(b))
	first := 0
	for first < min(len(a), len(b)) && bytes.Equal(a[first], b[first]) {
		from[first] = first
		first++
	}
	m, n := len(a), len(b)
	for m > first && n > first && bytes.Equal(a[m-1], b[n-1]) {
		m, n = m-1, n-1
		from[n] = m
	}
	for i := first; i < n; i++ {
		from[i] = -1
	}
	// A line that the other side lacks is never common to both.
	olds, news := among(a[first:m], b[first:n], first), among(b[first:n], a[first:m], first)
	if len(olds) == 0 || len(news) == 0 {
		return from, true
	}
	if len(olds) > maxStatLines || len(news) > maxStatLines {
		return nil, false
	}
	pick := func(lines [][]byte, at []int) (list [][]byte) {
		for _, i := range at {
			list = append(list, lines[i])
		}
		return list
	}
	ids := make(map[string]rune)
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // minimal, however long it takes
	i, j := 0, 0
	for _, part := range d.DiffMainRunes(asRunes(ids, pick(a, olds)), asRunes(ids, pick(b, news)), false) {
		n := utf8.RuneCountInString(part.Text)
		if part.Type == diffmatchpatch.DiffEqual {
			for k := range n {
				from[news[j+k]] = olds[i+k]
			}
		}
		if part.Type != diffmatchpatch.DiffInsert {
			i += n
		}
		if part.Type != diffmatchpatch.DiffDelete {
			j += n
		}
	}
	return from, true
}

// among are the places of lines that are also in others; the first line is at that place.
func among(lines, others [][]byte, first int) []int {
	known := make(map[string]bool, len(others))
	for _, l := range others {
		known[string(l)] = true
	}
	var places []int
	for i, l := range lines {
		if known[string(l)] {
			places = append(places, first+i)
		}
	}
	return places
}

// asRunes gives every distinct line its own rune, because the library compares runes.
func asRunes(ids map[string]rune, lines [][]byte) []rune {
	runes := make([]rune, len(lines))
	for i, l := range lines {
		id, ok := ids[string(l)]
		if !ok {
			id = rune(0x4e00 + len(ids)) // a range without gaps, larger than both limits together
			ids[string(l)] = id
		}
		runes[i] = id
	}
	return runes
}
