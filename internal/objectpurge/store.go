package objectpurge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A store is an object directory, the repository's or an alternate.
type store struct {
	repo *git.Repo // has the object format
	dir  string
}

func (s store) packDir() string { return filepath.Join(s.dir, "pack") }

func (s store) looseFile(h object.Hash) string {
	name := s.repo.Format().Text(h)
	return filepath.Join(s.dir, name[:2], name[2:])
}

// packNames returns the names, without extension, of packs with an index.
func (s store) packNames() ([]string, error) {
	files, err := os.ReadDir(s.packDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".idx"); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

func (s store) entries(ctx context.Context, name string) ([]git.PackEntry, error) {
	return s.repo.PackEntries(ctx, filepath.Join(s.packDir(), name))
}

// having returns the given objects that a store has.
func (s store) having(ctx context.Context, objects map[object.Hash]bool) (map[object.Hash]bool, error) {
	has := make(map[object.Hash]bool)
	for h := range objects {
		if _, err := os.Lstat(s.looseFile(h)); err == nil {
			has[h] = true
		}
	}
	names, err := s.packNames()
	for _, name := range names {
		list, e := s.entries(ctx, name)
		for _, o := range list {
			if objects[o.Hash] {
				has[o.Hash] = true
			}
		}
		err = errors.Join(err, e)
	}
	return has, err
}

// alternates returns all object directories that the repository borrows from.
func (s store) alternates(ctx context.Context) (dirs []string, err error) {
	out, err := s.repo.Output(ctx, nil, "count-objects", "-v")
	for line := range strings.Lines(string(out)) {
		if dir, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: "); ok {
			if unquoted, err := strconv.Unquote(dir); err == nil {
				dir = unquoted
			}
			dirs = append(dirs, filepath.FromSlash(dir))
		}
	}
	return dirs, err
}
