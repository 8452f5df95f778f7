package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/outside"
	"gitagent/internal/remote"
	"gitagent/internal/scrub"
	"gitagent/internal/terminal"
)

// Unhooked returns what says that a hook of the user's failed after a checkout,
// which stays.
func Unhooked(c *cli.Context) func(error) {
	return func(err error) {
		cmdline.WriteMessage(c.App.ErrWriter, c.App.Name+": warning: ", "all is checked out, but a hook failed after that: "+cmdline.OneLine(err.Error()))
	}
}

// TellLacks says what git worktree add left out, and how to get it: submodules,
// and what no filter has written. With foreign nothing of the worktree runs.
func TellLacks(ctx context.Context, w io.Writer, dir string, foreign bool) {
	if _, err := os.Lstat(filepath.Join(dir, ".gitmodules")); err == nil {
		fmt.Fprintf(w, "submodules are not checked out; do it with: %s\n",
			cmdline.Shell([]string{"git", "-C", dir, "submodule", "update", "--init", "--recursive"}))
		tellUnpushed(ctx, w, dir)
	}
	tellUnwritten(ctx, w, unwritten{dir: dir, source: "HEAD"}, nil, foreign)
	tellMarked(ctx, w, dir)
}

// tellMarked names the files in which something was purged.
func tellMarked(ctx context.Context, w io.Writer, dir string) {
	repo, err := git.Find(dir)
	if err != nil {
		return
	}
	if !ledgertx.WasPurged(ctx, repo) {
		return
	}
	out, _ := repo.Output(ctx, nil, "grep", "-z", "-l", "-I", "-F", "-e", scrub.Mark, "HEAD", "--") // 1 if there are none
	var paths []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if path, ok := strings.CutPrefix(name, "HEAD:"); ok {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		fmt.Fprintf(w, "something was purged in %s, and %s is there: %s\n", cmdline.Plural(len(paths), "file"), scrub.Mark, someOf(paths))
	}
}

// tellUnpushed names the submodules whose commits git submodule update finds at
// no remote, and how they are had from the repository here that has them.
func tellUnpushed(ctx context.Context, w io.Writer, dir string) {
	repo, err := git.Find(dir)
	if err != nil {
		return
	}
	out, _ := repo.Output(ctx, nil, "ls-files", "--stage", "-z")
	for entry := range strings.SplitSeq(string(out), "\x00") {
		stat, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(stat) // <mode> <hash> <stage>
		if len(f) < 2 || f[0] != "160000" {
			continue
		}
		commit, err := object.ParseHash(f[1])
		if err != nil {
			continue
		}
		if from := outside.Unpushed(ctx, repo, path, commit); from != "" {
			fmt.Fprintf(w, "no remote of the submodule %s has its commit; after that do: %s && %s\n", cmdline.Escape(path),
				cmdline.Shell([]string{"git", "-C", filepath.Join(dir, path), "fetch", from, f[1]}),
				cmdline.Shell([]string{"git", "-C", dir, "submodule", "update", "--", path}))
		}
	}
}

// tellRestored is that for what has changed the current worktree.
func tellRestored(ctx context.Context, w io.Writer, done *ledgertx.CheckedOut) {
	var paths []string
	for _, f := range done.Changes {
		paths = append(paths, f.Path)
	}
	if len(paths) > 0 && !done.After.IsZero() {
		tellUnwritten(ctx, w, unwritten{dir: ".", source: done.After.String()}, paths, done.Foreign)
	}
}

// unwritten are files that a checkout left as git stores them.
type unwritten struct {
	dir    string // in the worktree
	source string // what was checked out: HEAD or a commit
	repo   *git.Repo
	config git.Config
}

