package purge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/signature"
)

// MapRef is where the map is, in a repository as at a remote.
const MapRef = "refs/agent/purges"

// A Map says which commits were replaced by which, without naming the old ones. It is a set of sheets, and what
// is written of it is a function of the set: whoever unites the same maps, in any order, gets the same commit.
type Map struct{ sheets map[string]*sheet }

// A sheet is a part of a map: what one key has signed. Its name is the hash of its content. It is never changed;
// one whose entries all stand in another one of the same key goes.
type sheet struct {
	content []byte
	by      signature.Public
	entries map[masked]plumbing.Hash
}

// A masked is the hash of a commit's hash. Who has the commit knows it; nobody else learns what to ask a host for.
type masked [sha256.Size]byte

func mask(commit plumbing.Hash) masked {
	return sha256.Sum256([]byte("git-agent purge 1\x00" + commit.String()))
}

const (
	mapHeader    = "git-agent purges 1\n"
	mapNamespace = "git-agent-purges" // of signatures: nothing else is signed so
	mapSuffix    = ".purges"

	maxSheet   = 32 << 20 // bytes: 300,000 commits
	maxSheets  = 1000
	maxMap     = 64 << 20 // bytes of all sheets
	maxMapTree = 1 << 20
)

var errSheet = errors.New("not a list of purged commits")

// parseSheet reads a sheet. Only what encodeSheet writes is accepted, so that a set of entries has one form.
func parseSheet(content []byte) (*sheet, error) {
	list, armored, ok := cutSignature(content)
	if !ok || len(content) > maxSheet {
		return nil, errSheet
	}
	rest, ok := bytes.CutPrefix(list, []byte(mapHeader))
	if !ok || len(rest) == 0 {
		return nil, errSheet
	}
	s := &sheet{content: content, entries: make(map[masked]plumbing.Hash)}
	var last masked
	for line := range bytes.Lines(rest) {
		from, to, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		var m masked
		n, err := hex.Decode(m[:], []byte(from[:min(len(from), 2*len(m))]))
		switch {
		case !ok || !bytes.HasSuffix(line, []byte("\n")), err != nil || n != len(m), hex.EncodeToString(m[:]) != from:
			return nil, errSheet
		case !plumbing.IsHash(to) || plumbing.NewHash(to).String() != to:
			return nil, errSheet
		case len(s.entries) > 0 && bytes.Compare(m[:], last[:]) <= 0:
			return nil, errSheet
		}
		s.entries[m], last = plumbing.NewHash(to), m
	}
	var err error
	if s.by, err = signature.VerifyAs(mapNamespace, armored, list); err != nil {
		return nil, err
	}
	return s, nil
}

// cutSignature separates the lines of a sheet from the signature at its end.
func cutSignature(content []byte) (list, armored []byte, ok bool) {
	i := bytes.Index(content, []byte("\n-----BEGIN "))
	if i < 0 {
		return nil, nil, false
	}
	return content[:i+1], content[i+1:], true
}

// newSheet signs entries.
func newSheet(key signature.Key, entries map[masked]plumbing.Hash) *sheet {
	var list bytes.Buffer
	list.WriteString(mapHeader)
	for _, m := range slices.SortedFunc(maps.Keys(entries), func(a, b masked) int { return bytes.Compare(a[:], b[:]) }) {
		fmt.Fprintf(&list, "%x %s\n", m[:], entries[m])
	}
	armored := signature.SignAs(mapNamespace, key, list.Bytes())
	return &sheet{content: append(list.Bytes(), armored...), by: key.Public(), entries: entries}
}

func (s *sheet) name() string {
	sum := sha256.Sum256(s.content)
	return hex.EncodeToString(sum[:]) + mapSuffix
}

// within reports whether another sheet of the same key has all entries of this one.
func (s *sheet) within(other *sheet) bool {
	if s.by != other.by || len(s.entries) > len(other.entries) {
		return false
	}
	for m, to := range s.entries {
		if there, ok := other.entries[m]; !ok || there != to {
			return false
		}
	}
	return true
}

// ReadMap reads the map that a commit holds, the empty one for the zero hash. Whoever can push to a remote can
// have written it. What is no sheet, or is signed wrongly, is left out; a map that is too large is an error.
func ReadMap(objects *git.Objects, commit plumbing.Hash) (*Map, error) {
	m := &Map{sheets: make(map[string]*sheet)}
	if commit.IsZero() {
		return m, nil
	}
	tree, err := objects.TreeOf(commit)
	if err != nil {
		return nil, fmt.Errorf("read the map of purged commits: %w", err)
	}
	files, err := objects.Tree(tree, maxMapTree)
	if err != nil {
		return nil, fmt.Errorf("read the map of purged commits: %w", err)
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, mapSuffix) || !files[name].Mode.IsFile() {
			continue
		}
		content, err := objects.Blob(files[name].Hash, maxSheet)
		if errors.Is(err, git.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the map of purged commits: %w", err)
		}
		if size += len(content); size > maxMap || len(m.sheets) == maxSheets {
			return nil, fmt.Errorf("the map of purged commits is too large: at most %d lists and %d MB are read", maxSheets, maxMap>>20)
		}
		if s, err := parseSheet(content); err == nil && s.name() == name {
			m.add(s)
		}
	}
	return m, nil
}

// add adds a sheet, unless another one has it all.
func (m *Map) add(s *sheet) {
	for _, other := range m.sheets {
		if s.within(other) {
			return
		}
	}
	maps.DeleteFunc(m.sheets, func(_ string, other *sheet) bool { return other.within(s) })
	m.sheets[s.name()] = s
}

