//go:build unix

package readers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

// A tool is another implementation of git.
type tool struct {
	name    string
	program func(t *testing.T) program
	nightly bool

	kinds   string            // of lines that it prints, as it reads them
	refuses map[string]string // what it says of a format that it does not read; "" for nothing
	clones  bool              // has all our objects after a clone, and no ref of ours; else it has nothing
	loses   string            // what its garbage collection takes of the user's
	stuck   string            // what that says if it takes nothing; a tool without both has none
}

// A program starts a tool on a directory in home, which may have to be elsewhere.
type program struct {
	root    string   // of chroot, or ""
	command []string // before the verb
}

const (
	sha1    = "sha1 files"
	sha256s = "sha256 files"
	tables  = "sha1 reftable"
	newest  = "sha256 reftable" // what git 3.0 begins with
)

var tools = []tool{
	{
		name: "go-git 5", program: goGit("five"), kinds: "ref object signature signed", loses: "linked index reflog",
		refuses: map[string]string{sha256s: "unknown extension: objectformat", tables: "unknown extension: refstorage", newest: "unknown extension"},
	},
	{
		name: "go-git 6", program: goGit("six"), kinds: "ref object signature signed", stuck: "reference name escapes",
		refuses: map[string]string{tables: "unknown extension: refstorage", newest: "unknown extension"},
	},
	{
		name: "libgit2", program: python("libgit2.py"), nightly: true, kinds: "ref object signature signed note",
		refuses: map[string]string{sha256s: "unknown object format", tables: "unsupported extension name", newest: "unsupported extension name"},
	},
	{
		name: "dulwich", program: python("dulwich.py"), nightly: true, kinds: "ref object signature signed note", clones: true, loses: "linked index reflog",
		refuses: map[string]string{newest: "Unsupported reftable version"},
	},
	{
		name: "JGit", program: jgit, nightly: true, kinds: "ref object signature note", loses: "linked",
		refuses: map[string]string{sha256s: "Missing unknown", newest: "Unsupported reftable version"},
	},
	{
		name: "isomorphic-git", program: isomorphic, nightly: true, kinds: "ref object signature note",
		refuses: map[string]string{sha256s: "Could not find", tables: "", newest: ""},
	},
}

// A tool reads all that is recorded as git does, or says that it can't.
func TestRead(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, format := range []string{sha1, sha256s, tables, newest} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			objects, refs, _ := strings.Cut(format, " ")
			w := newWorld(t, objects, refs)
			prefixes := []string{"refs/agent/", "refs/notes/agent/", "refs/heads/agent/"}
			all := w.read(prefixes...)
			for _, kind := range strings.Fields("ref object signature signed note") {
				if len(only(all, kind)) == 0 {
					t.Fatalf("the world has no %s", kind)
				}
			}
			for _, tool := range tools {
				t.Run(tool.name, func(t *testing.T) {
					got, err := tool.run(t, w, append([]string{"read", w.Dir}, prefixes...)...)
					if says, refused := tool.refuses[format]; refused {
						if !strings.Contains(got, says) || says == "" && got != "" {
							t.Errorf("it says %v: %s\nwant %q: see docs/other-tools.md", err, got, says)
						}
						return
					}
					if err != nil {
						t.Fatalf("%v\n%s", err, got)
					}
					kinds := tool.kinds
					if tool.name == "dulwich" && objects == "sha256" {
						kinds = "ref object note" // it knows no gpgsig-sha256
					}
					same(t, strings.Split(strings.TrimSpace(got), "\n"), only(all, kinds), kinds)
				})
			}
		})
	}
}

// Notes of git's own are spread over directories from about 80 on, and then not
// all as deep; git reads notes that are spread in any way.
func TestNotes(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	w := newWorld(t, "sha1", "files")
	var even, uneven []string
	for i := range 2500 {
		on := digest(fmt.Sprint(i))[:40]
		even = append(even, on)
		uneven = append(uneven, on[:1]+string("01"[i%2])+on[2:]) // in 32 directories
	}
	w.notes("refs/notes/flat", even[:50], 0)
	w.notes("refs/notes/spread", even[:300], 0)
	w.notes("refs/notes/git", uneven, 0)
	for _, name := range []string{"spread", "git"} { // git spreads them
		w.Git("notes", "--ref="+name, "add", "-m", "one more", "HEAD")
	}
	w.notes("refs/notes/mixed", even[:300], 2)
	names := []string{"flat", "spread", "git", "mixed"}
	want := make(map[string][]string)
	for _, name := range names {
		want[name] = w.notesOf("refs/notes/" + name)
		slices.Sort(want[name])
	}
	for _, tool := range tools {
		if !strings.Contains(tool.kinds, "note") {
			continue
		}
		t.Run(tool.name, func(t *testing.T) {
			var reads []string
			for _, name := range names {
				got, err := tool.run(t, w, "read", w.Dir, "refs/notes/"+name)
				if err == nil && slices.Equal(only(strings.Split(got, "\n"), "note"), want[name]) {
					reads = append(reads, name)
				}
			}
			want := map[string]string{"libgit2": "flat spread git", "JGit": "flat spread git", "dulwich": "flat spread", "isomorphic-git": "flat"}[tool.name]
			if got := strings.Join(reads, " "); got != want {
				t.Errorf("it reads %q, want %q: see docs/other-tools.md", got, want)
			}
		})
	}
}