// tellUnwritten names the files that u left, among paths or nil for all.
func tellUnwritten(ctx context.Context, w io.Writer, u unwritten, paths []string, foreign bool) {
	byFilter, err := u.find(ctx, paths, foreign)
	if err != nil {
		cmdline.Warn(fmt.Errorf("look for files that no filter has written: %w", err))
	}
	for _, filter := range slices.Sorted(maps.Keys(byFilter)) {
		paths := byFilter[filter]
		if filter == lfs {
			fmt.Fprintf(w, "%s of LFS, and not fetched: %s; %s\n", isOrAre(len(paths)), someOf(paths), u.fetch(ctx, paths))
		} else if !u.works(ctx, filter, paths[0]) {
			fmt.Fprintf(w, "%s as stored in git, because the filter %s fails: %s; once it works, remove what is there, and do it with: %s\n",
				isOrAre(len(paths)), cmdline.Escape(filter), someOf(paths), u.restore(filter, paths))
		}
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

func someOf(paths []string) string {
	var names []string
	for _, p := range paths[:min(len(paths), maxNamed)] {
		names = append(names, cmdline.Escape(p))
	}
	if more := len(paths) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

const lfs = "lfs" // the filter

// find returns by filter the files that are pointers of LFS, or have another
// filter.
func (u *unwritten) find(ctx context.Context, paths []string, foreign bool) (map[string][]string, error) {
	var err error
	if u.repo, err = git.Find(u.dir); err == nil && foreign {
		u.repo, err = u.repo.Foreign(ctx)
	}
	if err == nil {
		u.config, err = u.repo.Config(ctx)
	}
	if err == nil && paths == nil {
		paths, err = u.filtered(ctx)
	}
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	root, err := os.OpenRoot(u.repo.Top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out, err := u.repo.Output(ctx, strings.NewReader(strings.Join(paths, "\x00")), "check-attr", "-z", "--stdin", "filter")
	byFilter := make(map[string][]string)
	for f := range slices.Chunk(strings.Split(string(out), "\x00"), 3) { // path, "filter", its value
		if len(f) < 3 || !checkedOut(root, f[0], f[2] == lfs) {
			continue
		}
		if f[2] == lfs || u.config.Get("filter."+f[2]+".smudge")+u.config.Get("filter."+f[2]+".process") != "" {
			byFilter[f[2]] = append(byFilter[f[2]], f[0])
		}
	}
	return byFilter, err
}

// filtered returns the tracked files that LFS or a configured filter is for.
func (u *unwritten) filtered(ctx context.Context) ([]string, error) {
	args := []string{"ls-files", "-z", "--", ":(top,attr:filter=lfs)"}
	for key := range u.config {
		name, ok := strings.CutPrefix(key, "filter.")
		if dot := strings.LastIndexByte(name, '.'); ok && dot > 0 && cmdline.Shell([]string{name}) == name {
			args = append(args, ":(top,attr:filter="+name[:dot]+")")
		}
	}
	slices.Sort(args[3:])
	out, err := u.repo.Output(ctx, nil, slices.Compact(args)...)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(path string) bool { return path == "" }), err
}

// checkedOut reports whether a path is a file, and as small as a pointer if it
// is to be one.
func checkedOut(root *os.Root, path string, pointer bool) bool {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !pointer {
		return err == nil && info.Mode().IsRegular()
	}
	if info.Size() > outside.MaxPointer {
		return false
	}
	content, err := root.ReadFile(path)
	return err == nil && outside.Pointer(content) != ""
}

// works reports whether git could check a file out through its filter.
func (u *unwritten) works(ctx context.Context, filter, path string) bool {
	repo := u.repo.With(git.Settings([2]string{"filter." + filter + ".required", "true"}))
	return repo.Run(ctx, nil, io.Discard, io.Discard, "cat-file", "--filters", u.source+":"+path) == nil
}

// fetch returns how files of LFS are had: git-lfs looks at HEAD alone.
func (u *unwritten) fetch(ctx context.Context, paths []string) string {
	names, err := remote.Names(ctx, u.repo)
	if err != nil || len(names) == 0 {
		return "there is no remote to get them from"
	}
	how := "do it with: "
	if terminal.Find("git-lfs") != nil {
		how = "install git-lfs, then " + how
	}
	if u.config.Get("filter.lfs.smudge")+u.config.Get("filter.lfs.process") == "" {
		how += "git lfs install && "
	}
	from := cmp.Or(remote.Usual(names), "<remote>")
	if u.source == "HEAD" {
		return how + u.git("lfs", "pull", from)
	}
	return how + u.git("lfs", "fetch", from, u.source) + " && " + u.restore(lfs, paths)
}

// restore returns the command that writes files again.
func (u *unwritten) restore(filter string, paths []string) string {
	if len(paths) > maxNamed {
		paths = []string{":(top,attr:filter=" + filter + ")"}
	}
	return u.git(append([]string{"restore", "--source=" + u.source, "--"}, paths...)...)
}

// git returns a command in the worktree, as a person types it.
func (u *unwritten) git(args ...string) string {
	if here, err := os.Getwd(); err != nil || !git.SameFile(here, u.repo.Top) {
		args = append([]string{"-C", u.repo.Top}, args...)
	}
	return cmdline.Shell(append([]string{"git"}, args...))
}
