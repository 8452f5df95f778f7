package objectpurge

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git"
)

// atOnce bounds the entries of one git, which reads the log for each.
const atOnce = 500

// Forget takes the entries of the kinds [Log] and [Stash] among the roots out
// of reflogs, which must not have grown since they were read.
func Forget(ctx context.Context, repo *git.Repo, roots []Root) error {
	entries := make(map[string][]int)
	for _, r := range roots {
		if r.Kind == Log || r.Kind == Stash {
			entries[r.Ref] = append(entries[r.Ref], r.Entry)
		}
	}
	for ref, list := range entries {
		in, name := of(repo, ref)
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(b, a) }) // the newer ones keep their numbers
		for part := range slices.Chunk(slices.Compact(list), atOnce) {
			args := []string{"reflog", "delete", "--rewrite"}
			for _, n := range part {
				args = append(args, name+"@{"+strconv.Itoa(n)+"}")
			}
			_, err := in.Output(ctx, nil, args...)
			if err != nil && gone(ctx, repo, ref) {
				err = os.Remove(logFile(repo.RefsDir(), ref))
			}
			if err != nil {
				return fmt.Errorf("take entries out of the log of %s: %w", ref, repo.Locked(err, ref))
			}
		}
	}
	if len(entries) > 0 && repo.InTables() {
		return compact(ctx, repo)
	}
	return nil
}

// Unset deletes a ref of any worktree.
func Unset(ctx context.Context, repo *git.Repo, r Root) error {
	in, name := of(repo, r.Ref)
	_, err := in.Output(ctx, nil, "update-ref", "-d", "--", name)
	return err
}

// of returns git in the worktree of a ref, and the ref's name there. By its name
// elsewhere git 2.55 does not find one whose tables are in another directory.
func of(repo *git.Repo, ref string) (in *git.Repo, name string) {
	dir := repo.CommonDir
	if parts := strings.SplitN(ref, "/", 3); len(parts) == 3 && parts[0] == "worktrees" {
		dir, ref = filepath.Join(dir, parts[0], parts[1]), parts[2]
	}
	return quiet(repo).With(git.Env("GIT_DIR=" + dir)), ref
}

// gone reports whether a ref does not exist, so that git ignores its log.
func gone(ctx context.Context, repo *git.Repo, ref string) bool {
	if !strings.Contains(ref, "refs/") {
		return false
	}
	refs, err := repo.Refs(ctx, ref)
	_, there := refs[ref]
	return err == nil && !there
}
