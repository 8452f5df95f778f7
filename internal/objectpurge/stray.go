package objectpurge

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// garbage lists files of objects that git ignores: being written, left by a
// dead git, or packs without an index.
func (s store) garbage() (list []string, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.dir, path)
		base, isPack := strings.CutSuffix(path, ".pack")
		written := strings.HasPrefix(filepath.ToSlash(name), "tmp_") || strings.HasPrefix(d.Name(), "tmp_")
		if written && holdsObjects(path) || isPack && !isFile(base+".idx") {
			list = append(list, path)
		}
		return err
	})
	return list, err
}

// holdsObjects tells packs and loose objects from other files of git.
func holdsObjects(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	n, _ := io.ReadFull(f, head[:])
	return bytes.HasPrefix(head[:n], []byte("PACK")) || n > 0 && head[0] == 0x78 // as zlib begins
}

// dropGarbage removes garbage with a doomed object. A git that is writing it
// fails, and has lost what must not be there.
func (e *eraser) dropGarbage(ctx context.Context) error {
	list, err := e.garbage()
	for _, file := range list {
		if strings.HasPrefix(file, e.temp) {
			continue
		}
		doomed, e := e.inGarbage(ctx, file)
		if e == nil && doomed {
			e = os.Remove(file)
		}
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// inGarbage reports whether a doomed object can be read from a file.
func (e *eraser) inGarbage(ctx context.Context, file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if h, err := e.repo.Format().LooseHash(f); err == nil {
		return e.doomed[h], nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	defer os.RemoveAll(e.temp)
	if err := e.makeTemp(); err != nil {
		return false, err
	}
	// Git writes what it can read of a damaged pack before it fails.
	_ = e.repo.With(git.Env("GIT_OBJECT_DIRECTORY="+e.temp)).Run(ctx, f, io.Discard, io.Discard, "unpack-objects", "-q", "-r")
	if err := ctx.Err(); err != nil {
		return false, err
	}
	unpacked := store{e.repo, e.temp}
	for h := range e.doomed {
		if isFile(unpacked.looseFile(h)) {
			return true, nil
		}
	}
	return false, nil
}

// searchGarbage searches what can be inflated: torn packs have whole objects.
func (s store) searchGarbage(ctx context.Context, has func([]byte) bool, found *Searched) error {
	var buffer []byte
	for _, file := range found.Garbage {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has its final name
		}
		if err != nil {
			return err
		}
		said := false
		for i := 0; i+1 < len(data) && !said; {
			if data[i] != 0x78 || (int(data[i])<<8|int(data[i+1]))%31 != 0 { // as zlib begins
				i++
				continue
			}
			in := bytes.NewReader(data[i:])
			plain, err := zlib.NewReader(in)
			if err == nil {
				buffer, err = pieces(plain, buffer, func(part []byte) bool {
					said = has(part)
					return said
				})
			}
			if i++; err == nil && !said {
				i = len(data) - in.Len()
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !said {
			continue
		}
		f := Found{Path: file}
		if h, err := s.repo.Format().LooseHash(bytes.NewReader(data)); err == nil {
			f.Object, f.Type = h, plumbing.AnyObject
		}
		found.Found = append(found.Found, f)
	}
	return nil
}
