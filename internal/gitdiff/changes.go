package gitdiff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Change is one path that differs between two trees: its entries and lines.
type Change struct {
	FileStat
	From     string       // the path in the first tree; differs from Path after a rename
	Old, New object.Entry // zero where the path does not exist
}

// Changes compares two trees as [Shown] does, in git's order. A zero
// hash is the empty tree.
func Changes(ctx context.Context, r *git.Repo, from, to object.Hash, only Paths) ([]Change, error) {
	trees := []string{r.Format().OrEmpty(from).String(), r.Format().OrEmpty(to).String()}
	args := slices.Concat(
		[]string{"diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev"},
		counting(), trees, []string{"--"}, only.Specs,
	)
	out, err := r.With(git.Wary, git.In(only.Dir)).Output(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	list, err := parseChanges(out)
	if err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", trees[0], trees[1], err)
	}
	return list, nil
}

// parseChanges reads `git diff-tree -z --raw --numstat`: entries, then counts.
func parseChanges(out []byte) ([]Change, error) {
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var list []Change
	for len(fields) > 1 && strings.HasPrefix(fields[0], ":") {
		c, n, err := parseRaw(fields)
		if err != nil {
			return nil, err
		}
		list, fields = append(list, c), fields[n:]
	}
	var stats []byte
	if len(list) > 0 {
		stats = []byte(strings.Join(fields, "\x00") + "\x00")
	}
	counts, err := parseNumstat(stats)
	if err != nil {
		return nil, err
	}
	if len(counts) != len(list) {
		return nil, fmt.Errorf("%d files are counted, of %d", len(counts), len(list))
	}
	for i, s := range counts {
		if s.Path != list[i].Path {
			return nil, fmt.Errorf("unexpected path %q", s.Path)
		}
		list[i].FileStat = s
	}
	return list, nil
}

// parseRaw reads `:<mode> <mode> <hash> <hash> <status>`, the path, and after a
// rename the new path, and returns how many fields that were.
func parseRaw(fields []string) (c Change, n int, err error) {
	f := strings.Fields(fields[0][1:])
	if len(f) != 5 {
		return c, 0, fmt.Errorf("unexpected line %q", fields[0])
	}
	for i, e := range []*object.Entry{&c.Old, &c.New} {
		mode, err := filemode.New(f[i])
		if err != nil {
			return c, 0, err
		}
		if mode == filemode.Empty {
			continue
		}
		e.Mode = mode
		if e.Hash, err = object.ParseHash(f[2+i]); err != nil {
			return c, 0, err
		}
	}
	c.From, c.Path, n = fields[1], fields[1], 2
	if f[4][0] == 'R' || f[4][0] == 'C' {
		if len(fields) < 3 {
			return c, 0, fmt.Errorf("unexpected line %q", fields[0])
		}
		c.Path, n = fields[2], 3
	}
	return c, n, nil
}

// Named returns the objects that "<commit>:<path>" names, zero for those not in
// the repository, such as a submodule's commit.
func Named(ctx context.Context, r *git.Repo, names []string) ([]object.Hash, error) {
	out, err := r.Output(ctx, strings.NewReader(strings.Join(names, "\x00")+"\x00"), "cat-file", "--batch-check=%(objectname)", "-z", "--buffer")
	if err != nil {
		return nil, err
	}
	return parseNamed(string(out), names)
}

// parseNamed reads hashes, "<name> missing", or since git 2.51 "<hash>
// submodule".
func parseNamed(out string, names []string) ([]object.Hash, error) {
	hashes := make([]object.Hash, len(names))
	for i, name := range names {
		if after, ok := strings.CutPrefix(out, name); ok {
			_, out, _ = strings.Cut(after, "\n")
			continue
		}
		var line string
		line, out, _ = strings.Cut(out, "\n")
		if strings.HasSuffix(line, " submodule") {
			continue
		}
		var err error
		if hashes[i], err = object.ParseHash(line); err != nil {
			return nil, fmt.Errorf("look up %q: %w", name, err)
		}
	}
	return hashes, nil
}
