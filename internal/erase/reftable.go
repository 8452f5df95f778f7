package erase

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// inTables reports whether a repository has its refs and their logs in a reftable.
func inTables(commonDir string) bool {
	info, err := os.Stat(filepath.Join(commonDir, "reftable"))
	return err == nil && info.IsDir()
}

// ofWorktree are the refs of which each worktree has its own.
func ofWorktree(ref string) bool {
	return !strings.HasPrefix(ref, "refs/") || slices.ContainsFunc([]string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"}, func(dir string) bool {
		return strings.HasPrefix(ref, dir)
	})
}

// tableLogs looks at the logs in a reftable, which only git reads: those of a worktree, or with no prefix the shared ones
// and those of the main one. What was before the oldest entry git does not tell.
func (f *finder) tableLogs(ctx context.Context, repo *git.Repo, prefix string) error {
	in := quiet(repo).With("GIT_DIR=" + filepath.Join(f.dir, filepath.FromSlash(prefix)))
	list, err := in.Output(ctx, nil, "reflog", "list")
	if err != nil {
		return err
	}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSuffix(name, "\n")
		if prefix != "" && !ofWorktree(name) {
			continue
		}
		out, err := in.Output(ctx, nil, "log", "-g", "-z", "--no-show-signature", "--format=%gd%x00%H%x00%gs", name, "--")
		if err != nil {
			return err
		}
		kind := Log
		if name == "refs/stash" {
			kind = Stash
		}
		fields := bytes.Split(out, []byte{0})
		for i := 0; i+2 < len(fields); i += 3 {
			_, at, _ := strings.Cut(string(fields[i]), "@{")
			n, err := strconv.Atoi(strings.TrimSuffix(at, "}"))
			h, ok := parseHash(fields[i+1])
			if err != nil || !ok {
				return errors.New("the log of " + name + " has an entry that can't be read")
			}
			root := Root{Kind: kind, Ref: prefix + name, Entry: n, Said: f.has(fields[i+2])}
			if f.Has(h) {
				root.Hashes = []plumbing.Hash{h}
			}
			if i+4 < len(fields) { // what was before; git does not write it anew here when that entry goes
				if before, ok := parseHash(fields[i+4]); ok && before != h && f.Has(before) {
					root.Hashes = append(root.Hashes, before)
				}
			}
			if len(root.Hashes) > 0 || root.Said {
				f.roots = append(f.roots, root)
			}
		}
	}
	return nil
}

// compact has git write tables anew: what was taken out of them is in an older one until then.
func compact(ctx context.Context, repo *git.Repo) error {
	for _, dir := range append(repo.Glob("worktrees/*/reftable"), filepath.Join(repo.CommonDir, "reftable")) {
		if _, err := quiet(repo).With("GIT_DIR="+filepath.Dir(dir)).Output(ctx, nil, "pack-refs", "--all"); err != nil {
			return err
		}
	}
	return nil
}
