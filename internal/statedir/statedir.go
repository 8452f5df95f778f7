// Package statedir opens files of our local state, such as
// $GIT_COMMON_DIR/agent. It follows no symbolic link out of it, and opens only
// plain files with one name: anyone who once could write there, or packed an
// archive of it, may have put a link to a user's file there, or a pipe without
// a reader.
//
// Our processes exclude each other by locks on such files; see [Dir.Lock].
package statedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// ErrRefused is wrapped by errors about something in our file's place.
var ErrRefused = errors.New("remove it")

// A RefusedError names what is in our file's place. It wraps [ErrRefused].
type RefusedError struct {
	Path string
	what string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s %s; %v", e.Path, e.what, ErrRefused) }
func (e *RefusedError) Unwrap() error { return ErrRefused }

// A Dir is a directory of local state, made with its first file. Names are
// relative to it. It is safe for concurrent use.
type Dir struct {
	parent, name string
	private      bool // see Private
	git          bool // see Of

	mu    sync.Mutex
	root  *os.Root    // nil until the directory was seen
	above fs.FileInfo // the parent, if others may have to use what we make here
	held  map[string]bool
}

// In returns a directory in the trusted parent. It touches no file.
func In(parent, name string) *Dir { return &Dir{parent: parent, name: name} }

// Of returns the local state in a git directory. Whoever may write there can
// write the state: a group, as with core.sharedRepository, and the directory's
// owner, also what root has made.
func Of(gitDir string) *Dir { return &Dir{parent: gitDir, name: "agent", git: true} }

// Private returns a directory in parent, where others may write. It must belong
// to this process's user, and others must have no access.
func Private(parent, name string) *Dir { return &Dir{parent: parent, name: name, private: true} }

// Own reports whether a directory belongs to the user of this process.
func Own(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && own(info)
}

// Path returns a path, for messages and for git, which lacks our checks.
func (d *Dir) Path(name string) string { return filepath.Join(d.parent, d.name, name) }

// open opens the directory, which must not be a link; with make it creates it.
func (d *Dir) open(make bool) (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root != nil {
		return d.root, nil
	}
	parent, err := os.OpenRoot(d.parent)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	above, err := parent.Stat(".")
	if err != nil {
		return nil, err
	}
	info, err := parent.Lstat(d.name)
	if errors.Is(err, fs.ErrNotExist) && make {
		err = parent.Mkdir(d.name, d.mode(above))
		if err == nil || errors.Is(err, fs.ErrExist) {
			info, err = parent.Lstat(d.name)
		}
	}
	if err == nil && d.git && shared(above) {
		d.above = above
		err = d.giveDir(parent, d.name)
	}
	if err != nil {
		return nil, d.named(".", err)
	}
	if !info.IsDir() || d.private && (!own(info) || info.Mode().Perm()&0o077 != 0) {
		return nil, d.refuse(".", info)
	}
	root, err := parent.OpenRoot(d.name)
	if err != nil {
		return nil, d.named(".", err)
	}
	if seen, err := root.Stat("."); err != nil || !os.SameFile(info, seen) {
		_ = root.Close()
		return nil, fmt.Errorf("%s is being replaced", d.Path("."))
	}
	d.root = root
	return root, nil
}

// mode returns a new directory's mode: users of the parent may use it.
func (d *Dir) mode(above fs.FileInfo) fs.FileMode {
	if d.private {
		return 0o700
	}
	return above.Mode().Perm() | 0o700
}

// Make makes the directory if it is missing.
func (d *Dir) Make() error {
	_, err := d.open(true)
	return err
}

// drop forgets a directory that was removed while open.
func (d *Dir) drop(root *os.Root) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root == root {
		d.root = nil
	}
}

