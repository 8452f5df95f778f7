package gitnotes

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// gitNotes returns the notes that git sees under refs/notes/<name>.
func gitNotes(t testing.TB, r *gittest.Repo, name string) map[object.Hash]string {
	t.Helper()
	blobs := make(map[object.Hash]string) // object to blob
	var order []object.Hash
	var specs strings.Builder
	for line := range strings.Lines(r.Git("notes", "--ref="+name, "list") + "\n") {
		blob, on, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		order = append(order, object.NewHash(on))
		blobs[object.NewHash(on)] = blob
		specs.WriteString(blob + "\n")
	}
	out := r.Pipe(specs.String(), "cat-file", "--batch=%(objectsize)")
	out += "\n"
	notes := make(map[object.Hash]string)
	for _, on := range order {
		var size int
		if _, err := fmt.Sscanf(out, "%d\n", &size); err != nil {
			t.Fatalf("blob %s: %v", blobs[on], err)
		}
		_, out, _ = strings.Cut(out, "\n")
		notes[on] = out[:size]
		out = out[size+1:]
	}
	return notes
}

// fastImport makes refs/notes/<name> a commit with these notes in one fan-out,
// which may be one that git would not choose: levels directories of two digits.
func fastImport(t testing.TB, r *gittest.Repo, name string, levels int, notes map[object.Hash]string) {
	t.Helper()
	var in strings.Builder
	marks := make(map[string]int)
	for _, on := range keys(notes) {
		content := notes[on]
		if marks[content] == 0 {
			marks[content] = len(marks) + 1
			fmt.Fprintf(&in, "blob\nmark :%d\ndata %d\n%s\n", marks[content], len(content), content)
		}
	}
	fmt.Fprintf(&in, "commit refs/notes/%s\ncommitter Dev <dev@example.invalid> 1795176000 +0000\ndata 5\nnotes\n", name)
	for _, on := range keys(notes) {
		path := on.String()
		for i := range levels {
			path = path[:3*i+2] + "/" + path[3*i+2:]
		}
		fmt.Fprintf(&in, "M 100644 :%d %s\n", marks[notes[on]], path)
	}
	r.Pipe(in.String(), "fast-import", "--quiet", "--force")
}

// mktree makes refs/notes/<name> a commit with these notes in one flat tree.
// It is fastImport for many of them, which is slow with large directories.
func mktree(t testing.TB, r *gittest.Repo, name string, notes map[object.Hash]string) {
	t.Helper()
	var in strings.Builder
	blobs := make(map[string]string)
	for on, content := range notes {
		if blobs[content] == "" {
			var err error
			blobs[content], err = r.Feed(content, "hash-object", "-w", "--stdin")
			gittest.Must(t, err)
		}
		fmt.Fprintf(&in, "100644 blob %s\t%s\n", blobs[content], on)
	}
	tree := r.Pipe(in.String(), "mktree")
	r.Git("update-ref", "refs/notes/"+name, r.Git("commit-tree", "-m", "notes", tree))
}

func tip(r *gittest.Repo, name string) object.Hash {
	return object.NewHash(r.Git("rev-parse", "refs/notes/"+name))
}

// some makes count notes on objects that need not exist.
func some(count int) map[object.Hash]string {
	notes := make(map[object.Hash]string)
	for i := range count {
		notes[hash(fmt.Sprint(i))] = fmt.Sprintf("{\"turn\":%d}\n", i%10)
	}
	return notes
}

