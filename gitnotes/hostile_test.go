package gitnotes

import (
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// A file of a hostile tree, whose directories may be there more than once, in any case of letters.
type file struct {
	path    string
	mode    filemode.FileMode
	content string
}

// writeTree stores files as a tree, in the order in which they are given, as no git would:
// neighbours in one directory share it, others do not.
func writeTree(t testing.TB, s Store, files []file) object.Hash {
	t.Helper()
	var raw strings.Builder
	for len(files) > 0 {
		f := files[0]
		name, _, nested := strings.Cut(f.path, "/")
		if nested {
			var below []file
			for len(files) > 0 && strings.HasPrefix(files[0].path, name+"/") {
				below = append(below, file{files[0].path[len(name)+1:], files[0].mode, files[0].content})
				files = files[1:]
			}
			tree := writeTree(t, s, below)
			fmt.Fprintf(&raw, "40000 %s\x00%s", name, tree.Bytes())
			continue
		}
		files = files[1:]
		var target object.Hash
		switch f.mode {
		case filemode.Dir:
			target = write(t, s, plumbing.TreeObject, "")
		case filemode.Submodule:
			target = blob(f.content)
		default:
			target = write(t, s, plumbing.BlobObject, f.content)
		}
		fmt.Fprintf(&raw, "%o %s\x00%s", uint32(f.mode), name, target.Bytes())
	}
	return write(t, s, plumbing.TreeObject, raw.String())
}

func write(t testing.TB, s Store, kind plumbing.ObjectType, content string) object.Hash {
	t.Helper()
	hash, err := s.Write(kind, []byte(content))
	gittest.Must(t, err)
	return hash
}

// notesCommit stores a commit of a tree.
func notesCommit(t testing.TB, s Store, tree object.Hash) object.Hash {
	t.Helper()
	h, err := open(t, s, object.Hash{}).advance(&object.Commit{Author: dev, Committer: dev, Message: "notes\n", Tree: tree})
	gittest.Must(t, err)
	return h
}

// trees returns a tree and all below it.
func trees(t testing.TB, s Store, root object.Hash) map[object.Hash]bool {
	t.Helper()
	all := map[object.Hash]bool{root: true}
	entries, err := readTree(s, root)
	gittest.Must(t, err)
	for _, e := range entries {
		if e.Mode == filemode.Dir {
			maps.Copy(all, trees(t, s, e.Hash))
		}
	}
	return all
}

// Trees that no git writes: what are the notes, and what is the tree after one more?
// "git" cases have git's answer to both.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	x, y := hash("n").String(), hash("y").String() // the first begins with letters
	up := strings.ToUpper(x)
	reg, exe := filemode.Regular, filemode.Executable
	for _, tt := range []struct {
		name  string
		git   bool
		files []file
		notes int
	}{
		{"upper case", true, []file{{up, reg, "X"}, {y, reg, "y"}}, 2},
		{"upper and lower case", true, []file{{up, reg, "X"}, {x, reg, "x"}}, 1},
		{"mixed case", true, []file{{up[:20] + x[20:], reg, "x"}}, 1},
		{"upper-case directory", true, []file{{up[:2] + "/" + up[2:], reg, "X"}, {"AB/README", reg, "no note"}}, 1},
		{"executable", true, []file{{x, exe, "x"}}, 1},
		{"odd permissions", true, []file{{x, 0o100664, "x"}}, 1},
		{"symbolic link", true, []file{{x, filemode.Symlink, "x"}, {y, reg, "y"}}, 1},
		{"submodule", true, []file{{x, filemode.Submodule, "x"}, {y, reg, "y"}}, 1},
		{"directory named like a note", true, []file{{x + "/" + y, reg, "y"}, {y, reg, "y"}}, 1},
		{"empty directory", true, []file{{"ab", filemode.Dir, ""}, {y, reg, "y"}}, 1},
		{"too short, too long", true, []file{{x[:38], reg, "a"}, {x[:39], reg, "b"}, {x + "0", reg, "c"}, {x + "00", reg, "d"}}, 0},
		{"not hexadecimal", true, []file{{"zz/" + x[2:], reg, "a"}, {x[:39] + "z", reg, "b"}}, 0},
		{"hash in two halves", true, []file{{x[:20] + "/" + x[20:], reg, "a"}, {x[:4] + "/" + x[4:], reg, "b"}}, 0},
		{"whole hash in a directory", true, []file{{x[:2] + "/" + x, reg, "a"}}, 0},
		{"as deep as can be", true, []file{{strings.Join(pairs(x), "/"), reg, "x"}}, 1},
		{"deeper", true, []file{{strings.Join(pairs(x), "/") + "/00", reg, "x"}}, 0},
		{"one name twice", true, []file{{x, reg, "1\n"}, {x, reg, "2\n"}, {x, reg, "2\n"}}, 1},
		{"one name twice, the same", true, []file{{x, reg, "1\n"}, {x, reg, "1\n"}}, 1},
		{"not in order", true, []file{{y, reg, "y"}, {"zz", reg, "z"}, {x, reg, "x"}, {"aa-", reg, "a"}}, 2},
		{"dots", true, []file{{".git", reg, "a"}, {".", reg, "b"}, {"..", reg, "c"}, {x, reg, "x"}}, 1},
		{"note beside its directory", true, []file{{x[:2] + "/" + x[2:], reg, "1\n"}, {x, reg, "2\n"}, {x[:2] + y[2:], reg, "3\n"}}, 2},
		{"directory twice", false, []file{{x[:2] + "/" + x[2:], reg, "1"}, {"f", reg, ""}, {x[:2] + "/" + x[2:], reg, "2"}}, 1},
		{"directory in both cases", false, []file{{up[:2] + "/" + x[2:], reg, "1"}, {x[:2] + "/" + x[2:], reg, "2"}}, 1},
		{"file and directory", false, []file{{x[:2], reg, "a"}, {x[:2] + "/" + x[2:], reg, "x"}, {x[:2] + "/README", reg, "b"}}, 1},
		{"directory beside a file", false, []file{{"x.txt", reg, "a"}, {"x/f", reg, "b"}, {x, reg, "x"}}, 1},
		{"bytes", false, []file{{"\xff\xfe\n\t", reg, "a"}, {x, reg, "x"}}, 1},
	} {
		for _, crowd := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, crowd %t", tt.name, crowd), func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				s := objects(t, r)
				files, want := tt.files, tt.notes
				if crowd {
					// Enough for the root to be spread, in other directories than those of the
					// case.
					for i := range 32 {
						files = append(files, file{fmt.Sprintf("%x%x/%s", i/2, 8+i%2, x[2:]), reg, "crowd\n"})
						want++
					}
				}
				head := notesCommit(t, s, writeTree(t, s, files))
				n := open(t, s, head)
				got := all(t, n)
				if len(got) != want {
					t.Errorf("%d notes, want %d", len(got), want)
				}
				n = open(t, s, head)
				old := trees(t, s, n.tree)
				gittest.Must(t, n.Set(hash("new"), []byte("new\n")))
				got[hash("new")] = "new\n"
				commit(t, n)
				checkTrees(t, s, n.tree, old)
				same(t, all(t, open(t, s, n.commit)), got) // after one more
				if !tt.git {
					return
				}
				r.Git("update-ref", "refs/notes/git", head.String())
				r.Git("notes", "--ref=git", "add", "-m", "new", hash("new").String())
				same(t, got, gitNotes(t, r, "git")) // compared with git
				if got, want := n.tree.String(), r.Git("rev-parse", "refs/notes/git^{tree}"); got != want {
					t.Errorf("compared with git's, in the tree is\n%s", r.Git("diff-tree", "-r", want, got))
				}
			})
		}
	}
}

