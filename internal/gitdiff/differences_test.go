package gitdiff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// told are differences as text.
func told(found []Difference) (list []string) {
	for _, d := range found {
		kind := "M"
		switch {
		case d.Old.Mode == filemode.Empty:
			kind = "A"
		case d.New.Mode == filemode.Empty:
			kind = "D"
		}
		list = append(list, fmt.Sprintf("%d %s %q", d.Tree, kind, d.Path))
	}
	slices.Sort(list)
	return list
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	tree := func(give func()) object.Hash {
		give()
		r.Git("add", "-A")
		return object.NewHash(r.Git("write-tree"))
	}
	base := tree(func() {
		r.Write("a", "1\n")
		r.Write("d/e/f", "f\n")
		r.Write("d/gone", "g\n")
		r.Write("same/s", "s\n")
	})
	one := tree(func() { r.Write("a", "2\n"); r.Write(".claude/new\nline", "{}\n"); r.Git("rm", "-qf", "d/gone") })
	two := tree(func() { r.Write("\xff", "x\n") }) // and what one has
	three := tree(func() {
		r.Git("rm", "-qrf", "d", "a")
		r.Write("d", "a file now\n")
		r.Write("a/b", "a directory now\n")
	})
	missing := object.NewHash(gittest.Hash("1"))
	repo := find(t, r)
	o := repo.Objects(t.Context())
	defer o.Close()
	for _, tt := range []struct {
		name  string
		trees []object.Hash
		want  []string
	}{
		{"itself", []object.Hash{base}, nil},
		{"one", []object.Hash{one}, []string{`0 A ".claude/new\nline"`, `0 D "d/gone"`, `0 M "a"`}},
		{"what two have in common is told once", []object.Hash{base, one, two}, []string{`1 A ".claude/new\nline"`, `1 D "d/gone"`, `1 M "a"`, `2 A "\xff"`}},
		{
			"a file for a directory and back",
			[]object.Hash{three},
			[]string{`0 A ".claude/new\nline"`, `0 A "\xff"`, `0 A "a/b"`, `0 A "d"`, `0 D "a"`, `0 D "d/e/f"`, `0 D "d/gone"`},
		},
		{"everything deleted", []object.Hash{{}}, []string{`0 D "a"`, `0 D "d/e/f"`, `0 D "d/gone"`, `0 D "same/s"`}},
	} {
		got, whole, err := Differences(o, base, tt.trees, 100)
		if err != nil || !whole || !slices.Equal(told(got), tt.want) {
			t.Errorf("%s: %q, whole %t, %v; want %q", tt.name, told(got), whole, err, tt.want)
		}
		for i, tree := range tt.trees { // git says the same of each pair
			if len(tt.trees) > 1 || tree.IsZero() {
				continue
			}
			var names []string
			for _, d := range got {
				names = append(names, d.Path)
			}
			slices.Sort(names)
			want := strings.FieldsFunc(r.Git("diff-tree", "-r", "-z", "--name-only", "--no-renames", base.String(), tree.String()), func(c rune) bool { return c == 0 })
			if slices.Sort(want); !slices.Equal(names, want) {
				t.Errorf("%s, tree %d: %q, git has %q", tt.name, i, names, want)
			}
		}
	}
	if got, whole, err := Differences(o, base, []object.Hash{three}, 3); err != nil || whole || len(got) > 3 {
		t.Errorf("at most three: %q, whole %t, %v", told(got), whole, err)
	}
	if _, _, err := Differences(o, base, []object.Hash{one, missing}, 100); err == nil {
		t.Error("a tree that is not there differs in nothing")
	}
}

// TestDifferencesOfHostileTrees: no tree costs more than its limit.
func TestDifferencesOfHostileTrees(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "1\n")
	r.Write("CLAUDE.md", "ours\n")
	r.Commit("first")
	repo := find(t, r)
	o := repo.Objects(t.Context())
	defer o.Close()
	head := object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))
	ours, theirs := object.NewHash(r.Git("rev-parse", "HEAD:CLAUDE.md")), object.NewHash(r.Git("rev-parse", "HEAD:a"))
	raw := func(entries ...object.TreeEntry) object.Hash { // in the order given
		var b strings.Builder
		for _, e := range entries {
			fmt.Fprintf(&b, "%o %s\x00%s", uint32(e.Mode), e.Name, e.Hash.Bytes())
		}
		h, err := o.Write(plumbing.TreeObject, []byte(b.String()))
		gittest.Must(t, err)
		return h
	}
	entry := func(name string, mode filemode.FileMode, h object.Hash) object.TreeEntry {
		return object.TreeEntry{Name: name, Entry: object.Entry{Mode: mode, Hash: h}}
	}
	empty := raw()
	bomb, hollow, deep := raw(entry("f", filemode.Regular, ours)), empty, empty
	for range 60 {
		var ten, alike []object.TreeEntry
		for i := range 10 {
			ten = append(ten, entry(fmt.Sprint("d", i), filemode.Dir, bomb))
			alike = append(alike, entry(fmt.Sprint("d", i), filemode.Dir, hollow))
		}
		bomb, hollow = raw(ten...), raw(alike...)
	}
	for range 5000 {
		deep = raw(entry("deep", filemode.Dir, deep))
	}
	for name, tree := range map[string]object.Hash{"a bomb": bomb, "a bomb of nothing": hollow, "a deep one": deep} {
		if got, whole, err := Differences(o, head, []object.Hash{tree}, 10_000); err != nil || whole || len(got) > 10_000 {
			t.Errorf("%s: %d differences, whole %t, %v", name, len(got), whole, err)
		}
	}
	twice := raw(entry("CLAUDE.md", filemode.Regular, theirs), entry("CLAUDE.md", filemode.Regular, ours), entry("a", filemode.Regular, theirs))
	if got, whole, err := Differences(o, head, []object.Hash{twice}, 100); err != nil || !whole || !slices.Equal(told(got), []string{`0 M "CLAUDE.md"`}) {
		t.Errorf("a name twice, once with our content: %q, whole %t, %v", told(got), whole, err)
	}
	broken, err := o.Write(plumbing.TreeObject, []byte("100644 a"))
	gittest.Must(t, err)
	if _, _, err := Differences(o, head, []object.Hash{broken}, 100); err == nil {
		t.Error("half a tree differs in nothing")
	}
}
