package gitdiff

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// lines returns a text of n lines that no text with another start shares.
func lines(start, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the text\n", start+i)
	}
	return b.String()
}

// We count what the user sees in `git diff`, whether in-process or through git.
func TestRenamesAsGitCountsThem(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	long := lines(0, 40)
	edited := strings.Replace(long, "line 7 ", "LINE 7 ", 1) + "more\n"
	for _, tt := range []struct {
		name   string
		change func(r *gittest.Repo)
		want   []FileStat // in git's order
		all    []string   // every path that differs
		inside bool       // counted in-process
	}{
		{
			"rename", func(r *gittest.Repo) { r.Git("mv", "long", "new\nname") },
			[]FileStat{{Path: "new\nname"}},
			[]string{"long", "new\nname"},
			false,
		},
		{
			"rename with edits", func(r *gittest.Repo) { r.Git("mv", "long", "d/moved"); r.Write("d/moved", edited) },
			[]FileStat{{Path: "d/moved", Insertions: 2, Deletions: 1}},
			[]string{"d/moved", "long"},
			false,
		},
		{
			"rename and mode", func(r *gittest.Repo) { r.Git("mv", "long", "moved"); r.Git("update-index", "--chmod=+x", "moved") },
			[]FileStat{{Path: "moved"}},
			[]string{"long", "moved"},
			false,
		},
		{
			"rename of nothing", func(r *gittest.Repo) { r.Git("mv", "empty", "void") },
			[]FileStat{{Path: "void"}},
			[]string{"empty", "void"},
			false,
		},
		{
			"a directory moves", func(r *gittest.Repo) { r.Git("mv", "d", "e") },
			[]FileStat{{Path: "e/x"}, {Path: "e/y"}},
			[]string{"d/x", "d/y", "e/x", "e/y"},
			false,
		},
		{
			"a file becomes a directory", func(r *gittest.Repo) { r.Git("rm", "-q", "long"); r.Write("long/long", edited) },
			[]FileStat{{Path: "long/long", Insertions: 2, Deletions: 1}},
			[]string{"long", "long/long"},
			false,
		},
		{
			"too different", func(r *gittest.Repo) { r.Git("rm", "-q", "long"); r.Write("other", lines(1000, 40)) },
			[]FileStat{{Path: "long", Deletions: 40}, {Path: "other", Insertions: 40}},
			[]string{"long", "other"},
			false,
		},
		{
			"copy", func(r *gittest.Repo) { r.Write("copy", long) },
			[]FileStat{{Path: "copy", Insertions: 40}},
			[]string{"copy"},
			true,
		},
		{
			"copy of what is edited", func(r *gittest.Repo) { r.Write("copy", long); r.Write("long", edited) },
			[]FileStat{{Path: "copy", Insertions: 40}, {Path: "long", Insertions: 2, Deletions: 1}},
			[]string{"copy", "long"},
			true,
		},
		{
			"mode", func(r *gittest.Repo) { r.Git("update-index", "--chmod=+x", "long") },
			[]FileStat{{Path: "long"}},
			[]string{"long"},
			true,
		},
		{
			"type", func(r *gittest.Repo) { r.Git("rm", "-q", "long"); symlink(t, r, "d/x", "long") },
			[]FileStat{{Path: "long", Insertions: 1, Deletions: 40}},
			[]string{"long"},
			true,
		},
		{
			"link becomes another's file", func(r *gittest.Repo) { r.Git("rm", "-q", "link"); r.Write("file", "long") },
			[]FileStat{{Path: "file", Insertions: 1}, {Path: "link", Deletions: 1}},
			[]string{"file", "link"},
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Write("long", long)
			r.Write("empty", "")
			r.Write("d/x", lines(100, 30))
			r.Write("d/y", lines(200, 30))
			symlink(t, r, "long", "link")
			r.Git("config", "diff.renames", "copies") // the user's settings apply to `git diff` alone
			r.Git("config", "diff.algorithm", "patience")
			r.Git("config", "diff.renameLimit", "1")
			r.Commit("one")
			tt.change(r)
			r.Git("-c", "core.fileMode=false", "add", "-A")
			from, to := object.NewHash(r.Git("rev-parse", "HEAD^{tree}")), object.NewHash(r.Git("write-tree"))
			repo := find(t, r)
			ctx := context.Background()

			if got, err := Trees(ctx, repo, from, to); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Trees = %+v, %v; want %+v", got, err, tt.want)
			}
			o := repo.Objects(ctx)
			defer o.Close()
			if got, ok, err := Stat(o, from, to); err != nil || ok != tt.inside || ok && !slices.Equal(got, tt.want) {
				t.Errorf("Stat = %+v, %v, %v; want %+v, %v", got, ok, err, tt.want, tt.inside)
			}
			all, err := OfPaths(ctx, repo, from, to)
			var paths []string
			for _, s := range all {
				paths = append(paths, s.Path)
			}
			if err != nil || !slices.Equal(paths, tt.all) {
				t.Errorf("OfPaths = %q, %v; want %q", paths, err, tt.all)
			}

			insertions, deletions := 0, 0
			for _, s := range tt.want {
				insertions += s.Insertions
				deletions += s.Deletions
			}
			got := r.Git("-c", "diff.algorithm=default", "diff", "-M", "--shortstat", from.String(), to.String())
			if want := shortstat(len(tt.want), insertions, deletions); got != want {
				t.Errorf("git itself says %q, this test %q", got, want)
			}
		})
	}
}

// shortstat formats counts as git does.
func shortstat(files, insertions, deletions int) string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return fmt.Sprint(n, " ", one)
		}
		return fmt.Sprint(n, " ", many)
	}
	s := " " + count(files, "file changed", "files changed")
	if insertions > 0 || deletions == 0 {
		s += ", " + count(insertions, "insertion(+)", "insertions(+)")
	}
	if deletions > 0 || insertions == 0 {
		s += ", " + count(deletions, "deletion(-)", "deletions(-)")
	}
	return s
}

func symlink(t *testing.T, r *gittest.Repo, to, name string) {
	t.Helper()
	gittest.Must(t, os.Symlink(to, filepath.Join(r.Dir, name)))
}
