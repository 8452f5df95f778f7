package objectpurge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// ofWorktree reports whether each worktree has its own ref of that name.
func ofWorktree(ref string) bool {
	return !strings.HasPrefix(ref, "refs/") || slices.ContainsFunc([]string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"}, func(dir string) bool {
		return strings.HasPrefix(ref, dir)
	})
}

// tableLogs adds the logs in a reftable, through git: those of a worktree, or
// without a prefix the shared and the main one's.
func (f *finder) tableLogs(ctx context.Context, repo *git.Repo, prefix string) error {
	in := quiet(repo).With(git.Env("GIT_DIR=" + filepath.Join(f.dir, filepath.FromSlash(prefix))))
	names, lost, err := logs(ctx, in)
	if err == nil && slices.Contains(lost, "HEAD") {
		err = fmt.Errorf("git does not show the log of HEAD while its branch has no commit: commit, or check another one out")
	}
	if err != nil {
		return err
	}
	if prefix != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return !ofWorktree(name) })
	}
	for _, name := range names {
		out, err := in.Output(ctx, nil, "log", "-g", "-z", "--format=%gd%x00%H%x00%gs", name, "--")
		if err != nil {
			return err
		}
		fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
		// What was before the oldest entry has the next number.
		oldest := fmt.Sprintf("%s@{%d}", name, len(fields)/3)
		before, err := in.Output(ctx, nil, "rev-parse", "--verify", "--quiet", oldest)
		if err != nil && git.Status(err) < 0 {
			return err
		}
		if err := f.tableLog(prefix+name, append(fields, nil, bytes.TrimSpace(before))); err != nil {
			return err
		}
	}
	return nil
}

// tableLog adds the log of a ref from its entries' fields, newest first, then
// the name and hash of what was before.
func (f *finder) tableLog(ref string, fields [][]byte) error {
	for i := 0; i+4 < len(fields); i += 3 {
		_, at, _ := strings.Cut(string(fields[i]), "@{")
		n, err := strconv.Atoi(strings.TrimSuffix(at, "}"))
		h, err2 := object.ParseHash(fields[i+1])
		if err != nil || err2 != nil {
			return errors.New("the log of " + ref + " has an entry that can't be read")
		}
		before, _ := object.ParseHash(fields[i+4]) // git keeps it when the earlier entry goes
		f.add(Root{Kind: logKind(ref), Ref: ref, Entry: n, Said: f.has(fields[i+2])}, h, before)
	}
	return nil
}

// logs returns the refs with logs in a worktree's tables. Git does not show
// lost ones, of refs that are gone (such as symbolic ones) or lead nowhere.
func logs(ctx context.Context, in *git.Repo) (names, lost []string, err error) {
	out, err := in.Output(ctx, nil, "reflog", "list")
	if err != nil {
		return nil, nil, err
	}
	refs, err := in.Output(ctx, nil, "for-each-ref", "--include-root-refs", "--format=%(refname)")
	there := strings.Split(string(refs), "\n")
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSuffix(name, "\n"); slices.Contains(there, name) {
			names = append(names, name)
		} else {
			lost = append(lost, name)
		}
	}
	return names, lost, err
}

// dropLost takes entries that lead to missing objects out of lost logs.
func dropLost(ctx context.Context, repo *git.Repo) error {
	for _, in := range withTables(repo) {
		_, lost, err := logs(ctx, in)
		if err == nil && len(lost) > 0 {
			_, err = in.Output(ctx, nil, "reflog", "expire", "--all", "--single-worktree", "--stale-fix", "--expire=never", "--expire-unreachable=never")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Tables returns the reftable directories, with a trailing slash, in which a
// killed [Forget] may leave locks.
func Tables(repo *git.Repo) (dirs []string) {
	for _, dir := range append(repo.GlobRefs("worktrees/*/reftable"), repo.GlobRefs("reftable")...) {
		dirs = append(dirs, dir+"/")
	}
	return dirs
}

// withTables returns git in each worktree with tables.
func withTables(repo *git.Repo) (all []*git.Repo) {
	for _, dir := range Tables(repo) {
		name, _ := filepath.Rel(repo.RefsDir(), filepath.Dir(filepath.Clean(dir))) // it is below
		all = append(all, quiet(repo).With(git.Env("GIT_DIR="+filepath.Join(repo.CommonDir, name))))
	}
	return all
}

// compact has git rewrite its tables, as older ones have what was taken out.
func compact(ctx context.Context, repo *git.Repo) error {
	for _, in := range withTables(repo) {
		if _, err := in.Output(ctx, nil, "pack-refs", "--all"); err != nil {
			return err
		}
	}
	return nil
}
