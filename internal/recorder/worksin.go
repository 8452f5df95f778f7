package recorder

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/session"
)

// named returns the repositories in which a batch may have written: that of the
// agent's directory, and those that it names, by a path in it or, in a command, a
// worktree by its path or the name of its directory. To remove a worktree is not
// to work in it.
func (b Batch) named(ctx context.Context, repo *git.Repo) []*git.Repo {
	var list []*git.Repo
	here := func() {
		if other, err := git.Find(cmp.Or(b.Cwd, repo.Top)); err == nil {
			list = append(list, other)
		}
	}
	if len(b.Calls) == 0 { // a sub-agent has ended
		here()
	}
	for _, call := range b.Calls {
		if call.Effect == hooks.Reads || call.Command != "" && !call.Cut && deedOf(call.Command).idle {
			continue
		}
		here()
		for _, path := range b.paths(call) {
			if other, err := git.Find(path); err == nil {
				list = append(list, other)
			}
		}
		if call.Command == "" {
			continue
		}
		names, _ := os.ReadDir(filepath.Join(repo.CommonDir, "worktrees"))
		dirs := []string{repo.CommonDir}
		for _, name := range names {
			dirs = append(dirs, filepath.Join(repo.CommonDir, "worktrees", name.Name()))
		}
		for _, dir := range dirs {
			if top := topOf(ctx, repo, dir); top != "" && worksIn(call.Command, top, func(path string) bool { return b.isElsewhere(dir, path) }) {
				if other := worktreeOf(ctx, repo, dir); other != nil {
					list = append(list, other)
				}
			}
		}
	}
	return list
}

// In reports whether a batch may have worked in a worktree, by its directory and
// what it names.
func (b Batch) In(ctx context.Context, repo *git.Repo) bool {
	return slices.ContainsFunc(b.named(ctx, repo), func(other *git.Repo) bool { return other.GitDir == repo.GitDir })
}

// paths returns those that a call names, and of a command those that are there:
// where one is gone, nothing says which worktree it was in.
func (b Batch) paths(call hooks.Call) []string {
	if RemovesWorktree(call.Command) {
		return nil
	}
	home, _ := os.UserHomeDir()
	return slices.DeleteFunc(Named(b.Cwd, home, []hooks.Call{call}), func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil && call.Command != ""
	})
}

// isElsewhere reports whether something is there at a path that a call names, and
// is not of the worktree with a git directory: as one within it is.
func (b Batch) isElsewhere(gitDir, path string) bool {
	path = absolute(b.Cwd, path)
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	other, err := git.Find(path)
	return err == nil && other.GitDir != gitDir
}

// worksIn reports whether a command may work in a directory: a part of it that
// does not remove a worktree has its path, or a relative one with its name, which
// is not of something elsewhere.
func worksIn(command, top string, elsewhere func(path string) bool) bool {
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return strings.ContainsRune(";&|\n", r) }) {
		if RemovesWorktree(part) {
			continue
		}
		for _, rest := range strings.Split(part, top)[1:] {
			if i := strings.IndexFunc(rest, endsWord); i >= 0 {
				rest = rest[:i]
			}
			if (rest == "" || rest[0] == '/') && !elsewhere(top+rest) {
				return true
			}
		}
		for _, w := range wordsOf(part) {
			if !strings.HasPrefix(w, "/") && slices.Contains(strings.Split(w, "/"), filepath.Base(top)) && !elsewhere(w) {
				return true
			}
		}
	}
	return false
}

func wordsOf(command string) []string { return strings.FieldsFunc(command, endsWord) }

func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`\'"=;&|()<>`, r) }

// RemovesWorktree reports whether a call may remove a worktree with git.
func RemovesWorktree(command string) bool {
	words := wordsOf(command)
	return slices.Contains(words, "worktree") && slices.Contains(words, "remove")
}

// topOf returns the top of the worktree that has a git directory, as that says,
// or "".
func topOf(ctx context.Context, repo *git.Repo, gitDir string) string {
	if gitDir == repo.CommonDir {
		return repo.Main(ctx)
	}
	b, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return ""
	}
	path := filepath.FromSlash(strings.TrimRight(string(b), "\r\n"))
	if !filepath.IsAbs(path) {
		path = filepath.Join(gitDir, path)
	}
	return filepath.Dir(path)
}

// worktreeOf returns the worktree of a repository that has a git directory, or
// nil if it is gone.
func worktreeOf(ctx context.Context, repo *git.Repo, gitDir string) *git.Repo {
	other, err := git.Find(topOf(ctx, repo, gitDir))
	if err != nil || other.GitDir != gitDir || other.CommonDir != repo.CommonDir {
		return nil
	}
	return other
}

// Taken reports whether another session works in a worktree: its turns have what
// it holds.
func Taken(repo *git.Repo, name string) bool {
	others, err := session.PresenceIn(repo.GitDir).Others(name)
	return err == nil && len(others) > 0
}
