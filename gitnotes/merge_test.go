package gitnotes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// commitGit makes refs/notes/<name> a commit with these notes and parents.
func commitGit(t testing.TB, r *gittest.Repo, name string, levels int, notes map[object.Hash]string, parents ...string) object.Hash {
	t.Helper()
	fastImport(t, r, name, levels, notes)
	args := []string{"commit-tree", "-m", "notes", "refs/notes/" + name + "^{tree}"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	r.Git("update-ref", "refs/notes/"+name, r.Git(args...))
	return tip(r, name)
}

// Each object of this test is one case of a three-way merge; git is asked for the answer.
// "-" is no note.
func TestMergeEqualsGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	cases := []struct{ base, ours, theirs string }{
		{"a\n", "a\n", "a\n"},             // nobody changed
		{"-", "a\n", "-"},                 // ours added
		{"-", "-", "a\n"},                 // theirs added
		{"-", "a\n", "a\n"},               // both added the same
		{"-", "b\na\n", "c\na\n"},         // both added
		{"a\n", "a\nb\n", "a\n"},          // ours changed
		{"a\n", "a\n", "c\nb\na\n"},       // theirs changed: not sorted
		{"a\n", "a\nb\n", "a\nb\n"},       // both changed the same way
		{"a\n", "b\na\n", "c\na\n"},       // both changed
		{"a\n", "-", "a\n"},               // ours removed
		{"a\n", "a\n", "-"},               // theirs removed
		{"a\n", "-", "-"},                 // both removed
		{"a\n", "c\nb\nb\n", "-"},         // ours changed, theirs removed: sorted
		{"a\n", "-", "c\nb\nb\n"},         // ours removed, theirs changed: as it is
		{"a\n", "z\ny", "y\nx"},           // no newline at the end
		{"a\n", "\n\nb\n\na\n", "\nc\n"},  // blank lines
		{"a\n", "\n\n", "\n"},             // nothing but blank lines
		{"a\n", "", "b\n"},                // one side empty
		{"a\n", "b\n", ""},                // the other side empty
		{"a\n", "b\r\na\n", "b\n\xff\n"},  // bytes
		{"a\n", "B\nb\nä\n", "a b\na\tb"}, // order of bytes, not of letters
		{"", "a\n", "b\n"},                // an empty note before
		{"a\nb\n", "a\n", "b\n"},          // both removed a line
		{"a\n", "-", ""},                  // ours removed, theirs emptied
		{"a\n", "", "-"},                  // theirs removed, ours emptied
	}
	for _, filler := range []int{0, 500} {
		for _, fan := range [][3]int{{0, 0, 0}, {1, 1, 1}, {0, 1, 2}, {2, 1, 0}} {
			t.Run(fmt.Sprintf("%d more, %d levels", filler, fan), func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				sides := [3]map[object.Hash]string{some(filler), some(filler), some(filler)}
				for i, c := range cases {
					for side, content := range []string{c.base, c.ours, c.theirs} {
						if content != "-" {
							sides[side][hash(fmt.Sprint("case", i))] = content
						}
					}
				}
				base := commitGit(t, r, "base", fan[0], sides[0]).String()
				ours := commitGit(t, r, "ours", fan[1], sides[1], base)
				theirs := commitGit(t, r, "theirs", fan[2], sides[2], base)
				checkMerge(t, r, ours, theirs)
			})
		}
	}
}

// checkMerge compares Merge with git's, with refs/notes/ours and refs/notes/theirs,
// and moves refs/notes/ours to the merge.
func checkMerge(t testing.TB, r *gittest.Repo, ours, theirs object.Hash) {
	t.Helper()
	s := objects(t, r)
	merged, err := Merge(s, ours, theirs, dev, dev, "merge\n")
	gittest.Must(t, err)
	got := all(t, open(t, s, merged))
	r.Git("notes", "--ref=ours", "merge", "-q", "-s", "cat_sort_uniq", "theirs")
	same(t, got, gitNotes(t, r, "ours")) // compared with git
	for _, format := range []string{"%P", "%T"} {
		want := r.Git("log", "-1", "--format="+format, "refs/notes/ours")
		r.Says(want, "log", "-1", "--format="+format, merged.String())
	}
	r.Says("", "fsck", "--strict", "--no-dangling")
}

func TestMergeUnrelated(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	a, b := some(100), some(150)
	a[hash("x")], b[hash("x")] = "2\n1\n", "3\n1\n"
	checkMerge(t, r, commitGit(t, r, "ours", 0, a), commitGit(t, r, "theirs", 1, b))
}

