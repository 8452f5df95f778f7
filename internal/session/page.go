package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/statedir"
)

// PageFile is the last page that a person viewed, in the store's directory.
const PageFile = "page.html"

// Unfinished begins the name of a page that is being written, so that nothing
// else is taken for one.
const Unfinished = ".git-agent-page-"

const pages = "pages" // the directory of locks whose notes name what is being written

// NotePage notes that this process writes a page at an absolute path, until done
// is called. If it dies before, [Store.DropPages] removes what is there: a page
// is compressed, so nobody could find a secret in it.
func (s Store) NotePage(ctx context.Context, path string) (done func(), err error) {
	name := filepath.Join(pages, filepath.Base(path))
	held, err := s.dir.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	done = func() {
		_ = s.dir.Remove(name)
		_ = s.dir.Remove(pages) // if it is empty
		held.Release()
	}
	if err := held.Note(statedir.Note{Words: []string{path}}); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// LeftPages lists the pages that processes did not finish before they died.
func (s Store) LeftPages() (left []string, err error) {
	err = s.eachLeft(func(path string, _ func()) error {
		left = append(left, path)
		return nil
	})
	return left, err
}

// DropPages removes the pages of [Store.LeftPages].
func (s Store) DropPages() error {
	err := s.eachLeft(func(path string, forget func()) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		forget()
		return nil
	})
	_ = s.dir.Remove(pages) // if it is empty
	return err
}

// eachLeft calls f for what is left of pages, and what forgets that.
func (s Store) eachLeft(f func(path string, forget func()) error) error {
	entries, err := s.dir.ReadDir(pages)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		name := filepath.Join(pages, e.Name())
		held, e := s.dir.TryLock(name)
		if held == nil { // its process is alive
			err = errors.Join(err, e)
			continue
		}
		words := held.Left().Words
		if len(words) == 1 && filepath.IsAbs(words[0]) && strings.HasPrefix(filepath.Base(words[0]), Unfinished) {
			forget := func() { _ = s.dir.Remove(name) }
			info, e := os.Lstat(words[0])
			switch {
			case errors.Is(e, fs.ErrNotExist):
				forget()
			case e != nil:
				err = errors.Join(err, e)
			case info.Mode().IsRegular():
				err = errors.Join(err, f(words[0], forget))
			}
		}
		held.Release()
	}
	return err
}
