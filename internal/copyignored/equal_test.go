package copyignored

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Random patterns find, among random files, those that git ignores and would ignore with the patterns alone: all
// outside the directories that it ignores as a whole, and in these what a pattern leads to.
func TestFindEqualsGit(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 7))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	patterns := func() string {
		var lines []string
		for range 1 + rnd.IntN(4) {
			p := pick("", "", "", "!") + pick("", "", "", "/", "**/")
			for range rnd.IntN(3) {
				p += pick("a", "b", "d", "*", "**", "?") + "/"
			}
			lines = append(lines, p+pick("a", "b.c", "*.c", "a*", "**", "[!b]", "[a-b]*", `\a`, "b", "", "#a", "x ", `y\ `)+pick("", "", "/", "  "))
		}
		return strings.Join(lines, pick("\n", "\n", "\r\n")) + pick("", "\n")
	}
	found, opened := 0, 0
	for round := range gittest.Size(60, 12) {
		r, alone := gittest.New(t), gittest.New(t)
		var files []string
		for range 60 {
			parts := make([]string, 1+rnd.IntN(4))
			for i := range parts {
				parts[i] = pick("a", "b", "d", "ab", "c.c", "b.c", "#a", "x", "y ")
			}
			name := strings.Join(parts, "/")
			if taken(r.Dir, name) {
				continue
			}
			r.Write(name, "x")
			alone.Write(name, "x")
			files = append(files, name)
		}
		slices.Sort(files)
		for range rnd.IntN(3) {
			r.Git("add", "-f", "--", pick(files...))
		}
		ignore := patterns()
		r.Write(".gitignore", ignore)
		if dir := filepath.Dir(pick(files...)); rnd.IntN(2) == 0 {
			r.Write(dir+"/.gitignore", patterns())
		}
		named := patterns()
		r.Write(File, named)
		alone.Write(".git/info/exclude", named)

		ignored := checkIgnore(t, r, files)
		matched := checkIgnore(t, alone, files)
		got := slices.DeleteFunc(find(t, r).paths(), func(name string) bool { return !slices.Contains(files, name) })
		for _, name := range files {
			has := slices.Contains(got, name)
			if ignored[name] == "" || matched[name] == "" {
				if has {
					t.Errorf("round %d: %q is found: ignored by %q, matched by %q", round, name, ignored[name], matched[name])
				}
				continue
			}
			p := strings.TrimSuffix(strings.TrimRight(matched[name], " "), "/")
			leads := strings.Contains(p, "/") && !strings.HasPrefix(p, "**/")
			whole := whole(t, r, name)
			if !has && (whole == "" || leads || checkIgnore(t, alone, []string{whole})[whole] != "") {
				t.Errorf("round %d: %q is not found: ignored by %q (as a whole: %q), matched by %q",
					round, name, ignored[name], whole, matched[name])
			}
			if has {
				found++
				if whole != "" {
					opened++
				}
			}
		}
		if t.Failed() {
			t.Fatalf("ignored:\n%s\nnamed:\n%s", ignore, named)
		}
	}
	if found < 20 || opened < 5 {
		t.Errorf("only %d files were found, %d of them in directories that are ignored", found, opened)
	}
}

// taken reports whether a file can't have that name, because a part of it is a file, or it is a directory.
func taken(top, name string) bool {
	if _, err := os.Lstat(filepath.Join(top, name)); err == nil {
		return true
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(top, dir)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// whole returns the first directory above a file that git ignores itself, with nothing tracked in it.
func whole(t *testing.T, r *gittest.Repo, name string) string {
	t.Helper()
	for i, c := range name {
		if c != '/' {
			continue
		}
		if dir := name[:i]; checkIgnore(t, r, []string{dir})[dir] != "" && r.Git("ls-files", "--", ":(literal)"+dir) == "" {
			return dir
		}
	}
	return ""
}

// checkIgnore returns which paths git ignores, and the pattern that says so.
func checkIgnore(t *testing.T, r *gittest.Repo, names []string) map[string]string {
	t.Helper()
	out, err := r.Feed(strings.Join(names, "\x00"), "check-ignore", "-v", "-z", "--stdin")
	if err != nil && out != "" {
		t.Fatalf("check-ignore: %v\n%s", err, out)
	}
	by := make(map[string]string)
	fields := strings.Split(out, "\x00")
	for ; len(fields) >= 4; fields = fields[4:] { // source, line, pattern, path
		if !strings.HasPrefix(fields[2], "!") {
			by[fields[3]] = fields[2]
		}
	}
	return by
}