// Unite adds what another map has.
func (m *Map) Unite(other *Map) {
	for _, s := range other.sheets {
		m.add(s)
	}
}

// Add adds pairs of commits, signed with a key; zero stands for a commit that has no successor.
func (m *Map) Add(key signature.Key, pairs map[plumbing.Hash]plumbing.Hash) {
	if len(pairs) == 0 {
		return
	}
	entries := make(map[masked]plumbing.Hash)
	for _, name := range slices.Sorted(maps.Keys(m.sheets)) { // a sheet that has it all takes the place of others
		if s := m.sheets[name]; s.by == key.Public() && len(s.content) < maxSheet/2 {
			maps.Copy(entries, s.entries)
		}
	}
	for from, to := range pairs {
		entries[mask(from)] = to
	}
	m.add(newSheet(key, entries))
}

// Write writes the map: a commit without parents, by nobody and at no time. It has no hash of an object that is
// one, so it keeps nothing alive. The empty map is the zero hash.
func (m *Map) Write(objects *git.Objects) (plumbing.Hash, error) {
	if len(m.sheets) == 0 {
		return plumbing.ZeroHash, nil
	}
	size := 0
	files := make(map[string]git.Entry)
	for name, s := range m.sheets {
		size += len(s.content)
		blob, err := objects.Write(plumbing.BlobObject, s.content)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		files[name] = git.Entry{Mode: 0o100644, Hash: blob}
	}
	if size > maxMap || len(m.sheets) > maxSheets {
		return plumbing.ZeroHash, fmt.Errorf("the map of purged commits is too large: %d lists, %d MB", len(m.sheets), size>>20)
	}
	tree, err := objects.EditTree(plumbing.ZeroHash, files)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return objects.CommitTree(tree, nil, nobody, nobody, "purges\n")
}

// Empty reports whether the map has nothing.
func (m *Map) Empty() bool { return len(m.sheets) == 0 }

// Same reports whether two maps have the same sheets.
func (m *Map) Same(other *Map) bool {
	return maps.EqualFunc(m.sheets, other.sheets, func(a, b *sheet) bool { return true })
}

// A class is commits that all say the same: what was replaced, again and again or by several people at once, and
// what took its place in the end.
type class struct {
	ends []plumbing.Hash
	// circular says that some of the ends took the place of one another: two purges of one ledger, of which each won
	// somewhere. Everybody takes the first one then.
	circular bool
}

// classes are those of all commits that the map is about, by those keys that count. What purges left in the end
// is in an order that is the same everywhere, and by key: two purges of one ledger are never mixed.
func (m *Map) classes(counts func(signature.Public) bool) map[masked]*class {
	type entry struct {
		masked
		to plumbing.Hash
		by signature.Public
	}
	var all []entry
	of := make(map[masked]masked) // towards the one that stands for a class
	find := func(m masked) masked {
		for {
			up, ok := of[m]
			if !ok || up == m {
				return m
			}
			if over, ok := of[up]; ok {
				of[m] = over
			}
			m = up
		}
	}
	replaced := make(map[masked]bool)
	for _, s := range m.sheets {
		if !counts(s.by) {
			continue
		}
		for from, to := range s.entries {
			all = append(all, entry{from, to, s.by})
			replaced[from] = true
			if a, b := find(from), find(mask(to)); !to.IsZero() && a != b {
				of[a] = b
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(bytes.Compare(a.by[:], b.by[:]), bytes.Compare(a.to[:], b.to[:]))
	})
	stands, found := make(map[masked]*class), make(map[masked]*class)
	for _, e := range all {
		root := find(e.masked)
		c := stands[root]
		if c == nil {
			c = new(class)
			stands[root] = c
		}
		found[e.masked] = c
		if !e.to.IsZero() {
			found[mask(e.to)] = c
		}
		if (e.to.IsZero() || !replaced[mask(e.to)]) && !slices.Contains(c.ends, e.to) {
			c.ends = append(c.ends, e.to)
		}
	}
	final := make(map[masked]bool) // what was replaced, and leads to what was not
	before := make(map[masked][]masked)
	var next []masked
	for _, e := range all {
		if e.to.IsZero() || !replaced[mask(e.to)] {
			next = append(next, e.masked)
		} else {
			before[mask(e.to)] = append(before[mask(e.to)], e.masked)
		}
	}
	for ; len(next) > 0; next = next[1:] {
		if m := next[0]; !final[m] {
			final[m] = true
			next = append(next, before[m]...)
		}
	}
	for _, e := range all {
		if c := found[e.masked]; !final[e.masked] && !slices.Contains(c.ends, e.to) {
			c.ends, c.circular = append(c.ends, e.to), true
		}
	}
	return found
}

// Ends are the commits that took the place of others, whoever says so.
func (m *Map) Ends() map[plumbing.Hash]bool {
	ends := make(map[plumbing.Hash]bool)
	for _, s := range m.sheets {
		for _, to := range s.entries {
			ends[to] = true
		}
	}
	return ends
}

// Keys are those that have signed anything in the map.
func (m *Map) Keys() []signature.Public {
	var keys []signature.Public
	for _, name := range slices.Sorted(maps.Keys(m.sheets)) {
		if by := m.sheets[name].by; !slices.Contains(keys, by) {
			keys = append(keys, by)
		}
	}
	return keys
}