// A note that theirs has twice in one tree is one note after the merge, and its blob is in the
// store.
func TestMergeSeveralNotes(t *testing.T) {
	t.Parallel()
	s := memory{}
	x := hash("x").String()
	theirs := notesCommit(t, s, writeTree(t, s, []file{
		{x[:2] + "/" + x[2:], filemode.Regular, "1\n"},
		{x, filemode.Regular, "2\n"},
	}))
	n := open(t, s, object.Hash{})
	set(t, n, map[object.Hash]string{hash("y"): "y"})
	merged, err := Merge(s, commit(t, n), theirs, dev, dev, "merge\n")
	gittest.Must(t, err)
	want := map[object.Hash]string{hash("x"): "1\n\n2\n", hash("y"): "y"}
	same(t, all(t, open(t, s, merged)), want)
}

func TestMergeTrivial(t *testing.T) {
	t.Parallel()
	s := memory{}
	n := open(t, s, object.Hash{})
	var chain []object.Hash
	for i := range 4 {
		set(t, n, map[object.Hash]string{hash("x"): fmt.Sprint(i)})
		chain = append(chain, commit(t, n))
	}
	var none object.Hash
	for _, tt := range []struct {
		name               string
		ours, theirs, want object.Hash
	}{
		{"the same", chain[2], chain[2], chain[2]},
		{"fast-forward", chain[1], chain[3], chain[3]},
		{"merged already", chain[3], chain[1], chain[3]},
		{"nothing into ours", chain[1], none, chain[1]},
		{"theirs into nothing", none, chain[1], chain[1]},
		{"nothing into nothing", none, none, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := count(s)
			got, err := Merge(s, tt.ours, tt.theirs, dev, dev, "merge\n")
			if err != nil || got != tt.want {
				t.Errorf("Merge(%s, %s) is %s, %v; want %s", tt.ours, tt.theirs, got, err, tt.want)
			}
			if len(s.written) > 0 {
				t.Errorf("wrote %s", tally(s.written))
			}
		})
	}
	if _, err := Merge(s, chain[0], hash("missing"), dev, dev, ""); err == nil {
		t.Error("merged a commit that is not there")
	}
}

// Two clones that merge each other again and again: several best common ancestors.
func TestMergeAgainAndAgain(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 2))
			r := newRepo(t)
			at := dev.When
			tick := func() object.Signature {
				at = at.Add(time.Duration(1+rnd.IntN(100)) * time.Second)
				return object.Signature{Name: dev.Name, Email: dev.Email, When: at}
			}
			heads := map[string]object.Hash{"ours": {}, "theirs": {}}
			for step := range 10 {
				s := objects(t, r)
				before := maps.Clone(heads)
				for name := range heads {
					n := open(t, s, before[name])
					for range 1 + rnd.IntN(25) {
						on := hash(fmt.Sprint(rnd.IntN(50)))
						switch rnd.IntN(5) {
						case 0:
							_ = n.Remove(on) // there may be none
						default:
							gittest.Must(t, n.Append(on, fmt.Appendf(nil, "%d", rnd.IntN(9))))
						}
					}
					who := tick()
					var err error
					before[name], err = n.Commit(who, who, "notes\n")
					gittest.Must(t, err)
				}
				for name, other := range map[string]string{"ours": "theirs", "theirs": "ours"} {
					if rnd.IntN(4) == 0 {
						heads[name] = before[name]
						continue
					}
					r.Git("update-ref", "refs/notes/"+name, before[name].String())
					r.Git("update-ref", "refs/notes/other", before[other].String())
					who := tick()
					merged, err := Merge(s, before[name], before[other], who, who, "merge\n")
					gittest.Must(t, err)
					r.Git("notes", "--ref="+name, "merge", "-q", "-s", "cat_sort_uniq", "other")
					want := r.Git("rev-parse", "refs/notes/"+name+"^{tree}")
					if got := r.Git("rev-parse", merged.String()+"^{tree}"); got != want {
						bases := r.Git("merge-base", "--all", before[name].String(), before[other].String())
						t.Fatalf("step %d: tree of %s is %s, git's is %s; merge bases:\n%s", step, name, got, want, bases)
					}
					heads[name] = merged
				}
			}
		})
	}
}

// The merge base in a random history is a common ancestor that is no ancestor of another one,
// also where clocks stand or go backwards.
func TestMergeBase(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		s := memory{}
		n := open(t, s, object.Hash{})
		var commits []object.Hash
		ancestors := make(map[object.Hash]map[object.Hash]bool) // of a commit, with itself
		for i := range 25 {
			when := dev.When.Add(time.Duration([]int{i, rnd.IntN(25), 0}[seed%3]) * time.Minute)
			who := object.Signature{Name: dev.Name, Email: dev.Email, When: when}
			c := &object.Commit{Tree: format.EmptyTree(), Author: who, Committer: who, Message: fmt.Sprint(i)}
			all := make(map[object.Hash]bool)
			for range min(i, rnd.IntN(3)) {
				parent := commits[max(0, i-1-rnd.IntN(6))]
				c.Parents = append(c.Parents, parent)
				maps.Copy(all, ancestors[parent])
			}
			hash, err := n.advance(c)
			gittest.Must(t, err)
			all[hash] = true
			ancestors[hash] = all
			commits = append(commits, hash)
		}
		for range 50 {
			a, b := commits[rnd.IntN(25)], commits[rnd.IntN(25)]
			best := make(map[object.Hash]bool)
			for hash := range ancestors[a] {
				if ancestors[b][hash] {
					best[hash] = true
				}
			}
			for hash := range maps.Clone(best) {
				for older := range ancestors[hash] {
					if older != hash {
						delete(best, older)
					}
				}
			}
			got, err := mergeBase(s, a, b)
			gittest.Must(t, err)
			if !best[got] && (len(best) > 0 || !got.IsZero()) {
				t.Errorf("history %d: merge base of %s and %s is %s, want one of %v", seed, a, b, got, best)
			}
		}
	}
}

