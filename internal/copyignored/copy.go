package copyignored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gitagent/internal/git"
)

// Copy copies the files that git ignores in a worktree, too. One goroutine at a
// time calls told, unless nil. After an error, some files are there.
func (f *Files) Copy(ctx context.Context, to *git.Repo, told func(Amount)) (*Copied, error) {
	c := &copier{told: told}
	if len(f.dirs) > 0 {
		if err := c.copy(ctx, f, to); err != nil {
			return nil, err
		}
	}
	c.done.Skipped = append(fold(c.done.Skipped, f.dirs), f.left...)
	slices.SortFunc(c.done.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return &c.done, nil
}

// A copier copies once. It opens files below two roots, as links in either
// worktree may lead anywhere.
type copier struct {
	from, to *os.Root
	made     []madeDir // those above before those in them

	mu   sync.Mutex
	told func(Amount)
	done Copied
}

// A madeDir is a new directory, and the one that it copies.
type madeDir struct {
	path string
	as   fs.FileInfo
}

func (c *copier) copy(ctx context.Context, f *Files, to *git.Repo) (err error) {
	if c.from, err = os.OpenRoot(f.from.Top); err != nil {
		return err
	}
	defer c.from.Close()
	if c.to, err = os.OpenRoot(to.Top); err != nil {
		return err
	}
	defer c.to.Close()
	dirs, err := c.choose(ctx, to, f.dirs)
	if err != nil {
		return fmt.Errorf("choose the ignored files to copy: %w", err)
	}
	if dirs, err = c.makeDirs(ctx, dirs); err != nil {
		return err
	}
	if err := c.contents(ctx, dirs); err != nil {
		return err
	}
	if err := c.links(ctx, dirs); err != nil {
		return err
	}
	if err := c.takeBack(ctx, to, dirs); err != nil {
		return err
	}
	return c.finishDirs(ctx)
}

func (c *copier) skip(name, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done.Skipped = append(c.done.Skipped, Skipped{name, why})
}

func (c *copier) add(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done.add(bytes)
	if c.told != nil {
		c.told(c.done.Amount)
	}
}

// makeDirs makes the directories, and drops files that have lost theirs.
func (c *copier) makeDirs(ctx context.Context, dirs []dir) ([]dir, error) {
	why := map[string]string{".": ""} // nothing can be copied into a directory
	var made func(name string) error
	made = func(name string) error {
		if _, ok := why[name]; ok {
			return nil
		}
		if err := made(path.Dir(name)); err != nil {
			return err
		}
		if why[name] = why[path.Dir(name)]; why[name] != "" {
			return nil
		}
		info, err := c.from.Lstat(name)
		if err != nil || !info.IsDir() {
			why[name] = whyLost(err)
			return nil
		}
		switch err := c.to.Mkdir(name, 0o700); {
		case err == nil:
			c.made = append(c.made, madeDir{name, info})
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("copy %q: %w", name, err)
		}
		return nil
	}
	var there []dir
	for _, d := range dirs {
		if len(d.files) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := made(d.path); err != nil {
			return nil, err
		}
		there = append(there, c.keep(d, func(string) string { return why[d.path] }))
	}
	return there, nil
}

// finishDirs copies modes and times to the directories that were made.
func (c *copier) finishDirs(ctx context.Context) error {
	for _, d := range slices.Backward(c.made) {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := errors.Join(
			supported(c.to.Chtimes(d.path, time.Time{}, d.as.ModTime())),
			supported(c.to.Chmod(d.path, d.as.Mode().Perm())),
		)
		if err != nil {
			return fmt.Errorf("copy %q: %w", d.path, err)
		}
	}
	return nil
}

// supported drops the error of a file system without modes, or these.
func supported(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// mostAtOnce is how many files of a directory a worker takes at a time.
const mostAtOnce = 256

// A share is some files of a directory, for one worker.
type share struct {
	dir   string
	files []file
}

// contents copies the files. The first error ends it.
func (c *copier) contents(ctx context.Context, dirs []dir) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	shares := make(chan share)
	var workers sync.WaitGroup
	for range min(max(runtime.GOMAXPROCS(0), 2), 8) {
		workers.Go(func() {
			for s := range shares {
				if err := c.share(ctx, s); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, d := range dirs {
		for files := range slices.Chunk(d.files, mostAtOnce) {
			if ctx.Err() == nil {
				shares <- share{d.path, files}
			}
		}
	}
	close(shares)
	workers.Wait()
	return context.Cause(ctx)
}

func (c *copier) share(ctx context.Context, s share) error {
	from, err := c.from.OpenRoot(s.dir)
	if err != nil {
		for _, f := range s.files {
			c.skip(path.Join(s.dir, f.name), whyLost(err))
		}
		return nil
	}
	defer from.Close()
	to, err := c.to.OpenRoot(s.dir)
	if err != nil {
		return fmt.Errorf("copy %q: %w", s.dir, err)
	}
	defer to.Close()
	for i := range s.files {
		f := &s.files[i]
		if f.link {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, why, err := copyFile(ctx, from, to, f.name)
		switch name := path.Join(s.dir, f.name); {
		case err != nil:
			return fmt.Errorf("copy %q: %w", name, err)
		case why != "":
			c.skip(name, why)
		default:
			f.copied, f.bytes = true, n
			c.add(n)
		}
	}
	return nil
}

// copyFile copies a file, or returns why it did not.
func copyFile(ctx context.Context, from, to *os.Root, name string) (n int64, why string, err error) {
	seen, err := from.Lstat(name)
	if err != nil {
		return 0, whyLost(err), nil
	}
	if !seen.Mode().IsRegular() {
		return 0, whyGone, nil
	}
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, whyLost(err), nil
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !os.SameFile(info, seen) {
		return 0, whyGone, nil
	}
	if clone(in, to, name) {
		n = info.Size()
	} else {
		out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return 0, whyThere, nil
		}
		if err != nil {
			return 0, "", err
		}
		n, err = copyContent(ctx, out, in, info.Size())
		if err = errors.Join(err, supported(out.Chmod(info.Mode().Perm())), out.Close()); err != nil {
			return n, "", err
		}
	}
	return n, "", supported(to.Chtimes(name, time.Time{}, info.ModTime()))
}

const atOnce = 64 << 20 // between two looks at the context

// copyContent copies a file up to its first size, as logs grow. On Linux the
// system copies and may share blocks (copy_file_range).
func copyContent(ctx context.Context, out, in *os.File, size int64) (n int64, err error) {
	for n < size {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		got, err := io.CopyN(out, in, min(size-n, atOnce))
		n += got
		if errors.Is(err, io.EOF) {
			break // it has become shorter
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// takeBack removes what a copied .gitignore has git ignore no longer.
func (c *copier) takeBack(ctx context.Context, to *git.Repo, dirs []dir) error {
	if !slices.ContainsFunc(dirs, func(d dir) bool {
		return slices.ContainsFunc(d.files, func(f file) bool { return f.name == ".gitignore" && f.copied })
	}) {
		return nil
	}
	still, err := ignored(ctx, to, dirs)
	if err != nil {
		return fmt.Errorf("check the ignored files that were copied: %w", err)
	}
	for _, d := range dirs {
		for _, f := range d.files {
			name := path.Join(d.path, f.name)
			if !f.copied || still[name] {
				continue
			}
			if err := c.to.Remove(name); err != nil {
				return err
			}
			c.skip(name, whyNotIgnored)
			c.done.Files--
			c.done.Bytes -= f.bytes
		}
	}
	return nil
}
