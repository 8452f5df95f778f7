package erase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git"
)

// A store is an object directory: the repository's own, or one that it borrows from.
type store struct {
	repo *git.Repo // whose git knows the format
	dir  string
}

func (s store) packDir() string { return filepath.Join(s.dir, "pack") }

func (s store) looseFile(h git.Hash) string {
	name := s.repo.Format().Text(h)
	return filepath.Join(s.dir, name[:2], name[2:])
}

// packNames returns the names, without extension, of all that has an index.
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

// entries passes the objects of a pack to f, in the order of its index, with their offsets.
func (s store) entries(ctx context.Context, name string, f func(i int, h git.Hash, offset int64)) error {
	index, err := os.Open(filepath.Join(s.packDir(), name+".idx"))
	if err != nil {
		return err
	}
	defer index.Close()
	i := 0
	return s.repo.Split(ctx, index, '\n', func(line []byte) error {
		offset, rest, _ := bytes.Cut(line, []byte(" "))
		text, _, _ := bytes.Cut(rest, []byte(" "))
		at, err := strconv.ParseInt(string(offset), 10, 64)
		h, err2 := git.ParseHash(text)
		if err != nil || err2 != nil {
			return fmt.Errorf("read the index of %s: unexpected line %q", name, line)
		}
		f(i, h, at)
		i++
		return nil
	}, "show-index")
}

// hasAny reports whether a store has one of the objects.
func (s store) hasAny(ctx context.Context, objects map[git.Hash]bool) (bool, error) {
	for h := range objects {
		if _, err := os.Lstat(s.looseFile(h)); err == nil {
			return true, nil
		}
	}
	names, err := s.packNames()
	has := false
	for _, name := range names {
		if err == nil {
			err = s.entries(ctx, name, func(_ int, h git.Hash, _ int64) { has = has || objects[h] })
		}
	}
	return has, err
}

// maxAlternates is how far git follows alternates of alternates.
const maxAlternates = 5

// alternates returns the object directories that the repository borrows from, directly or not.
func (s store) alternates() (dirs []string, err error) {
	next := []string{s.dir}
	for range maxAlternates + 1 {
		var found []string
		for _, dir := range next {
			text, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				path := strings.TrimSuffix(line, "\n")
				if unquoted, err := strconv.Unquote(path); err == nil {
					path = unquoted
				}
				if path == "" || path[0] == '#' {
					continue
				}
				if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
					path = filepath.Join(dir, path)
				}
				if path = filepath.Clean(path); path != s.dir && !slices.Contains(dirs, path) {
					dirs, found = append(dirs, path), append(found, path)
				}
			}
		}
		next = found
	}
	return dirs, nil
}