func same(t *testing.T, got, want []string, kinds string) {
	t.Helper()
	slices.Sort(got)
	for _, line := range want {
		if _, there := slices.BinarySearch(got, line); !there {
			t.Errorf("it does not say: %s", line)
		}
	}
	for _, line := range only(got, kinds) {
		if _, there := slices.BinarySearch(want, line); !there {
			t.Errorf("git does not say: %s", line)
		}
	}
}

// only returns the lines of some kinds, sorted.
func only(lines []string, kinds string) (some []string) {
	for _, line := range lines {
		kind, _, _ := strings.Cut(line, " ")
		if slices.Contains(strings.Fields(kinds), kind) {
			some = append(some, line)
		}
	}
	slices.Sort(some)
	return some
}

// run runs a tool on directories of w's home.
func (tool tool) run(t *testing.T, w *world, args ...string) (string, error) {
	t.Helper()
	if tool.nightly {
		gittest.Nightly(t)
	}
	p := tool.program(t)
	if p.root == "" {
		return w.try("", append(p.command, args...)...)
	}
	// There the home has the same name, and is a copy, which comes back.
	inside := filepath.Join(p.root, w.home)
	gittest.Must(t, os.MkdirAll(filepath.Dir(inside), 0o755))
	defer os.RemoveAll(inside)
	copied(t, w.home, inside)
	out, err := w.try("", slices.Concat([]string{"chroot", p.root}, p.command, args)...)
	if args[0] != "read" {
		gittest.Must(t, os.RemoveAll(w.home))
		copied(t, inside, w.home)
	}
	return out, err
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// goGit builds a package of the module gogit, which has its versions.
func goGit(name string) func(t *testing.T) program {
	build := sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "gogit-")
		if err != nil {
			return "", err
		}
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./"+name)
		cmd.Dir, cmd.Env = "gogit", append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return filepath.Join(dir, name), err
	})
	return func(t *testing.T) program {
		t.Helper()
		path, err := build()
		had(t, "go-git", err)
		return program{command: []string{path}}
	}
}

// sid is the directory that sid.sh fills.
var sid = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	dir := filepath.Join(cache, "git-readers")
	if err == nil {
		if out, e := exec.Command("bash", "sid.sh", dir).CombinedOutput(); e != nil {
			err = fmt.Errorf("%w\n%s", e, out)
		}
	}
	return dir, err
})

// inSid runs a program of sid's.
func inSid(name string, command ...string) func(t *testing.T) program {
	return func(t *testing.T) program {
		t.Helper()
		root, err := sid()
		had(t, name, err)
		return program{root, command}
	}
}

// python runs a script of programs by sid's Python.
func python(script string) func(t *testing.T) program {
	return func(t *testing.T) program {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("programs", script))
		gittest.Must(t, err)
		return inSid(script, "python3", "-c", string(text))(t)
	}
}

// jgit runs JGit by the Java that is here.
func jgit(t *testing.T) program {
	t.Helper()
	root, err := sid()
	had(t, "JGit", err)
	_, err = exec.LookPath("javac") // a program in one file takes the compiler
	had(t, "Java", err)
	var path []string
	for _, name := range []string{"org.eclipse.jgit", "slf4j-api", "slf4j-nop", "javaewah"} {
		path = append(path, filepath.Join(root, "usr/share/java", name+".jar"))
	}
	source, err := filepath.Abs("programs/JGit.java")
	gittest.Must(t, err)
	return program{command: []string{"java", "-cp", strings.Join(path, ":"), source}}
}

// isomorphic runs isomorphic-git from npm.
func isomorphic(t *testing.T) program {
	t.Helper()
	name := npm.Installation("isomorphic-git", isomorphicVersion)
	had(t, "isomorphic-git", npm.Install(t.Context(), name, "isomorphic-git@"+isomorphicVersion))
	dir, err := npm.Dir(name)
	gittest.Must(t, err)
	script, err := filepath.Abs("programs/isomorphic-git.mjs")
	gittest.Must(t, err)
	return program{command: []string{"node", script, filepath.Join(dir, "node_modules")}}
}

const isomorphicVersion = "1.44.19"

// had ends a test whose tool can't be had, as [remotelab.Lacks] does.
func had(t *testing.T, name string, err error) {
	t.Helper()
	if err != nil {
		remotelab.Lacks(t, fmt.Sprintf("%s (%v)", name, err))
	}
}
