package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

// Unhooked returns what says that a hook of the user's failed after a checkout,
// which stays.
func Unhooked(c *cli.Context) func(error) {
	return func(err error) {
		cmdline.WriteMessage(c.App.ErrWriter, c.App.Name+": warning: ", "all is checked out, but a hook failed after that: "+cmdline.OneLine(err.Error()))
	}
}

// TellLacks says what git worktree add left out, and how to get it: submodules,
// and files of LFS if its filter is off.
func TellLacks(ctx context.Context, w io.Writer, dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	if _, err := root.Lstat(".gitmodules"); err == nil {
		fmt.Fprintf(w, "submodules are not checked out; do it with: %s\n",
			cmdline.Shell([]string{"git", "-C", dir, "submodule", "update", "--init", "--recursive"}))
	}
	if n := pointers(ctx, root, dir); n > 0 {
		fmt.Fprintf(w, "%s of LFS, and not fetched; do it with: %s\n", isOrAre(n), cmdline.Shell([]string{"git", "-C", dir, "lfs", "pull"}))
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

// The bounds and the beginning of LFS pointers.
const (
	maxAttributes = 64 << 10
	maxPointer    = 1 << 10
	pointer       = "version https://git-lfs.github.com/spec/v1\n"
)

// pointers counts remaining LFS pointers, if the top attributes name LFS.
func pointers(ctx context.Context, root *os.Root, dir string) (n int) {
	attributes, _ := head(root, ".gitattributes", maxAttributes, maxAttributes)
	if !bytes.Contains(attributes, []byte("filter=lfs")) {
		return 0
	}
	repo, err := git.Find(dir)
	if err != nil {
		return 0
	}
	out, err := repo.Output(ctx, nil, "ls-files", "-z", "--", ":(top,attr:filter=lfs)")
	if err != nil {
		return 0
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if text, _ := head(root, path, maxPointer, len(pointer)); string(text) == pointer {
			n++
		}
	}
	return n
}

// head reads the beginning of a regular file that is no larger than most.
func head(root *os.Root, path string, most int64, n int) ([]byte, error) {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, err
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(n)))
}