// Two sides that went apart a few commits ago do not load the many before.
func TestMergeLoadsFewCommits(t *testing.T) {
	t.Parallel()
	s := count(memory{})
	n := open(t, s, object.Hash{})
	at := dev
	step := func(n *Notes, line string) object.Hash {
		t.Helper()
		at.When = at.When.Add(time.Minute)
		gittest.Must(t, n.Append(hash(line), []byte(line)))
		h, err := n.Commit(at, at, "notes\n")
		gittest.Must(t, err)
		return h
	}
	var base object.Hash
	for i := range 1000 {
		base = step(n, fmt.Sprint(i))
	}
	a, b := open(t, s, base), open(t, s, base)
	ours, theirs := step(a, "ours"), step(b, "theirs")
	for range 3 {
		ours, theirs = step(a, "ours"), step(b, "theirs")
	}
	clear(s.read)
	clear(s.written)
	merged, err := Merge(s, ours, theirs, at, at, "merge\n")
	gittest.Must(t, err)
	if got := s.read[plumbing.CommitObject]; got > 15 {
		t.Errorf("a merge of 4 and 4 commits after 1000 read %d commits", got)
	}
	if got := s.read[plumbing.TreeObject]; got > 10 {
		t.Errorf("a merge of one note among 1000 read %d trees", got)
	}
	if got, want := tally(s.written), "commit:1 tree:2"; got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
	n = open(t, s, merged)
	for _, line := range []string{"ours", "theirs"} {
		if got, err := n.Get(hash(line)); err != nil || string(got) != strings.Repeat(line+"\n", 4) {
			t.Errorf("note of %s is %q, %v", line, got, err)
		}
	}
}

// A history that was cut is merged as far as it goes.
func TestMergeShallow(t *testing.T) {
	t.Parallel()
	s := memory{}
	n := open(t, s, object.Hash{})
	set(t, n, map[object.Hash]string{hash("x"): "1\n"})
	first := commit(t, n)
	set(t, n, map[object.Hash]string{hash("x"): "1\n2\n"})
	base := commit(t, n)
	a, b := open(t, s, base), open(t, s, base)
	set(t, a, map[object.Hash]string{hash("x"): "1\n2\n3\n"})
	set(t, b, map[object.Hash]string{hash("x"): "1\n2\n4\n"})
	ours, theirs := commit(t, a), commit(t, b)
	delete(s, first)
	for range 2 {
		merged, err := Merge(s, ours, theirs, dev, dev, "merge\n")
		gittest.Must(t, err)
		if got, err := open(t, s, merged).Get(hash("x")); err != nil || string(got) != "1\n2\n3\n4\n" {
			t.Errorf("merged note is %q, %v", got, err)
		}
		// And again with the base gone, too.
		delete(s, base)
	}
}

// TestMergeLarge: a note of more than 4 MiB, which nobody could read, does not keep the others from being merged.
func TestMergeLarge(t *testing.T) {
	t.Parallel()
	large, half := strings.Repeat("large\n", maxNote/6+1), strings.Repeat("x\n", 10)+strings.Repeat("y", maxNote/2)
	for _, test := range []struct{ name, ours, theirs, want string }{
		{"theirs", "ours\n", large, "ours\n"},
		{"ours", large, "theirs\n", "theirs\n"},
		{"both", large + "ours\n", large, large + "ours\n"},
		{"both together", half + "ours\n", half + "theirs\n", half + "ours\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := memory{}
			n := open(t, s, object.Hash{})
			set(t, n, map[object.Hash]string{hash("x"): "base\n"})
			base := commit(t, n)
			side := func(note, another string) object.Hash {
				n := open(t, s, base)
				set(t, n, map[object.Hash]string{hash("x"): note, hash(another): another})
				return commit(t, n)
			}
			merged, err := Merge(s, side(test.ours, "one"), side(test.theirs, "two"), dev, dev, "merge\n")
			gittest.Must(t, err)
			n = open(t, s, merged)
			blob, err := n.lookup(hash("x"))
			gittest.Must(t, err)
			if got := string(s[blob].Content); got != test.want {
				t.Errorf("it is %.20q of %d bytes, want %.20q of %d", got, len(got), test.want, len(test.want))
			}
			for _, other := range []string{"one", "two"} {
				if _, err := n.Get(hash(other)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