func TestGitReads(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, count := range []int{10, 1000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			head := object.NewHash(r.Commit("one"))
			want := some(count)
			want[head] = "first\nsecond\n"

			n := open(t, objects(t, r), object.Hash{})
			set(t, n, want)
			r.Git("update-ref", "refs/notes/agent/m", commit(t, n).String())

			same(t, gitNotes(t, r, "agent/m"), want)
			r.Says("first\nsecond", "notes", "--ref=agent/m", "show", "HEAD")
			r.Says("first\nsecond\n", "log", "--notes=agent/m", "--format=%N")
			r.Says("", "fsck", "--strict", "--no-dangling")

			// Git goes on where gitnotes stopped, and gitnotes where git did.
			r.Git("notes", "--ref=agent/m", "append", "-m", "third")
			r.Git("notes", "--ref=agent/m", "add", "-m", "new", hash("new").String())
			r.Git("notes", "--ref=agent/m", "remove", hash("1").String())
			want[head] = "first\nsecond\n\nthird\n"
			want[hash("new")] = "new\n"
			delete(want, hash("1"))
			n = open(t, objects(t, r), tip(r, "agent/m"))
			same(t, all(t, n), want)
			gittest.Must(t, n.Append(head, []byte("fourth")))
			gittest.Must(t, n.Remove(hash("2")))
			want[head] += "fourth\n"
			delete(want, hash("2"))
			r.Git("update-ref", "refs/notes/agent/m", commit(t, n).String())
			same(t, gitNotes(t, r, "agent/m"), want)
			r.Says("5", "rev-list", "--count", "refs/notes/agent/m")
			r.Says("", "fsck", "--strict", "--no-dangling")
		})
	}
}

// Whatever the fan-out, the notes are read, and a note more
// makes the tree that git makes of it.
func TestReadsAnyFanOut(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, count := range []int{10, 1000} {
		for levels := range 5 {
			t.Run(fmt.Sprintf("%d at %d levels", count, levels), func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				want := some(count)
				fastImport(t, r, "ours", levels, want)
				n := open(t, objects(t, r), tip(r, "ours"))
				same(t, all(t, n), want)
				for on, content := range want {
					n := open(t, objects(t, r), tip(r, "ours"))
					if got, err := n.Get(on); err != nil || string(got) != content {
						t.Errorf("Get is %q, %v; want %q", got, err, content)
					}
					break
				}
				if _, err := n.Get(hash("none")); err == nil {
					t.Error("there is a note of an object that has none")
				}
				gittest.Must(t, n.Append(hash("new"), []byte("new")))
				commit(t, n)
				r.Git("notes", "--ref=ours", "add", "-m", "new", hash("new").String())
				if got, want := n.tree.String(), r.Git("rev-parse", "refs/notes/ours^{tree}"); got != want {
					t.Errorf("tree is %s, git's is %s", got, want)
				}
			})
		}
	}
}

// A note in a directory and one of the same object further up, in any mixture.
func TestReadsMixedFanOut(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	x, y, z := hash("x").String(), hash("y").String(), hash("z").String()
	files := map[string]string{
		x:                                      "flat\n",
		x[:2] + "/" + x[2:]:                    "one level",
		x[:2] + "/" + x[2:4] + "/" + x[4:]:     "two levels\n",
		y[:2] + "/" + y[2:]:                    "same\n",
		y:                                      "same\n",
		z[:2] + "/" + z[2:4] + "/" + z[4:]:     "",
		z[:2] + "/" + z[2:]:                    "not empty\n",
		z:                                      "",
		x[:2] + "/" + hash("w").String()[2:]:   "beside x\n",
		x[:2] + x[:2] + hash("v").String()[4:]: "before x's directory\n",
	}
	for _, on := range []string{"a", "b", "c", "d"} {
		files[hash(on).String()] = on
	}
	tree(t, r, "mixed", files)
	want := gitNotes(t, r, "mixed")
	if len(want) != 9 {
		t.Fatalf("git sees %d notes, want 9", len(want))
	}
	n := open(t, objects(t, r), tip(r, "mixed"))
	same(t, all(t, n), want)
	r.Git("notes", "--ref=mixed", "add", "-m", "new", hash("new").String())
	gittest.Must(t, n.Append(hash("new"), []byte("new")))
	r.Git("update-ref", "refs/notes/mixed2", commit(t, n).String())
	if got, want := r.Git("ls-tree", "-r", "refs/notes/mixed2"), r.Git("ls-tree", "-r", "refs/notes/mixed"); got != want {
		t.Errorf("tree is\n%s\ngit's is\n%s", got, want)
	}
	r.Says("", "fsck", "--strict", "--no-dangling")
}

