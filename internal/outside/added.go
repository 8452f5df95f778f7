package outside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Added is what commits add, each with a path where they do.
type Added struct {
	Objects    map[OID]string
	Submodules map[object.Hash]string
}

// Commits are those that tips lead to but known do not, nor the refs of a
// remote here.
type Commits struct {
	Tips, Known []object.Hash // Known need not be here
	Remote      string        // may be empty
}

// In finds what commits add. Blobs that a partial clone lacks are left out.
func In(ctx context.Context, repo *git.Repo, objects *git.Objects, c Commits) (*Added, error) {
	var revs strings.Builder
	for _, tip := range c.Tips {
		fmt.Fprintln(&revs, tip)
	}
	for _, known := range c.Known {
		fmt.Fprintf(&revs, "^%s\n", known)
	}
	args := []string{"rev-list", "--ignore-missing", "--stdin"}
	if c.Remote != "" {
		args = append(args, "--not", "--remotes="+c.Remote)
	}
	commits, err := repo.Output(ctx, strings.NewReader(revs.String()), args...)
	if err != nil {
		return nil, err
	}
	out, err := repo.Output(ctx, strings.NewReader(string(commits)), "diff-tree", "--stdin", "-r", "-z", "--raw", "--no-commit-id", "--root",
		"--no-renames", "--diff-merges=first-parent")
	if err != nil {
		return nil, err
	}
	added := &Added{Objects: make(map[OID]string), Submodules: make(map[object.Hash]string)}
	blobs := make(map[object.Hash]string)
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i++ {
		f := strings.Fields(fields[i]) // :<mode> <mode> <hash> <hash> <status>, or nothing
		if len(f) != 5 {
			continue
		}
		i++
		hash, err := object.ParseHash(f[3])
		if err != nil {
			return nil, fmt.Errorf("read git diff-tree's output: %w", err)
		}
		switch f[1] {
		case "100644", "100755":
			blobs[hash] = fields[i]
		case "160000":
			added.Submodules[hash] = fields[i]
		}
	}
	var list []git.Wanted
	for hash := range blobs {
		list = append(list, git.Wanted{Hash: hash, Most: MaxPointer})
	}
	return added, objects.Each(list, func(i int, obj *git.Object, err error) error {
		if err != nil {
			return ctx.Err() // too large for a pointer, or not here
		}
		if oid := Pointer(obj.Content); oid != "" {
			added.Objects[oid] = blobs[list[i].Hash]
		}
		return nil
	})
}

// UsesSubmodules reports whether a repository may have submodules.
func UsesSubmodules(repo *git.Repo) bool {
	_, err := os.Lstat(filepath.Join(repo.Top, ".gitmodules"))
	return repo.Top != "" && err == nil || len(repo.Glob("modules")) > 0
}

// Unpushed returns the git directory with a commit of the submodule at path if,
// as far as is known here, none of its remotes has that; otherwise "".
func Unpushed(ctx context.Context, repo *git.Repo, path string, commit object.Hash) (gitDir string) {
	local := filepath.FromSlash(path)
	if !filepath.IsLocal(local) {
		return ""
	}
	// Each worktree has its own. After a deinit the git directory remains.
	dirs := append(repo.Glob("worktrees/*/modules"), filepath.Join(repo.CommonDir, "modules"))
	for i := range dirs {
		dirs[i] = filepath.Join(dirs[i], local)
	}
	if sub, err := git.Find(filepath.Join(repo.Top, local)); err == nil && sub.CommonDir != repo.CommonDir {
		dirs = append(dirs, sub.GitDir)
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
			continue
		}
		sub := repo.With(git.Others, git.In(dir), git.Env("GIT_DIR="+dir, "GIT_COMMON_DIR="+dir, "GIT_WORK_TREE="+dir))
		out, err := sub.Output(ctx, nil, "rev-list", "--max-count=1", commit.String(), "--not", "--remotes")
		if err == nil && len(out) == 0 {
			return ""
		}
		if err == nil {
			gitDir = dir
		}
	}
	return gitDir
}
