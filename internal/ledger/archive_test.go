package ledger

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// made is a hash that only n says of, none for 0.
func made(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

func openEmpty(t testing.TB) (*gittest.Repo, *git.Objects) {
	t.Helper()
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := repo.Objects(t.Context())
	t.Cleanup(objects.Close)
	return r, objects
}

// commits are some that exist: a chain, the first first.
func commits(t testing.TB, objects *git.Objects, n int) (all []object.Hash) {
	t.Helper()
	tree, err := objects.EmptyTree()
	if err != nil {
		t.Fatal(err)
	}
	var parents []object.Hash
	for i := range n {
		c, err := objects.CommitTree(tree, parents, archiver, archiver, fmt.Sprint("commit ", i, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		all, parents = append(all, c), []object.Hash{c}
	}
	return all
}

func with(t testing.TB, x *Archive, changes map[record.ID]ArchiveEntry) *Archive {
	t.Helper()
	out, err := x.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestArchive makes the same set in different ways.
func TestArchive(t *testing.T) {
	r, objects := openEmpty(t)
	chain := commits(t, objects, 300)
	random := rand.New(rand.NewPCG(1, 2))
	entries := make(map[record.ID]ArchiveEntry)
	for i, c := range chain {
		id := record.ID(fmt.Sprintf("%08x", random.Uint32()))
		if i%9 == 0 {
			id = record.OfCommit(c)
		}
		entries[id] = ArchiveEntry{ID: id, Ledger: c, Title: fmt.Sprint("mission <", i, ">"), At: int64(i), Turns: i}
	}
	empty, err := OpenArchive(objects, object.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	once := with(t, empty, entries)
	keep, err := once.Keep()
	if err != nil {
		t.Fatal(err)
	}
	oneByOne := with(t, empty, map[record.ID]ArchiveEntry{"00000000": {ID: "00000000", Ledger: chain[0]}})
	for id, e := range entries {
		oneByOne = with(t, oneByOne, map[record.ID]ArchiveEntry{id: e})
	}
	if oneByOne.Tip == once.Tip {
		t.Error("one more mission changes nothing")
	}
	oneByOne = with(t, oneByOne, map[record.ID]ArchiveEntry{"00000000": {}})
	if again, err := oneByOne.Keep(); oneByOne.Tip != once.Tip || again != keep || err != nil {
		t.Errorf("%s and %s, %s and %s, %v", oneByOne.Tip, once.Tip, again, keep, err)
	}
	if err := objects.Flush(); err != nil {
		t.Fatal(err)
	}
	read, err := OpenArchive(objects, once.Tip)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range read.All() {
		if err != nil || e != entries[e.ID] {
			t.Fatalf("%+v, %v; want %+v", e, err, entries[e.ID])
		}
		if f, ok, err := read.Find(e.ID); !ok || err != nil || f != e {
			t.Fatalf("Find(%s) = %+v, %v, %v", e.ID, f, ok, err)
		}
		if like, err := read.Like(string(e.ID[:5])); err != nil || !slices.Contains(like, e) {
			t.Fatalf("Like(%s) = %+v, %v", e.ID[:5], like, err)
		}
		n++
	}
	if n != len(entries) {
		t.Errorf("%d entries, want %d", n, len(entries))
	}
	// All tips are kept, and no commit has too many parents.
	for line := range strings.Lines(r.Git("rev-list", "--parents", keep.String()) + "\n") {
		if len(strings.Fields(line)) > 1+maxParents {
			t.Errorf("too many parents: %.100s", line)
		}
	}
	if got := r.Git("rev-list", "--count", keep.String(), "--not", chain[len(chain)-1].String()); got == "0" {
		t.Error("nothing keeps the tips")
	}
	if wrong := r.Git("fsck", "--strict", "--no-dangling"); wrong != "" {
		t.Error(wrong)
	}
}

// TestArchiveModel adds and takes out missions at random, and compares with a map.
func TestArchiveModel(t *testing.T) {
	_, objects := openEmpty(t)
	chain := commits(t, objects, 20)
	random := rand.New(rand.NewPCG(5, 6))
	empty, err := OpenArchive(objects, object.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	x, model := empty, make(map[record.ID]ArchiveEntry)
	for step := range gittest.Size(400, 100) {
		changes := make(map[record.ID]ArchiveEntry)
		for range 1 + random.IntN(4) {
			id := record.ID(fmt.Sprintf("%08x", random.IntN(40)<<22))
			e := ArchiveEntry{ID: id, At: int64(random.IntN(9))}
			switch k := chain[random.IntN(len(chain))]; random.IntN(3) {
			case 0:
				e.Ledger = k
			case 1:
				e.Removed = k
			default:
				e = ArchiveEntry{}
			}
			changes[id], model[id] = e, e
		}
		if x = with(t, x, changes); step%20 != 0 {
			continue
		}
		maps.DeleteFunc(model, func(_ record.ID, e ArchiveEntry) bool { return e == ArchiveEntry{} })
		if want := with(t, empty, model).Tip; x.Tip != want {
			t.Fatalf("step %d: %s, want %s", step, x.Tip, want)
		}
		got := make(map[record.ID]ArchiveEntry)
		for e, err := range x.All() {
			if err != nil {
				t.Fatal(err)
			}
			got[e.ID] = e
		}
		if !maps.Equal(got, model) {
			t.Fatalf("step %d: %v, want %v", step, got, model)
		}
	}
}

// TestArchiveUnite unites the same indexes in every order.
func TestArchiveUnite(t *testing.T) {
	_, objects := openEmpty(t)
	chain := commits(t, objects, 8)
	whole := func(object.Hash, object.Hash) (record.ID, error) { return "", nil }
	empty, err := OpenArchive(objects, object.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var three []*Archive
		for range 3 {
			changes := make(map[record.ID]ArchiveEntry)
			for id := range 5 {
				e := ArchiveEntry{ID: record.ID(fmt.Sprintf("0000000%d", id))}
				k := random.IntN(len(chain))
				switch e.At = int64(k); random.IntN(3) {
				case 0:
					e.Ledger, e.Title = chain[k], fmt.Sprint(random.IntN(2))
				case 1:
					e.Removed = chain[k]
				default:
					continue
				}
				changes[e.ID] = e
			}
			three = append(three, with(t, empty, changes))
		}
		var want object.Hash
		for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			x := three[order[0]]
			for _, k := range order[1:] {
				if x, err = x.Unite(three[k], whole); err != nil {
					t.Fatal(err)
				}
			}
			if i == 0 {
				want = x.Tip
			} else if x.Tip != want {
				t.Fatalf("in order %v it is %s, want %s", order, x.Tip, want)
			}
		}
	}
}

// TestArchiveUniteSides keeps what only one of two indexes has of a mission.
func TestArchiveUniteSides(t *testing.T) {
	_, objects := openEmpty(t)
	empty, err := OpenArchive(objects, object.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	const id = "00000000"
	early := ArchiveEntry{ID: id, Ledger: made(1), At: 1}
	late := ArchiveEntry{ID: id, Ledger: made(2), At: 2}
	side := early
	side.ID = "010000000000"
	want := with(t, empty, map[record.ID]ArchiveEntry{id: late, side.ID: side}).Tip
	for _, order := range [][2]ArchiveEntry{{early, late}, {late, early}} {
		x := with(t, empty, map[record.ID]ArchiveEntry{id: order[0]})
		got, err := x.Unite(with(t, empty, map[record.ID]ArchiveEntry{id: order[1]}), func(commit, besides object.Hash) (record.ID, error) {
			if commit != late.Ledger || besides != early.Ledger {
				t.Errorf("asked about %s and %s", commit, besides)
			}
			return side.ID, nil
		})
		if err != nil || got.Tip != want {
			t.Errorf("%s, %v; want %s", got.Tip, err, want)
		}
	}
}

func TestArchiveLater(t *testing.T) {
	there := func(at int64, turns int, h byte) ArchiveEntry {
		return ArchiveEntry{ID: "00000000", Ledger: made(h), At: at, Turns: turns}
	}
	gone := func(at int64, h byte) ArchiveEntry { return ArchiveEntry{ID: "00000000", Removed: made(h), At: at} }
	for _, test := range []struct {
		name    string
		a, than ArchiveEntry
	}{
		{"it went on", there(2, 1, 1), there(1, 1, 2)},
		{"in the same second", there(1, 2, 1), there(1, 1, 2)},
		{"it was removed", gone(1, 1), there(1, 0, 1)},
		{"it went on after it was removed", there(2, 1, 2), gone(1, 1)},
		{"two sides", there(1, 1, 1), there(1, 1, 2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !later(test.a, test.than) || later(test.than, test.a) {
				t.Errorf("%+v, than %+v: %v, %v", test.a, test.than, later(test.a, test.than), later(test.than, test.a))
			}
		})
	}
}

// FuzzDecode checks that what is read is what would be written.
func FuzzArchiveDecode(f *testing.F) {
	f.Add([]byte(`{"id":"ab000000","ledger":"88d905babcf60000000000000000000000000000","title":"x","at":5}` + "\n"))
	f.Add([]byte(`{"id":"ab000000","removed":"88d905babcf60000000000000000000000000000"}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := decodeEntries("ab", content, object.SHA1)
		all := make(map[record.ID]ArchiveEntry)
		for _, e := range entries {
			all[e.ID] = e
		}
		again, wrong := encodeEntries(all)
		if wrong != nil || err == nil && !bytes.Equal(again, content) {
			t.Errorf("%q became %q: %v", content, again, wrong)
		}
	})
}