// OpenFile opens a plain file as [os.OpenFile] does; only the user can read a
// new one. With [os.O_CREATE] it makes directories.
func (d *Dir) OpenFile(name string, flag int) (*os.File, error) {
	root, err := d.open(flag&os.O_CREATE != 0)
	if err != nil {
		return nil, err
	}
	// Check what is there before emptying it.
	open := func() (*os.File, error) { return root.OpenFile(name, flag&^os.O_TRUNC|syscall.O_NONBLOCK, 0o600) }
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		if err = root.MkdirAll(filepath.Dir(name), 0o700); errors.Is(err, fs.ErrNotExist) { // d itself is gone
			d.drop(root)
			if root, err = d.open(true); err == nil {
				err = root.MkdirAll(filepath.Dir(name), 0o700)
			}
		}
		if err == nil {
			f, err = open()
		}
	}
	if err != nil {
		for part := name; part != "."; part = filepath.Dir(part) {
			info, e := root.Lstat(part)
			if e == nil && (part == name && !info.Mode().IsRegular() || part != name && !info.IsDir()) {
				return nil, d.refuse(part, info)
			}
		}
		return nil, d.named(name, err)
	}
	info, err := f.Stat()
	if err == nil && d.above != nil && flag&(os.O_WRONLY|os.O_RDWR) != 0 && info.Mode().IsRegular() {
		err = d.giveAll(root, name, f, info)
	}
	switch {
	case err != nil:
	case !info.Mode().IsRegular(), flag&(os.O_WRONLY|os.O_RDWR) != 0 && links(info) > 1:
		err = d.refuse(name, info)
	case flag&os.O_TRUNC != 0 && info.Size() > 0:
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// refuse returns the error about what is in our file's place.
func (d *Dir) refuse(name string, info fs.FileInfo) error {
	what := "is not what git-agent has put there"
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		what = "is a symbolic link"
	case info.Mode().IsRegular() && links(info) > 1:
		what = "is a file with several names (hard links)"
	}
	return &RefusedError{d.Path(name), what}
}

// named puts the full path into an error.
func (d *Dir) named(name string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return &fs.PathError{Op: e.Op, Path: d.Path(name), Err: e.Err}
	}
	return err
}

// ReadFile returns the content of a file.
func (d *Dir) ReadFile(name string) ([]byte, error) {
	f, err := d.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// WriteFile writes a file, replacing the content of an existing one.
func (d *Dir) WriteFile(name string, data []byte) error {
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// ReadDir returns a directory's entries, in no particular order.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := d.directory(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (d *Dir) directory(name string) (*os.File, error) {
	root, err := d.open(false)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return f, d.named(name, err)
}

// Lstat is [os.Lstat].
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	root, err := d.open(false)
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(name)
	return info, d.named(name, err)
}

// Look calls f with what there is in a directory, in no particular order. That
// takes one system call for each.
func (d *Dir) Look(name string, f func(fs.FileInfo)) error {
	root, err := d.open(false)
	if err != nil {
		return err
	}
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR} // OpenRoot would wait for who writes to a pipe
	}
	if err != nil {
		return d.named(name, err)
	}
	in, err := root.OpenRoot(name)
	if err != nil {
		return d.named(name, err)
	}
	defer in.Close()
	list, err := in.OpenFile(".", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return d.named(name, err)
	}
	defer list.Close()
	names, err := list.Readdirnames(-1)
	for _, entry := range names {
		if info, err := in.Lstat(entry); err == nil { // or it went meanwhile
			f(info)
		}
	}
	return d.named(name, err)
}

// Remove is [os.Remove]; "." is the directory itself.
func (d *Dir) Remove(name string) error {
	return d.remove(name, (*os.Root).Remove)
}

// RemoveAll is [os.RemoveAll]; "." is the directory itself.
func (d *Dir) RemoveAll(name string) error {
	err := d.remove(name, (*os.Root).RemoveAll)
	if errors.Is(err, fs.ErrNotExist) { // the directory itself
		return nil
	}
	return err
}

func (d *Dir) remove(name string, do func(*os.Root, string) error) error {
	root, err := d.open(false)
	if err != nil {
		return err
	}
	if name != "." {
		return d.named(name, do(root, name))
	}
	parent, err := os.OpenRoot(d.parent)
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := do(parent, d.name); err != nil {
		return d.named(name, err)
	}
	d.drop(root)
	return nil
}

// Rename is [os.Rename] within the directory.
func (d *Dir) Rename(from, to string) error {
	root, err := d.open(false)
	if err != nil {
		return err
	}
	return root.Rename(from, to)
}