// tree makes refs/notes/<name> a commit with these files.
func tree(t testing.TB, r *gittest.Repo, name string, files map[string]string) {
	t.Helper()
	var in strings.Builder
	fmt.Fprintf(&in, "commit refs/notes/%s\ncommitter Dev <dev@example.invalid> 1795176000 +0000\ndata 5\nnotes\n", name)
	for path, content := range files {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	r.Pipe(in.String(), "fast-import", "--quiet", "--force")
}

// What is no note stays, through a fan-out and back.
func TestOtherEntriesSurvive(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	files := map[string]string{
		"README":                "in the root",
		"docs/format.md":        "in a directory",
		"ab/README":             "in a directory that is named like one of notes",
		"cd/ef/README":          "two levels down",
		"cd/ef/01/2/README":     "and further",
		"abc":                   "three digits",
		gittest.Hash("a") + "a": "a digit too many",
		gittest.Hash("g"):       "no digits",
		hash("x").String():      "a note\n",
	}
	tree(t, r, "ours", files)
	r.Git("update-ref", "refs/notes/git", "refs/notes/ours")
	others := r.Git("ls-tree", "-r", "refs/notes/ours")
	others, _ = cutNote(others, hash("x").String())

	notes := some(400)
	n := open(t, objects(t, r), tip(r, "ours"))
	set(t, n, notes)
	commit(t, n)
	copyNotes(t, r, "git", notes)
	if got, want := n.tree.String(), r.Git("rev-parse", "refs/notes/git^{tree}"); got != want {
		t.Errorf("grown, the tree is\n%s\ngit's is\n%s", r.Git("ls-tree", "-r", got), r.Git("ls-tree", "-r", want))
	}
	r.Says("tree", "cat-file", "-t", n.tree.String()+":cd/ef/01/2")

	n = open(t, objects(t, r), n.commit)
	for on := range notes {
		gittest.Must(t, n.Remove(on))
	}
	r.Git("update-ref", "refs/notes/ours", commit(t, n).String())
	got, ok := cutNote(r.Git("ls-tree", "-r", "refs/notes/ours"), hash("x").String())
	if !ok || got != others {
		t.Errorf("after growing and shrinking there is\n%s\nwant\n%s", got, others)
	}
	r.Says("", "fsck", "--strict", "--no-dangling")
}

// cutNote takes the line of a note out of a recursive listing.
func cutNote(listing, name string) (string, bool) {
	var rest []string
	found := false
	for line := range strings.Lines(listing) {
		if strings.HasSuffix(strings.ReplaceAll(strings.TrimSpace(line), "/", ""), name) {
			found = true
			continue
		}
		rest = append(rest, strings.TrimSpace(line))
	}
	return strings.Join(rest, "\n"), found
}

// copyNotes makes git add notes to refs/notes/<name>, all in one process: it copies them from notes
// of objects that hold each content once, made for that and removed after.
func copyNotes(t testing.TB, r *gittest.Repo, name string, notes map[object.Hash]string) {
	t.Helper()
	sources := make(map[string]string) // content to object
	var in strings.Builder
	for on, content := range notes {
		source, ok := sources[content]
		if !ok {
			source = hash("source of " + content).String()
			sources[content] = source
			blob := r.Pipe(content, "hash-object", "-w", "--stdin")
			r.Git("notes", "--ref="+name, "add", "-C", blob, source)
		}
		fmt.Fprintf(&in, "%s %s\n", source, on)
	}
	r.Pipe(in.String(), "notes", "--ref="+name, "copy", "--force", "--stdin")
	removeNotes(t, r, name, maps.Values(sources))
}

func removeNotes(t testing.TB, r *gittest.Repo, name string, objects func(func(string) bool)) {
	t.Helper()
	var in strings.Builder
	for on := range objects {
		in.WriteString(on + "\n")
	}
	r.Pipe(in.String(), "notes", "--ref="+name, "remove", "--stdin")
}
