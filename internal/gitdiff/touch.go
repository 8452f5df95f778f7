package gitdiff

import (
	"context"
	"fmt"
	"io"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Touch tells which changes touch some paths, with one git for many.
type Touch struct {
	ctx   context.Context
	repo  *git.Repo
	paths []string
	git   *git.Process // nil before the first question, and after a failed one
}

// NewTouch returns a Touch for pathspecs relative to the current directory, if
// git can parse them. The caller must call Close.
func NewTouch(ctx context.Context, r *git.Repo, pathspecs []string) (*Touch, error) {
	t := &Touch{ctx: ctx, repo: r.With(git.Here, git.Wary), paths: pathspecs}
	_, err := t.repo.Output(ctx, strings.NewReader(""), t.args()...)
	return t, err
}

func (t *Touch) args() []string {
	args := []string{"diff-tree", "--stdin", "--always", "-r", "--raw", "--no-renames", "--"}
	return append(args, t.paths...)
}

// touchEnd is not a commit, so diff-tree repeats the line.
const touchEnd = ".\n"

// Between reports whether the trees of two commits differ in the paths.
func (t *Touch) Between(from, to object.Hash) (bool, error) {
	if t.git == nil {
		var err error
		if t.git, err = t.repo.Start(t.ctx, t.args()...); err != nil {
			return false, err
		}
	}
	// The line names a commit and the parents to use instead of its own.
	_, err := io.WriteString(t.git.Stdin, to.String()+" "+from.String()+"\n"+touchEnd)
	read, touched := false, false
	for err == nil {
		var line string
		switch line, err = t.git.Stdout.ReadString('\n'); {
		case line == touchEnd && !read:
			return false, fmt.Errorf("compare %s and %s: the second is not here", from, to)
		case line == touchEnd:
			return touched, nil
		case strings.HasPrefix(line, ":"):
			touched = true
		case line == to.String()+"\n":
			read = true
		}
	}
	if _, failed := t.git.Finish(nil); failed != nil {
		err = failed // it says why
	}
	t.git = nil
	return false, fmt.Errorf("compare %s and %s: %w", from, to, err)
}

// Close ends git.
func (t *Touch) Close() {
	if t.git != nil {
		t.git.Kill()
	}
}
