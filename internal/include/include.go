// Package include gives a new worktree what a checkout has besides the tree: files that git ignores, such as
// .env or node_modules, named by patterns in [File] at the top of the user's checkout or on a command line.
//
// What is copied is ignored in the new worktree as well, so that no turn records it, and what is there
// already stays.
package include

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
)

// File is the name of the file with the patterns of a checkout, in the syntax of .gitignore. Other tools that
// make worktrees for agents read it as well.
const File = ".worktreeinclude"

// An Amount says how much it is.
type Amount struct {
	Files int // and symbolic links
	Bytes int64
}

// Files are the files of a checkout that a new worktree gets.
type Files struct {
	from   *git.Repo
	paths  []string // from the top, with slashes
	amount Amount
}

// A Left file was named, but not copied.
type Left struct {
	Path string // bytes as git has them
	Why  string // for people
}

// Copied says what a new worktree got.
type Copied struct {
	Amount
	Left []Left
}

// A LimitError says that there is more than may be copied.
type LimitError struct{ Most Amount }

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d files or %d bytes are to be copied", e.Most.Files, e.Most.Bytes)
}

// Find finds the ignored files of a checkout that its own [File] names, if file is set, or one of the
// patterns. If there are more than most, the error is a [*LimitError].
func Find(ctx context.Context, from *git.Repo, file bool, patterns []string, most Amount) (*Files, error) {
	f := &Files{from: from}
	args := []string{"ls-files", "-z", "--others", "--ignored"}
	own := filepath.Join(from.Top, File)
	if info, err := os.Lstat(own); file && err == nil && info.Mode().IsRegular() {
		args = append(args, "--exclude-from="+own)
	}
	for _, p := range patterns {
		args = append(args, "--exclude="+p)
	}
	if len(args) == 4 {
		return f, nil
	}
	out, err := from.Output(ctx, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("find what %s names: %w", File, err)
	}
	if f.paths, err = ignored(ctx, from, out); err != nil {
		return nil, err
	}
	for _, p := range f.paths {
		info, err := os.Lstat(filepath.Join(from.Top, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		f.amount.Files++
		f.amount.Bytes += info.Size()
	}
	if f.amount.Files > most.Files || f.amount.Bytes > most.Bytes {
		return nil, &LimitError{most}
	}
	return f, nil
}

// Amount is how much was found.
func (f *Files) Amount() Amount { return f.amount }

// ignored returns those of a list of paths, each ended by a zero byte, that git ignores in a worktree.
func ignored(ctx context.Context, repo *git.Repo, list []byte) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out, err := repo.Output(ctx, bytes.NewReader(list), "check-ignore", "-z", "--stdin")
	if err != nil && git.Status(err) != 1 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// Copy copies the files to a worktree, as far as git ignores them there too. told is called now and then
// with what is done; it may be nil.
func (f *Files) Copy(ctx context.Context, to *git.Repo, told func(Amount)) (*Copied, error) {
	done := new(Copied)
	if len(f.paths) == 0 {
		return done, nil
	}
	paths, err := ignored(ctx, to, []byte(strings.Join(f.paths, "\x00")+"\x00"))
	if err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(f.from.Top)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	root, err := os.OpenRoot(to.Top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, p := range paths {
		if p == "" {
			continue
		}
		n, err := copyFile(from, root, p)
		if errors.Is(err, fs.ErrExist) {
			done.Left = append(done.Left, Left{p, "it is there already"})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("copy %q: %w", p, err)
		}
		done.Files++
		done.Bytes += n
		if told != nil {
			told(done.Amount)
		}
	}
	return done, nil
}

func copyFile(from, to *os.Root, name string) (int64, error) {
	in, err := from.Open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if err := to.MkdirAll(path.Dir(name), 0o777); err != nil {
		return 0, err
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, in)
	return n, errors.Join(err, out.Close())
}
