package gitdiff

import (
	"bytes"
	"cmp"
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

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A FileStat counts the changes of one path between two trees.
type FileStat struct {
	Path                  string // git's bytes
	Insertions, Deletions int    // lines; both 0 for a binary file
	Binary                bool
}

// Trees compares two trees as `git diff` does if not configured, in its
// order. A file that was moved, at least half unchanged, counts once, by its
// new path. See [Stat] for small differences.
func Trees(ctx context.Context, r *git.Repo, from, to object.Hash) ([]FileStat, error) {
	return numstat(ctx, r, from, to, counting()...)
}

// Shown compares two trees as [Trees] does, for untrusted ones: files of more
// than 32 MB count as binary and are not read.
func Shown(ctx context.Context, r *git.Repo, from, to object.Hash) ([]FileStat, error) {
	return numstat(ctx, r.With(git.Wary), from, to, counting()...)
}

// counting returns git's flags for counting as [Trees] does.
func counting() []string {
	return []string{"--find-renames=50%", "-l1000", "--diff-algorithm=default"}
}

// Diff writes the diff of two commits, by default a patch, without colours. The
// options and paths are git's; no paths mean all. Renames are as in
// [Trees]. Files of more than 32 MB count as binary and are not read;
// only paths that are not text are quoted. A failure is an [*git.Error].
func Diff(ctx context.Context, r *git.Repo, stdout io.Writer, from, to object.Hash, options, paths []string) error {
	args := slices.Concat(
		[]string{"diff"}, counting(), options, []string{from.String(), to.String(), "--"}, paths,
	)
	var stderr bytes.Buffer
	err := r.With(git.Wary).Run(ctx, nil, stdout, &stderr, args...)
	if e := (*git.Error)(nil); errors.As(err, &e) {
		e.Stderr = strings.TrimSpace(stderr.String())
	}
	return err
}

// MovedFrom returns where a file of the commit to was in from, or "" if it has
// not moved. Half of the file must be unchanged.
func MovedFrom(ctx context.Context, r *git.Repo, from, to object.Hash, path string) (string, error) {
	out, err := r.Output(ctx, nil, "diff-tree", "-r", "-z", "--name-status", "--find-renames=50%", "-l1000", "--diff-filter=R", from.String(), to.String())
	if err != nil {
		return "", err
	}
	fields := strings.Split(string(out), "\x00") // for each file: R and a number, the old name, the new one
	for i := 0; i+2 < len(fields); i += 3 {
		if fields[i+2] == path {
			return fields[i+1], nil
		}
	}
	return "", nil
}

// OfPaths returns the paths that differ, in git's order. A move is two paths.
func OfPaths(ctx context.Context, r *git.Repo, from, to object.Hash) ([]FileStat, error) {
	return numstat(ctx, r, from, to, "--no-renames")
}

// Names returns the paths that differ, without counts: it reads no file, as one
// may not be here. A move is two paths.
func Names(ctx context.Context, r *git.Repo, from, to object.Hash) (stats []FileStat, err error) {
	out, err := r.Output(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from.String(), to.String())
	if err != nil {
		return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		stats = append(stats, FileStat{Path: path})
	}
	return stats, nil
}

func numstat(ctx context.Context, r *git.Repo, from, to object.Hash, flags ...string) ([]FileStat, error) {
	args := slices.Concat([]string{"diff-tree", "-r", "-z", "--numstat"}, flags, []string{from.String(), to.String()})
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

// Limits of a comparison in-process; git does anything larger.
const (
	maxStatFiles = 64
	maxStatSize  = 1 << 20 // bytes of one file
	maxStatLines = 1000    // lines to align in one file: a few milliseconds at worst
)

// Stat compares two trees, in order of paths, without a process; they need not
// be flushed. A minimal diff counts lines, nearly always like git. ok is false,
// and git has to do it, beyond the limits or if one path was added and another
// deleted, which may be a rename. An error about a file that is lost, see
// [git.Lost], comes with the rest, and that file without counts.
func Stat(o *git.Objects, from, to object.Hash) (stats []FileStat, ok bool, err error) {
	s := stater{objects: o}
	if err := s.trees("", from, to); err != nil {
		return nil, false, err
	}
	sort.Slice(s.stats, func(i, j int) bool { return s.stats[i].Path < s.stats[j].Path })
	return s.stats, !s.tooMuch, s.lost
}

type stater struct {
	objects *git.Objects
	stats   []FileStat
	tooMuch bool
	lost    error // about the first file that is

	added, deleted bool // whether any path was
}

func (s *stater) trees(dir string, from, to object.Hash) error {
	a, err := s.objects.Tree(from, git.MaxTree)
	if err != nil {
		return err
	}
	b, err := s.objects.Tree(to, git.MaxTree)
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
		if err := s.entry(dir+name, object.Entry{}, fresh); err != nil || s.tooMuch {
			return err
		}
	}
	return nil
}

func (s *stater) entry(path string, old, fresh object.Entry) error {
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

func (s *stater) file(path string, old, fresh object.Entry) error {
	stat := FileStat{Path: path}
	a, err := s.content(old)
	var b []byte
	if err == nil {
		b, err = s.content(fresh)
	}
	if errors.Is(err, git.ErrTooLarge) {
		s.tooMuch = true
		return nil
	}
	if err != nil && !git.Lost(err) {
		return err
	}
	switch {
	case err != nil:
		s.lost = cmp.Or(s.lost, err)
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

// split returns an entry as a directory or as a file; the other is zero.
func split(e object.Entry) (dir object.Hash, file object.Entry) {
	if e.Mode == filemode.Dir {
		return e.Hash, object.Entry{}
	}
	return object.Hash{}, e
}

func (s *stater) content(e object.Entry) ([]byte, error) {
	if e.Mode == filemode.Empty {
		return nil, nil
	}
	return s.objects.Blob(e.Hash, maxStatSize)
}

// isBinary reports whether git takes the content for binary.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}

// lineStat counts inserted and deleted lines. ok is false as in [Align].
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

// Align maps each line of a text to a line of an older one, or -1, by a minimal
// diff. ok is false if that is too much work.
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
	// A line that the other text lacks can't be common to both.
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

// among returns the indexes of the lines that others has too, plus first.
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

// asRunes maps each distinct line to a rune, which the library compares.
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
