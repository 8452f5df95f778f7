package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
)

const (
	// maxPlainFiles is how many files are hashed in-process. With more of them,
	// the private index had better remember the hashes: hashing 64 files of 10 KB costs
	// about what `git update-index` and `git write-tree` cost, 3 ms.
	maxPlainFiles = 64
	// maxPlainSize is the largest file in bytes that is read into memory whole.
	maxPlainSize = 16 << 20
)

// plain hashes the worktree's files among entries, if they are few and git would
// store every one of them byte for byte, and if no index has to be published.
// Otherwise ok is false.
func (t *taker) plain(entries []entry) (files map[string]git.Entry, ok bool) {
	if t.opt.Publish {
		return nil, false
	}
	var work []entry
	for _, e := range entries {
		if e.work {
			if e.submodule {
				return nil, false
			}
			work = append(work, e)
		}
	}
	if len(work) > maxPlainFiles {
		return nil, false
	}
	files = make(map[string]git.Entry, len(work))
	contents := make(map[string][]byte, len(work)) // of regular files, to be looked at for conversion
	for _, e := range work {
		content, mode, err := t.read(e)
		switch {
		case err == nil && mode == filemode.Empty, gone(err):
			files[e.path] = git.Entry{}
			continue
		case err != nil:
			return nil, false // git says what is wrong, path by path
		case len(content) > maxPlainSize:
			return nil, false
		}
		if mode != filemode.Symlink {
			contents[e.path] = content
		}
		hash, err := t.objects.Write(plumbing.BlobObject, content)
		if err != nil {
			return nil, false
		}
		files[e.path] = git.Entry{Mode: mode, Hash: hash}
	}
	return files, !t.converted(contents)
}

// read returns what git would find at the path of e: a file's bytes or a link's target.
// Mode is zero if nothing is there that git can store. The content of a file
// that is too large is one byte longer than the limit.
func (t *taker) read(e entry) ([]byte, filemode.FileMode, error) {
	if !e.untracked && e.mode == filemode.Empty {
		return nil, filemode.Empty, nil
	}
	path := t.file(e.path)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, filemode.Empty, err
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return []byte(filepath.ToSlash(target)), filemode.Symlink, err
	case !info.Mode().IsRegular():
		return nil, filemode.Empty, nil
	case info.Size() > maxPlainSize:
		return make([]byte, maxPlainSize+1), filemode.Regular, nil
	}
	mode := e.mode // as git sees it: core.fileMode may be off
	if e.untracked || mode == filemode.Symlink {
		mode = filemode.Regular
		if info.Mode()&0o100 != 0 && t.fileMode() {
			mode = filemode.Executable
		}
	}
	content, err := os.ReadFile(path)
	return content, mode, err
}

func (t *taker) fileMode() bool {
	return t.config.Get("core.filemode") == "" || t.config.Bool("core.filemode")
}

// conversions are the attributes that can make git store something other than a file's bytes.
var conversions = []string{"filter", "ident", "working-tree-encoding", "text", "eol", "crlf"}

// converted reports whether git would convert one of the files when it stores them.
// It may say so without need, never the opposite.
func (t *taker) converted(contents map[string][]byte) bool {
	autocrlf := t.config.Get("core.autocrlf")
	crlf := autocrlf != "" && !strings.EqualFold(autocrlf, "false")
	if !crlf && !t.attributesFor(contents) {
		return false
	}
	var paths strings.Builder
	for p := range contents {
		paths.WriteString(p)
		paths.WriteByte(0)
	}
	out, err := t.index.git().Output(t.ctx, strings.NewReader(paths.String()), append([]string{"check-attr", "-z", "--stdin"}, conversions...)...)
	if err != nil {
		return true
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(contents) == 0 {
		return false
	}
	if len(fields) != 3*len(conversions)*len(contents) {
		return true
	}
	for i := 0; i+2 < len(fields); i += 3 {
		path, attribute, value := fields[i], fields[i+1], fields[i+2]
		on := value != "unspecified" && value != "unset"
		switch attribute {
		case "filter", "ident", "working-tree-encoding":
			if on {
				return true
			}
		default: // end-of-line conversion changes nothing in a file without a carriage return
			if (on || crlf && value != "unset") && bytes.IndexByte(contents[path], '\r') >= 0 {
				return true
			}
		}
	}
	return false
}

// attributesFor reports whether there is any file that could give one of the paths an attribute.
// In a sparse checkout git reads .gitattributes from the index: then it is assumed.
func (t *taker) attributesFor(contents map[string][]byte) bool {
	repo := t.index.repo
	if t.config.Bool("core.sparsecheckout") || t.config.Get("core.attributesfile") != "" {
		return true
	}
	global := filepath.Join(os.Getenv("HOME"), ".config")
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		global = dir
	}
	for _, file := range []string{
		filepath.Join(repo.CommonDir, "info", "attributes"),
		filepath.Join(global, "git", "attributes"),
		"/etc/gitattributes",
	} {
		if exists(file) {
			return true
		}
	}
	seen := make(map[string]bool)
	for p := range contents {
		for dir := filepath.Dir(t.file(p)); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if exists(filepath.Join(dir, ".gitattributes")) {
				return true
			}
			if dir == repo.Top || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return false
}

// maxAdds bounds how many processes are spent on finding the paths that git can't add.
const maxAdds = 64

// add brings paths of the worktree into the private index. A path that git can't add
// (its filter is missing or fails, the file can't be read) is skipped, and costs no other path.
func (t *taker) add(paths []string) error {
	adds := 0
	var add func(paths []string)
	add = func(paths []string) {
		if len(paths) == 0 {
			return
		}
		if adds++; adds <= maxAdds {
			if t.updateIndex(paths) == nil {
				return
			}
			if len(paths) > 1 {
				add(paths[:len(paths)/2])
				add(paths[len(paths)/2:])
				return
			}
		}
		for _, p := range paths {
			t.skip(p, t.whyNot(p))
		}
	}
	// The index itself must be all right before a failure can be blamed on a path.
	if err := t.updateIndex(nil); err != nil {
		return err
	}
	add(paths)
	return nil
}

func (t *taker) updateIndex(paths []string) error {
	var in strings.Builder
	for _, p := range paths {
		in.WriteString(p)
		in.WriteByte(0)
	}
	_, err := t.index.git().Output(t.ctx, strings.NewReader(in.String()),
		"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
	return err
}

func (t *taker) whyNot(path string) string {
	f, err := os.Open(t.file(path))
	if err != nil {
		return WhyUnreadable
	}
	_ = f.Close()
	return WhyFilter
}
