package copyignored

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// plenty is more than any test has.
var plenty = Amount{Files: 1 << 30, Bytes: 1 << 40}

// open returns a repository as commands have it.
func open(t testing.TB, dir string) *git.Repo {
	t.Helper()
	repo, err := git.Find(dir)
	gittest.Must(t, err)
	return repo
}

// worktree makes a worktree of HEAD beside the checkout.
func worktree(t testing.TB, r *gittest.Repo) *git.Repo {
	t.Helper()
	dir := filepath.Join(filepath.Dir(r.Dir), "fork")
	r.Git("worktree", "add", "-q", "-b", "fork", dir)
	return open(t, dir)
}

// write makes files: a name that ends in a slash is an empty directory, and what follows -> is where a link leads.
func write(t testing.TB, r *gittest.Repo, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		file := filepath.Join(r.Dir, filepath.FromSlash(name))
		var err error
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(file, 0o777)
		case isLink:
			if err = os.MkdirAll(filepath.Dir(file), 0o777); err == nil {
				err = os.Symlink(target, file)
			}
		default:
			r.Write(name, "content of "+name)
		}
		gittest.Must(t, err)
	}
}

func find(t testing.TB, r *gittest.Repo, patterns ...string) *Files {
	t.Helper()
	files, err := Find(context.Background(), open(t, r.Dir), patterns, plenty)
	gittest.Must(t, err)
	return files
}

// paths lists the files.
func (f *Files) paths() []string { return slices.Sorted(slices.Values(f.Paths())) }

func reasons(left []Skipped) []string {
	var all []string
	for _, l := range left {
		all = append(all, l.Path+": "+l.Why)
	}
	return all
}

// tree lists what is below a directory, without .git.
func tree(t testing.TB, dir string) map[string]fs.FileInfo {
	t.Helper()
	all := make(map[string]fs.FileInfo)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		all[filepath.ToSlash(file[len(dir)+1:])] = info
		return err
	})
	gittest.Must(t, err)
	return all
}

