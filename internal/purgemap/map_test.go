package purgemap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/sshsig"
	"gitagent/test/gittest"
)

var update = flag.Bool("update-map", false, "write the vectors of maps anew")

// mapKey is a key of tests, the same each time.
func mapKey(t testing.TB, n byte) sshsig.Key {
	t.Helper()
	k, err := sshsig.NewKey(bytes.NewReader(bytes.Repeat([]byte{n}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// format is the object format under test.
var format = object.NewHash(gittest.Hash("1")).Format()

func commitHash(n byte) object.Hash {
	return object.NewHash(gittest.Hash(hex.EncodeToString([]byte{n})))
}

// TestMapVectors reads the files that docs/format.md names: a sheet each, valid if its name says so.
func TestMapVectors(t *testing.T) {
	dir := gittest.Vectors(filepath.Join("testdata", "map"))
	if *update {
		writeMapVectors(t, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*-*"))
	if err != nil || len(files) < 10 {
		t.Fatalf("vectors: %v, %v", files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseSheet(content, format)
		if valid := strings.HasPrefix(filepath.Base(name), "valid-"); valid != (err == nil) {
			t.Errorf("%s: %v", name, err)
		} else if valid && !bytes.Equal(newSheet(mapKey(t, 1), s.entries, format).content, content) {
			t.Errorf("%s is written in another way", name)
		}
	}
}

func writeMapVectors(t *testing.T, dir string) {
	t.Helper()
	one := newSheet(mapKey(t, 1), map[masked]object.Hash{mask(commitHash(1)): commitHash(2)}, format).content
	two := newSheet(mapKey(t, 1), map[masked]object.Hash{mask(commitHash(1)): commitHash(2), mask(commitHash(3)): {}}, format).content
	signed := func(list string) string {
		return list + string(sshsig.SignAs(mapNamespace, mapKey(t, 1), []byte(list)))
	}
	lines := strings.SplitAfter(string(two), "\n")
	for name, content := range map[string]string{
		"valid-one":            string(one),
		"valid-removed":        string(two),
		"bad-empty":            "",
		"bad-nothing":          signed(mapHeader),
		"bad-header":           signed(strings.Replace(string(one[:bytes.Index(one, []byte("-----"))]), "purges 1", "purges 2", 1)),
		"bad-unsigned":         string(one[:bytes.Index(one, []byte("-----"))]),
		"bad-changed":          strings.Replace(string(one), commitHash(2).String(), commitHash(4).String(), 1),
		"bad-order":            signed(lines[0] + lines[2] + lines[1]),
		"bad-twice":            signed(lines[0] + lines[1] + lines[1]),
		"bad-case":             signed(lines[0] + strings.ToUpper(lines[1])),
		"bad-short":            signed(lines[0] + lines[1][:20] + "\n"),
		"bad-blanks":           signed(lines[0] + strings.Replace(lines[1], " ", "  ", 1)),
		"bad-crlf":             signed(strings.ReplaceAll(lines[0]+lines[1], "\n", "\r\n")),
		"bad-more":             string(one) + "\n",
		"bad-namespace-of-git": lines[0] + lines[1] + string(sshsig.Sign(mapKey(t, 1), []byte(lines[0]+lines[1]))),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMapUnion: whoever unites the same sheets, in any order, has the same commit.
func TestMapUnion(t *testing.T) {
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := repo.Objects(t.Context())
	defer objects.Close()
	empty := func() *Map {
		m, err := Read(objects, object.Hash{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	write := func(m *Map) object.Hash {
		h, err := m.Write(objects, noKey)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	var maps []*Map
	for n := range byte(3) {
		m := empty()
		m.Add(mapKey(t, n%2), map[object.Hash]object.Hash{commitHash(10 + n): commitHash(20 + n)})
		maps = append(maps, m)
	}
	more := empty() // has all that the first one has
	more.Add(mapKey(t, 0), map[object.Hash]object.Hash{commitHash(10): commitHash(20), commitHash(30): commitHash(40)})
	maps = append(maps, more)
	var want object.Hash
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1, 0, 3}} {
		m := empty()
		for _, i := range order {
			m.Unite(maps[i])
			read, err := Read(objects, write(m))
			if err != nil {
				t.Fatal(err)
			}
			m = read
		}
		switch got := write(m); {
		case want.IsZero():
			want = got
		case got != want:
			t.Errorf("order %v: %s, want %s", order, got, want)
		}
		if len(m.sheets) != 3 {
			t.Errorf("order %v: %d sheets, want 3", order, len(m.sheets))
		}
	}
	if err := objects.Flush(); err != nil {
		t.Fatal(err)
	}
	if out := r.Git("cat-file", "commit", want.String()); strings.Contains(out, "parent ") || !strings.Contains(out, "git-agent <git-agent@localhost> 0 +0000") {
		t.Errorf("the commit is %s", out)
	}
}

func noKey(sshsig.Public) bool { return false }

// TestMapFull: whoever has filled the map with as many sheets as are read keeps nobody from adding to it.
func TestMapFull(t *testing.T) {
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := repo.Objects(t.Context())
	defer objects.Close()
	m := &Map{sheets: map[string]*sheet{}}
	for n := range maxSheets {
		key, err := sshsig.NewKey(bytes.NewReader(fmt.Appendf(nil, "%032d", n)))
		if err != nil {
			t.Fatal(err)
		}
		s := newSheet(key, map[masked]object.Hash{mask(commitHash(1)): commitHash(2)}, format)
		m.sheets[s.name()] = s
	}
	mine := mapKey(t, 1)
	m.Add(mine, map[object.Hash]object.Hash{commitHash(3): commitHash(4)})
	counts := func(by sshsig.Public) bool { return by == mine.Public() }
	h, err := m.Write(objects, counts)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(objects, h)
	if err != nil || len(read.sheets) != maxSheets || read.classes(counts)[mask(commitHash(3))] == nil {
		t.Errorf("%d sheets, with mine %v: %v", len(read.sheets), read.classes(counts), err)
	}
}

// TestMapLarge: a map as large as one may be is read in time that is in proportion, whatever is in it: sheets of one
// key that differ in hardly anything, commits that took the place of one another by the thousand.
func TestMapLarge(t *testing.T) {
	gittest.Check(t)
	number := func(n int) object.Hash { return object.NewHash(fmt.Sprintf("%0*x", gittest.Digits(), n)) }
	m := &Map{sheets: map[string]*sheet{}}
	const sheets, entries = 200, 150
	for n := range sheets {
		list := make(map[masked]object.Hash, entries)
		for k := range entries {
			list[mask(number(k))] = number(1_000_000 + k)
			if n > 0 && k%sheets == n%entries {
				list[mask(number(k))] = number(2_000_000 + n)
			}
		}
		s := newSheet(mapKey(t, 1), list, format)
		m.sheets[s.name()] = s
	}
	part := newSheet(mapKey(t, 1), map[masked]object.Hash{mask(number(1)): number(1_000_001)}, format)
	m.Unite(&Map{sheets: map[string]*sheet{part.name(): part}})
	if len(m.sheets) != sheets {
		t.Errorf("%d sheets, want %d", len(m.sheets), sheets)
	}
	const others, each = 100, 500
	for n := range others { // each says something else of the same commits
		list := make(map[masked]object.Hash)
		for k := range each {
			list[mask(number(3_000_000+k))] = number(4_000_000 + max(0, n*each+k-each))
		}
		list[mask(number(3_000_000))] = number(4_000_000)
		s := newSheet(mapKey(t, 2), list, format)
		m.sheets[s.name()] = s
	}
	c := m.classes(func(sshsig.Public) bool { return true })[mask(number(3_000_000))]
	if c == nil || len(c.ends) < (others-1)*(each-1) {
		t.Errorf("not all of them are in one class: %v", c != nil)
	}
}

// TestMapClasses: what took the place of a commit in the end, over several purges.
func TestMapClasses(t *testing.T) {
	o, n, m, x, gone := commitHash(1), commitHash(2), commitHash(3), commitHash(4), commitHash(5)
	all := &Map{sheets: map[string]*sheet{}}
	all.Add(mapKey(t, 1), map[object.Hash]object.Hash{o: n, n: m, gone: {}})
	all.Add(mapKey(t, 2), map[object.Hash]object.Hash{o: x})
	classes := all.classes(func(sshsig.Public) bool { return true })
	none := map[object.Hash]bool{}
	no := func(object.Hash) bool { return false }
	for _, from := range []object.Hash{o, n, m, x} {
		for _, there := range []object.Hash{m, x} {
			if got := classes[mask(from)].winner(false, no, map[object.Hash]bool{there: true}, map[object.Hash]bool{m: true}); got != there {
				t.Errorf("%s becomes %s where %s is there", from, got, there)
			}
		}
		if got := classes[mask(from)].winner(false, no, none, map[object.Hash]bool{x: true}); got != x {
			t.Errorf("%s becomes %s where %s is here", from, got, x)
		}
	}
	if got := classes[mask(gone)].winner(false, no); !got.IsZero() {
		t.Errorf("what is gone becomes %s", got)
	}
	if only := all.classes(func(by sshsig.Public) bool { return by == mapKey(t, 2).Public() }); len(only) != 2 {
		t.Errorf("one key's: %v", only)
	}
	if classes[mask(commitHash(9))] != nil {
		t.Error("it knows a commit that nobody has replaced")
	}
}

// TestMapCircle: commits that took each other's place are not gone, and everybody takes the same one of those that
// exist.
func TestMapCircle(t *testing.T) {
	o, n, m := commitHash(1), commitHash(2), commitHash(3)
	all := &Map{sheets: map[string]*sheet{}}
	all.Add(mapKey(t, 1), map[object.Hash]object.Hash{o: n, n: m, m: n})
	classes := all.classes(func(sshsig.Public) bool { return true })
	first := classes[mask(o)].winner(false, func(object.Hash) bool { return true })
	if first != n && first != m {
		t.Fatalf("%s became %s", o, first)
	}
	for _, from := range []object.Hash{o, n, m} {
		for _, there := range []object.Hash{n, m} {
			got := classes[mask(from)].winner(false, func(object.Hash) bool { return true }, map[object.Hash]bool{there: true})
			if got != first {
				t.Errorf("%s becomes %s where %s is there, want %s", from, got, there, first)
			}
		}
		for _, exists := range []object.Hash{n, m} {
			if got := classes[mask(from)].winner(false, func(h object.Hash) bool { return h == exists }); got != exists {
				t.Errorf("%s becomes %s where only %s exists", from, got, exists)
			}
		}
	}
}

// TestMapCircleBesides: what two purges of one put in each other's place counts beside what another one's purge left.
func TestMapCircleBesides(t *testing.T) {
	o, n, m, other := commitHash(1), commitHash(2), commitHash(3), commitHash(4)
	all := &Map{sheets: map[string]*sheet{}}
	all.Add(mapKey(t, 1), map[object.Hash]object.Hash{o: n, n: m, m: n})
	all.Add(mapKey(t, 2), map[object.Hash]object.Hash{o: other})
	classes := all.classes(func(sshsig.Public) bool { return true })
	for _, from := range []object.Hash{o, n, m, other} {
		for _, exists := range []object.Hash{n, m, other} {
			if got := classes[mask(from)].winner(false, func(h object.Hash) bool { return h == exists }); got != exists {
				t.Errorf("%s becomes %s where only %s exists", from, got, exists)
			}
		}
	}
}

func FuzzParseSheet(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join(gittest.Vectors(filepath.Join("testdata", "map")), "*-*"))
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := parseSheet(content, format)
		// A fuzzer can't sign: what it finds valid is one of the vectors.
		if err == nil && (len(s.entries) == 0 || !bytes.HasPrefix(content, []byte(mapHeader))) {
			t.Errorf("%q has %v", content, s.entries)
		}
	})
}

// TestMask: the hash of a commit's hash is what docs/format.md says.
func TestMask(t *testing.T) {
	sum := sha256.Sum256([]byte("git-agent purge 1\x00" + gittest.Hash("01")))
	if mask(commitHash(1)) != sum {
		t.Error("another hash")
	}
}
