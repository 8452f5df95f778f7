package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

const (
	// maxPlainFiles is how many files are hashed in-process. For 64 of 10 KB
	// git takes as long, 3 ms, and the private index remembers the hashes.
	maxPlainFiles = 64
	// maxPlainSize is how many bytes of files are read into memory.
	maxPlainSize = 16 << 20
)

// plain hashes the worktree's files among entries. ok is false if they are
// many, if git would not store each byte for byte, or with Options.Publish.
func (t *taker) plain(entries []entry) (files map[string]object.Entry, ok bool) {
	if t.opt.Publish && len(entries) > 0 {
		return nil, false
	}
	var work []*entry
	var size int64
	for i := range entries {
		e := &entries[i]
		if !e.work || e.gone {
			continue
		}
		if e.info == nil {
			return nil, false // a submodule, or a file that only git can read
		}
		work = append(work, e)
		size += e.info.Size()
	}
	if len(work) > maxPlainFiles || size > maxPlainSize {
		return nil, false
	}
	contents := make(map[string][]byte, len(work))
	for _, e := range work {
		content, err := t.read(e)
		switch {
		case gone(err):
			e.gone = true
		case err != nil:
			return nil, false // git tells each path's problem
		default:
			contents[e.path] = content
		}
	}
	if t.converted(entries, contents) {
		return nil, false
	}
	files = make(map[string]object.Entry, len(work))
	for _, e := range work {
		if e.gone {
			continue
		}
		hash, err := t.objects.Write(plumbing.BlobObject, contents[e.path])
		if err != nil {
			return nil, false
		}
		files[e.path] = object.Entry{Mode: t.mode(e), Hash: hash}
	}
	return files, true
}

// read returns a file's bytes or a link's target, as git would store them, or a
// file's with marks.
func (t *taker) read(e *entry) ([]byte, error) {
	if e.marked != nil {
		return e.marked, nil
	}
	if e.info.Mode()&fs.ModeSymlink == 0 {
		return os.ReadFile(t.index.file(e.path))
	}
	target, err := os.Readlink(t.index.file(e.path))
	return []byte(filepath.ToSlash(target)), err
}

func (t *taker) mode(e *entry) filemode.FileMode {
	switch {
	case e.info.Mode()&fs.ModeSymlink != 0:
		return filemode.Symlink
	case e.mode == filemode.Symlink && t.off("core.symlinks"): // the file holds a link's target
		return filemode.Symlink
	case e.mode == filemode.Regular, e.mode == filemode.Executable:
		return e.mode // git knows about core.fileMode
	case e.info.Mode()&0o100 != 0 && !t.off("core.filemode"):
		return filemode.Executable
	}
	return filemode.Regular
}

// off reports whether a setting that is on by default is off.
func (t *taker) off(key string) bool { return len(t.config[key]) > 0 && !t.config.Bool(key) }

// ignoresCase says that names which differ only in case are one file's, on most
// disks of this system. Elsewhere core.ignorecase does.
const ignoresCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// bytewise reports whether nothing that holds for the whole worktree makes
// files, modes or names in git other than those on disk, or leaves files out
// for how many there are. Attributes in directories below are not looked for.
func (t *taker) bytewise(entries []entry) bool {
	many := func(s record.Skip) bool { return s.Why == record.WhyTooMany || s.Why == record.WhyTooMuch }
	return !t.crlf() && !t.off("core.symlinks") && !t.off("core.filemode") &&
		(ignoresCase || !t.config.Bool("core.ignorecase")) &&
		!t.attributesFor(entries, map[string][]byte{".gitattributes": nil}) && !slices.ContainsFunc(t.skipped, many)
}

func (t *taker) crlf() bool {
	return strings.EqualFold(t.config.Get("core.autocrlf"), "input") || t.config.Bool("core.autocrlf")
}

// converted reports whether git might convert one of the files.
func (t *taker) converted(entries []entry, contents map[string][]byte) bool {
	crlf := t.crlf()
	if len(contents) == 0 || !crlf && !t.attributesFor(entries, contents) {
		return false
	}
	paths := strings.Join(slices.Collect(maps.Keys(contents)), "\x00") + "\x00"
	attributes, err := t.attributes(paths, "text", "filter", "ident", "working-tree-encoding", "eol", "crlf")
	if err != nil {
		return true
	}
	text := ""
	for _, a := range attributes {
		on := a.value != "unspecified" && a.value != "unset"
		switch a.name {
		case "text":
			text = a.value
			fallthrough
		case "eol", "crlf": // change only files with carriage returns
			if text != "unset" && (on || crlf) && bytes.IndexByte(contents[a.path], '\r') >= 0 {
				return true
			}
		default:
			if on {
				return true
			}
		}
	}
	return false
}

// An attribute of a path, as git check-attr prints it.
type attribute struct{ path, name, value string }

// attributes returns, for each NUL-ended path, its attributes in names' order.
func (t *taker) attributes(paths string, names ...string) ([]attribute, error) {
	out, err := t.index.git(t.ctx, t.index.path, paths, append([]string{"check-attr", "-z", "--stdin"}, names...)...)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields) != 3*len(names)*strings.Count(paths, "\x00") {
		return nil, fmt.Errorf("read attributes: %d fields", len(fields))
	}
	attributes := make([]attribute, 0, len(fields)/3)
	for f := range slices.Chunk(fields, 3) {
		attributes = append(attributes, attribute{f[0], f[1], f[2]})
	}
	return attributes, nil
}

// attributesFor reports whether any file could give a path an attribute. If
// .gitattributes is missing, as in a sparse checkout, git uses the index's.
func (t *taker) attributesFor(entries []entry, contents map[string][]byte) bool {
	if t.config.Bool("core.sparsecheckout") || t.config.Get("core.attributesfile") != "" || t.config.Get("attr.tree") != "" {
		return true
	}
	for _, e := range entries {
		if e.gone && path.Base(e.path) == ".gitattributes" {
			return true
		}
	}
	global := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(os.Getenv("HOME"), ".config"))
	for _, file := range []string{
		filepath.Join(t.index.repo.CommonDir, "info", "attributes"),
		filepath.Join(global, "git", "attributes"),
		"/etc/gitattributes",
	} {
		if exists(file) {
			return true
		}
	}
	seen := make(map[string]bool)
	for p := range contents {
		for dir := filepath.Dir(t.index.file(p)); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if exists(filepath.Join(dir, ".gitattributes")) {
				return true
			}
			if dir == t.index.repo.Top || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return false
}