// What patterns name in a checkout with usual directories.
func TestFind(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", ".env*\n*.log\n/target/\nnode_modules/\nconfig/\n*.LOCAL\n*.local\nsp ace/\ncache/*\n!cache/kept\n[[]x]\n")
	r.Write("pkg/.gitignore", "*.key\n!public.key\n")
	write(t, r, "main.c", "tracked.log", "pkg/main.c", "node_modules/tracked.js")
	r.Do("git add -f .; git commit -qm one")
	write(t, r, ".env", ".env.test", "pkg/.env", "pkg/a.key", "pkg/public.key", "new.c", "a.log", "logs/b.log", "logs/deep/c.log",
		"target/debug/app", "target/debug/.env", "target/release/app", "node_modules/a/index.js", "node_modules/a/.env",
		"node_modules/.bin/a -> ../a/index.js", "pkg/node_modules/b/index.js", "config/x.json", "config/deep/y.json", "config/deep/.env",
		"UP.LOCAL", "low.local", "sp ace/x", "cache/one", "cache/kept", "[x]", "empty/", "linked -> config", "u/v/w.local")
	for _, tt := range []struct {
		name, file     string
		patterns, want []string
	}{
		{name: "no file"},
		{name: "empty", file: "\n\n# .env\n"},
		{name: "at every depth", file: ".env\n", want: []string{".env", "pkg/.env"}},
		{name: "anchored", file: "/.env\n", want: []string{".env"}},
		{name: "no newline at the end", file: ".env", want: []string{".env", "pkg/.env"}},
		{name: "returns", file: "/.env\r\n/a.log\r\n", want: []string{".env", "a.log"}},
		{name: "byte order mark", file: "\ufeff/.env\n", want: []string{".env"}},
		{name: "spaces at the end", file: "/.env  \n", want: []string{".env"}},
		{name: "an escaped space", file: "sp\\ ace/\n", want: []string{"sp ace/x"}},
		{name: "a space", file: "sp ace/x", want: []string{"sp ace/x"}},
		{name: "negation", file: ".env*\n!/.env.test\n", want: []string{".env", "pkg/.env"}},
		{name: "negation alone", file: "!.env\n"},
		{name: "negation in a directory that is named", file: "config/\n!config/x.json\n", want: []string{"config/deep/.env", "config/deep/y.json", "config/x.json"}},
		{name: "negation of what a directory has", file: "config/*\n!config/deep\n", want: []string{"config/x.json"}},
		{name: "a directory at every depth", file: "node_modules/\n", want: []string{
			"node_modules/.bin/a", "node_modules/a/.env", "node_modules/a/index.js", "pkg/node_modules/b/index.js",
		}},
		{name: "a directory by name", file: "node_modules\n", want: []string{
			"node_modules/.bin/a", "node_modules/a/.env", "node_modules/a/index.js", "pkg/node_modules/b/index.js",
		}},
		{name: "an anchored directory", file: "/pkg/node_modules\n", want: []string{"pkg/node_modules/b/index.js"}},
		{name: "into an ignored directory", file: "target/debug/\n", want: []string{"target/debug/.env", "target/debug/app"}},
		{name: "into it with an asterisk", file: "target/*/app\n", want: []string{"target/debug/app", "target/release/app"}},
		{name: "into any directory at the top", file: "*/x.json\n", want: []string{"config/x.json"}},
		{name: "two asterisks before a directory", file: "**/config/*.json\n", want: []string{"config/x.json"}},
		{name: "two asterisks inside", file: "config/**/*.json\n", want: []string{"config/deep/y.json", "config/x.json"}},
		{name: "two asterisks at the end", file: "config/**\n", want: []string{"config/deep/.env", "config/deep/y.json", "config/x.json"}},
		{name: "two asterisks do not look into what is ignored", file: "**/.env\n", want: []string{".env", "pkg/.env"}},
		{name: "what leads into a directory opens it for all", file: "config/x.json\n.env\n", want: []string{".env", "config/deep/.env", "config/x.json", "pkg/.env"}},
		{name: "what is not ignored", file: "new.c\nmain.c\n/cache/kept\npublic.key\n"},
		{name: "what is tracked", file: "*.log\nnode_modules/tracked.js", want: []string{"a.log", "logs/b.log", "logs/deep/c.log"}},
		{name: "a directory whose files are ignored", file: "logs/\n", want: []string{"logs/b.log", "logs/deep/c.log"}},
		{name: "nested ignore files", file: "pkg/*\n", want: []string{"pkg/.env", "pkg/a.key", "pkg/node_modules/b/index.js"}},
		{name: "a directory above what is ignored", file: "pkg/\n", want: []string{"pkg/.env", "pkg/a.key", "pkg/node_modules/b/index.js"}},
		{name: "case counts, as in git", file: "*.local\n", want: []string{"low.local", "u/v/w.local"}},
		{name: "a directory far above", file: "/u/\n", want: []string{"u/v/w.local"}},
		{name: "classes", file: "*.[lL][oO]*L\ncon[!abc]ig/[[:alpha:]].json\n", want: []string{"UP.LOCAL", "config/x.json"}},
		{name: "a class with a slash", file: "/con[/f]ig/*.json\n", want: []string{"config/x.json"}},
		{name: "escapes", file: "\\[x]\n", want: []string{"[x]"}},
		{name: "some of a directory", file: "cache\n", want: []string{"cache/one"}},
		{name: "everything", file: "*\n", want: []string{
			".env", ".env.test", "UP.LOCAL", "[x]", "a.log", "cache/one", "config/deep/.env", "config/deep/y.json", "config/x.json", "logs/b.log",
			"logs/deep/c.log", "low.local", "node_modules/.bin/a", "node_modules/a/.env", "node_modules/a/index.js", "pkg/.env", "pkg/a.key",
			"pkg/node_modules/b/index.js", "sp ace/x", "target/debug/.env", "target/debug/app", "target/release/app", "u/v/w.local",
		}},
		{name: "patterns alone", patterns: []string{"/a.log", ""}, want: []string{"a.log"}},
		{name: "a pattern with a number sign is no comment", patterns: []string{"#a"}},
		{name: "patterns count more", file: ".env\n", patterns: []string{"!/.env", "low.local"}, want: []string{"low.local", "pkg/.env"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_ = os.Remove(filepath.Join(r.Dir, File))
			if tt.file != "" {
				r.Write(File, tt.file)
			}
			files := find(t, r, tt.patterns...)
			if got := files.paths(); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if len(files.left) > 0 {
				t.Errorf("left %q", files.left)
			}
			if got := files.Amount().Files; got != len(tt.want) {
				t.Errorf("%d files, want %d", got, len(tt.want))
			}
		})
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", "a/\nb/\nc\n")
	r.Commit("one")
	write(t, r, "a/1", "a/2", "a/3", "b/1", "c") // 14 bytes each, but one
	r.Write("b/1", strings.Repeat("x", 1000))
	for _, tt := range []struct {
		most Amount
		in   string
		has  Amount
	}{
		{Amount{5, 1 << 20}, "", Amount{}},
		{Amount{3, 1 << 20}, "a", Amount{3, 42}},
		{Amount{9, 1000}, "b", Amount{1, 1000}},
	} {
		_, err := Find(context.Background(), open(t, r.Dir), []string{"*"}, tt.most)
		var limit *LimitError
		switch {
		case tt.in == "":
			if err != nil {
				t.Errorf("%v: %v", tt.most, err)
			}
		case !errors.As(err, &limit):
			t.Errorf("%v: %v, want a LimitError", tt.most, err)
		case limit.In != tt.in || limit.Has != tt.has || !limit.Found.exceeds(tt.most):
			t.Errorf("%v: %+v, want most in %s", tt.most, limit, tt.in)
		}
	}
}

