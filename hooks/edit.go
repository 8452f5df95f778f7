package hooks

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged reports that another program changed a file after its edit was
// planned. Nothing was written; plan again.
var ErrChanged = errors.New("changed in the meantime")

// An Edit is a planned change of one of a client's files.
type Edit struct {
	Path          string // as given, perhaps a symbolic link
	Before, After []byte // nil for no file
	Top           string // a directory that stays; one below it goes with its last file. "" if all stay
}

// PlanInstall plans an [Install] in the file at path. It writes nothing. Errors
// name mistakes in the file as path:line:column.
func PlanInstall(path string, entries []Entry) (*Edit, error) {
	return Plan(path, func(settings []byte) ([]byte, error) { return Install(settings, entries) })
}

// PlanFile plans to give the file at path this content, or to remove it if nil.
func PlanFile(path string, content []byte) (*Edit, error) {
	before, err := readSettings(path)
	if err != nil {
		return nil, err
	}
	return &Edit{Path: path, Before: before, After: content}, nil
}

// Plan plans what change makes of the settings at path, nil for no file. It
// removes a file with only what [Install] starts with, but not behind a link.
func Plan(path string, change func(settings []byte) ([]byte, error)) (*Edit, error) {
	before, err := readSettings(path)
	if err != nil {
		return nil, err
	}
	after, err := change(before)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err) // in the format of compilers
	}
	if info, err := os.Lstat(path); bytes.Equal(after, made) && err == nil && info.Mode().IsRegular() {
		after = nil
	}
	return &Edit{Path: path, Before: before, After: after}, nil
}

const maxSettings = 16 << 20 // bytes; real files have some kilobytes

// readSettings returns the content of the file at path, or nil without one.
func readSettings(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("read %s: a symbolic link to nothing", path)
		}
		return nil, nil
	}
	var data []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular(): // a pipe would block
		return nil, fmt.Errorf("read %s: not a file", path)
	case info.Size() > maxSettings:
		return nil, fmt.Errorf("read %s: larger than %d MiB", path, maxSettings>>20)
	default:
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return data, nil
}

// Changes reports whether there is anything to write.
func (e *Edit) Changes() bool {
	return !bytes.Equal(e.Before, e.After) || (e.Before == nil) != (e.After == nil)
}

// Apply makes the whole change or returns an error, which wraps [ErrChanged] if
// the file has changed since it was planned.
//
// A running client reads its settings whenever they change, so they are
// replaced in one step. The file keeps its mode and, if we may set it, its
// owner; behind a symbolic link the file is replaced, not the link. New files
// and directories get the umask's mode, as from the client. Removal removes a
// link, and keeps its file; a directory below Top that it leaves empty goes as
// well, but no link to one.
func (e *Edit) Apply() error {
	if !e.Changes() {
		return nil
	}
	if err := e.apply(); err != nil {
		return fmt.Errorf("write %s: %w", e.Path, err)
	}
	return nil
}

func (e *Edit) apply() error {
	path, err := e.Path, e.unchanged()
	if err != nil {
		return err
	}
	if e.After == nil {
		if err := os.Remove(path); err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if info, err := os.Lstat(dir); e.Top != "" && dir != filepath.Clean(e.Top) && err == nil && info.IsDir() {
			os.Remove(dir) // which fails unless it is empty
		}
		return nil
	}
	var info fs.FileInfo
	if e.Before == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	} else if path, err = filepath.EvalSymlinks(path); err == nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%s.tmp", path, rand.Text()[:8])
	err = writeLike(temp, info, e.After)
	if err == nil {
		err = e.unchanged() // again, as other programs write the file, too
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

func (e *Edit) unchanged() error {
	now, err := readSettings(e.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, e.Before) || (now == nil) != (e.Before == nil) {
		return ErrChanged
	}
	return nil
}

// writeLike writes a new file with the mode and owner of info, unless nil.
func writeLike(path string, info fs.FileInfo, data []byte) error {
	mode := fs.FileMode(0o666)
	if info != nil {
		mode = info.Mode().Perm()
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if info != nil {
		keepOwner(f, info)
		err = f.Chmod(mode) // the umask may have removed some bits
	}
	_, unwritten := f.Write(data)
	return cmp.Or(err, unwritten, f.Close())
}