// pairs cuts a hash into twenty.
func pairs(h string) []string {
	var pairs []string
	for ; h != ""; h = h[2:] {
		pairs = append(pairs, h[:2])
	}
	return pairs
}

// A file that is no note and has the name of a directory that the notes need
// keeps the notes flat: git would write a tree with two entries of that name.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	s := memory{}
	files := []file{{"00", filemode.Regular, "no note"}}
	n := open(t, s, notesCommit(t, s, writeTree(t, s, files)))
	want := make(map[object.Hash]string)
	for i := range 1000 {
		want[hash(fmt.Sprint(i))] = "x"
	}
	want[within(hash("x"), 0)] = "x"
	set(t, n, want)
	commit(t, n)
	checkTrees(t, s, n.tree, nil)
	entries, err := readTree(s, n.tree)
	gittest.Must(t, err)
	if len(entries) != len(want)+1 {
		t.Errorf("%d entries in the root, want %d", len(entries), len(want)+1)
	}
	same(t, all(t, open(t, s, n.commit)), want)
}

// FuzzTree builds a tree of hostile entries. Whatever the tree, reading it does not fail,
// and after a change all other notes and all that is no note are there.
func FuzzTree(f *testing.F) {
	x := hash("x").String()
	f.Add("f " + x + " one\nf " + x[:2] + "/" + x[2:] + " two\nf README three")
	f.Add("f " + strings.ToUpper(x) + " one\nf " + x + " two")
	f.Add("f AB/" + x[2:] + " one\nf ab/" + x[2:] + " two\nf ab/" + x + " three")
	f.Add("f " + strings.Join(pairs(x), "/") + " one\nf " + strings.Join(pairs(x), "/") + "/00 two")
	f.Add("d ab\nx ab/cd/ef x\nl " + x + " link\ng " + x[:2] + " module\nf zz z\nf  empty\nf a//b b")
	f.Fuzz(func(t *testing.T, script string) {
		var files []file
		for line := range strings.Lines(script) {
			kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			path, content, _ := strings.Cut(rest, " ")
			mode, ok := map[string]filemode.FileMode{
				"f": filemode.Regular, "x": filemode.Executable, "l": filemode.Symlink,
				"d": filemode.Dir, "g": filemode.Submodule,
			}[kind]
			if !ok || strings.Contains("/"+path+"/", "//") || strings.ContainsRune(path, 0) || strings.Count(path, "/") > 40 {
				continue // not a tree: empty names, names with NUL
			}
			files = append(files, file{path, mode, content})
		}
		s := memory{}
		head := notesCommit(t, s, writeTree(t, s, files))
		n := open(t, s, head)
		want := all(t, n)
		for i := range 3 {
			h := hash(fmt.Sprint(i))
			content, ok := want[h]
			if got, err := n.Get(h); (err == nil) != ok || string(got) != content {
				t.Errorf("Get is %q, %v; All has %q (there: %t)", got, err, content, ok)
			}
		}
		rest := others(t, s, n.tree, "", "")
		gittest.Must(t, n.Append(hash("x"), []byte("line")))
		if before := want[hash("x")]; before != "" && !strings.HasSuffix(before, "\n") {
			want[hash("x")] += "\n"
		}
		want[hash("x")] += "line\n"
		old := trees(t, s, n.tree)
		head2 := commit(t, n)
		checkTrees(t, s, n.tree, old)
		n = open(t, s, head2)
		same(t, all(t, n), want) // after one line more
		after := others(t, s, n.tree, "", "")
		for path := range rest {
			if !after[path] && !replaced(path, rest, want) {
				t.Errorf("%q was no note, and is gone", path)
			}
		}
		// A merge of the two is a fast-forward; with a third side it is one of all notes.
		other := open(t, s, head)
		gittest.Must(t, other.Append(hash("y"), []byte("line")))
		merged, err := Merge(s, commit(t, other), head2, dev, dev, "")
		gittest.Must(t, err)
		if before := want[hash("y")]; before != "" && !strings.HasSuffix(before, "\n") {
			want[hash("y")] += "\n"
		}
		want[hash("y")] += "line\n"
		same(t, all(t, open(t, s, merged)), want) // after a merge
	})
}