func TestParsePatterns(t *testing.T) {
	t.Parallel()
	text := "\ufeff# no\n\n  \na\r\nb  \nc\\ \nd\\\\ \ne\\  \n\\#f\n!g\n h\n\ti\t\n\\"
	want(t, "patterns", parsePatterns(text), []string{"a", "b", `c\ `, `d\\`, `e\ `, `\#f`, "!g", " h", "\ti\t", `\`})
}

// Where git is sent to look: too often is slow, too rarely would be wrong.
func TestMayName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{".env", []string{".env", "a/.env", ".env/", ".env/x", ".ENV"}, []string{"target/", "env"}},
		{"/.env", []string{".env"}, []string{"a/.env", "target/"}},
		{"!x", nil, []string{"x"}},
		{"node_modules/", []string{"node_modules/", "a/node_modules/"}, []string{"target/", "node_modules2/"}},
		{"target/debug/*.key", []string{"target/", "target/debug/", "target/debug/a.key"}, []string{"target/release/", "a/target/", "target/debug/x"}},
		{"*/x", []string{"target/", "a/x"}, []string{"x/y/"}},
		{"**/x", []string{"x", "a/b/x/"}, []string{"target/"}},
		{"**/x/y", []string{"x/", "a/x/"}, []string{"target/"}},
		{"a/**/y", []string{"a/", "a/b/c/"}, []string{"b/"}},
		{"**", []string{"a", "a/"}, nil},
		{"a[bc]/x", []string{"ab/", "ad/", "ab/c/"}, []string{"b/"}},
		{"??", []string{"é"}, nil},
		{`\!a`, []string{"!a"}, []string{"a"}},
		{"/", nil, []string{"a", "a/"}},
	} {
		for name, want := range both(tt.yes, tt.no) {
			if got := mayName([]string{tt.pattern}, name); got != want {
				t.Errorf("%q may name %q: %t, want %t", tt.pattern, name, got, want)
			}
		}
	}
}

func both(yes, no []string) map[string]bool {
	all := make(map[string]bool)
	for _, name := range yes {
		all[name] = true
	}
	for _, name := range no {
		all[name] = false
	}
	return all
}

// Only the checkout's own file is read, and only if it is one.
func TestPatternsFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		put  func(t *testing.T, r *gittest.Repo, file string) error
		want string
		err  bool
	}{
		{name: "a directory", put: func(_ *testing.T, _ *gittest.Repo, file string) error { return os.Mkdir(file, 0o777) }, err: true},
		{name: "too long", put: func(_ *testing.T, r *gittest.Repo, _ string) error {
			r.Write(File, strings.Repeat("x", mostBytes+1))
			return nil
		}, err: true},
		{name: "too many", put: func(_ *testing.T, r *gittest.Repo, _ string) error {
			r.Write(File, strings.Repeat("x\n", mostPatterns+1))
			return nil
		}, err: true},
		{name: "a link inside", put: func(_ *testing.T, r *gittest.Repo, file string) error {
			r.Write("list", ".env\n")
			return os.Symlink("list", file)
		}, want: ".env"},
		{name: "a link out", put: func(t *testing.T, _ *gittest.Repo, file string) error {
			out := filepath.Join(t.TempDir(), "list")
			return errors.Join(os.WriteFile(out, []byte(".env\n"), 0o666), os.Symlink(out, file))
		}, err: true},
		{name: "a link to nothing", put: func(_ *testing.T, _ *gittest.Repo, file string) error { return os.Symlink("list", file) }, err: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Do(".gitignore=.env; commit one; .env:x")
			gittest.Must(t, tt.put(t, r, filepath.Join(r.Dir, File)))
			files, err := Find(context.Background(), open(t, r.Dir), nil, plenty)
			if (err != nil) != tt.err {
				t.Fatalf("error %v, want one: %t", err, tt.err)
			}
			if err == nil && strings.Join(files.paths(), " ") != tt.want {
				t.Errorf("got %q, want %q", files.paths(), tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), File) {
				t.Errorf("the error does not name the file: %v", err)
			}
		})
	}
}

// compare tells what the new worktree has more than at the beginning.
func compare(before, after map[string]fs.FileInfo) []string {
	for name := range before {
		delete(after, name)
	}
	return slices.Sorted(maps.Keys(after))
}