// others returns the paths of what is no note, by a reader that is as simple as can be;
// directories of notes in lower case, as they are written.
func others(t testing.TB, s Store, tree object.Hash, path, prefix string) map[string]bool {
	t.Helper()
	got := make(map[string]bool)
	entries, err := readTree(s, tree)
	gittest.Must(t, err)
	for _, e := range entries {
		_, err := hex.DecodeString(e.Name)
		switch {
		case err == nil && len(prefix+e.Name) == gittest.Digits() && (e.Mode == filemode.Regular || e.Mode == filemode.Executable):
		case err == nil && len(e.Name) == 2 && len(prefix) < 38 && e.Mode == filemode.Dir:
			name := strings.ToLower(e.Name)
			for p := range others(t, s, e.Hash, path+name+"/", prefix+name) {
				got[p] = true
			}
		default:
			got[path+e.Name] = true
		}
	}
	return got
}

// replaced reports whether something that is no note had to go: a name can be in a tree
// once, and a note, or a directory with what is in it, goes first.
func replaced(path string, rest map[string]bool, notes map[object.Hash]string) bool {
	if _, ok := notes[object.NewHash(strings.ReplaceAll(path, "/", ""))]; ok {
		return true
	}
	for other := range rest {
		if strings.HasPrefix(other, path+"/") {
			return true
		}
	}
	return false
}
