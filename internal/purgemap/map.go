// Package purgemap is the map of what was purged, by which other clones purge
// it as well: which commits replace which, signed, in a ref of its own. It says
// what a map replaces in a repository, and replaces nothing.
//
//	map.go      the map: read, united, written
//	ledgers.go  the ledgers to which it may apply
//	match.go    which of its pairs apply, and why others don't; splice.go
//	bound.go    what is done without a question
package purgemap

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/sshsig"
)

// Ref is where the map is, in a repository and at a remote.
const Ref = "refs/agent/purges"

// A Map says which commits replace which, without naming the old ones. It is
// written as a function of its set of sheets, the same in every clone.
type Map struct{ sheets map[string]*sheet }

// A sheet is what one key has signed, named by the hash of its content. It
// never changes; it goes once another sheet of the key has all its entries.
type sheet struct {
	content []byte
	by      sshsig.Public
	entries map[masked]object.Hash
}

// masked is the hash of a commit's hash: it does not tell what to ask a host
// for.
type masked [sha256.Size]byte

func mask(commit object.Hash) masked {
	return sha256.Sum256([]byte("git-agent purge 1\x00" + commit.String()))
}

const (
	mapHeader    = "git-agent purges 1\n"
	mapNamespace = "git-agent-purges" // of signatures: nothing else is signed with it
	mapSuffix    = ".purges"

	maxSheet   = 32 << 20 // bytes: 300,000 commits
	maxSheets  = 1000
	maxMap     = 64 << 20 // bytes of all sheets
	maxMapTree = 1 << 20
)

var errSheet = errors.New("not a list of purged commits")

// parseSheet reads a sheet, in no other form than newSheet writes.
func parseSheet(content []byte, format object.Format) (*sheet, error) {
	list, armored, ok := cutSignature(content)
	if !ok || len(content) > maxSheet {
		return nil, errSheet
	}
	rest, ok := bytes.CutPrefix(list, []byte(mapHeader))
	if !ok || len(rest) == 0 {
		return nil, errSheet
	}
	s := &sheet{content: content, entries: make(map[masked]object.Hash)}
	var last masked
	for line := range bytes.Lines(rest) {
		from, to, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		var m masked
		n, err := hex.Decode(m[:], []byte(from[:min(len(from), 2*len(m))]))
		switch {
		case !ok || !bytes.HasSuffix(line, []byte("\n")), err != nil || n != len(m), hex.EncodeToString(m[:]) != from:
			return nil, errSheet
		case format.Text(object.NewHash(to)) != to:
			return nil, errSheet
		case len(s.entries) > 0 && bytes.Compare(m[:], last[:]) <= 0:
			return nil, errSheet
		}
		s.entries[m], last = object.NewHash(to), m
	}
	var err error
	if s.by, err = sshsig.VerifyAs(mapNamespace, armored, list); err != nil {
		return nil, err
	}
	return s, nil
}

func cutSignature(content []byte) (list, armored []byte, ok bool) {
	i := bytes.Index(content, []byte("\n-----BEGIN "))
	if i < 0 {
		return nil, nil, false
	}
	return content[:i+1], content[i+1:], true
}

func newSheet(key sshsig.Key, entries map[masked]object.Hash, format object.Format) *sheet {
	var list bytes.Buffer
	list.WriteString(mapHeader)
	for _, m := range slices.SortedFunc(maps.Keys(entries), func(a, b masked) int { return bytes.Compare(a[:], b[:]) }) {
		fmt.Fprintf(&list, "%x %s\n", m[:], format.Text(entries[m]))
	}
	armored := sshsig.SignAs(mapNamespace, key, list.Bytes())
	return &sheet{content: append(list.Bytes(), armored...), by: key.Public(), entries: entries}
}

func (s *sheet) name() string {
	sum := sha256.Sum256(s.content)
	return hex.EncodeToString(sum[:]) + mapSuffix
}

// Read reads the untrusted map in a commit, empty for the zero hash. It
// skips what is no sheet or badly signed. With an error, as for a too large
// map, it returns what was read before.
func Read(objects *git.Objects, commit object.Hash) (*Map, error) {
	m := &Map{sheets: make(map[string]*sheet)}
	if commit.IsZero() {
		return m, nil
	}
	defer m.reduce()
	tree, err := objects.TreeOf(commit)
	if err != nil {
		return m, fmt.Errorf("read the map of purged commits: %w", err)
	}
	files, err := objects.Tree(tree, maxMapTree)
	if err != nil {
		return m, fmt.Errorf("read the map of purged commits: %w", err)
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
			return m, fmt.Errorf("read the map of purged commits: %w", err)
		}
		if size += len(content); size > maxMap || len(m.sheets) == maxSheets {
			return m, fmt.Errorf("the map of purged commits is too large: at most %d lists and %d MB are read", maxSheets, maxMap>>20)
		}
		if s, err := parseSheet(content, objects.Format()); err == nil && s.name() == name {
			m.sheets[name] = s
		}
	}
	return m, nil
}

// reduce drops each sheet that another one of the same key covers, in a time
// that depends on the map's size alone: an attacker may make nearly equal
// sheets.
func (m *Map) reduce() {
	of := make(map[sshsig.Public][]string)
	for _, name := range slices.Sorted(maps.Keys(m.sheets)) {
		of[m.sheets[name].by] = append(of[m.sheets[name].by], name)
	}
	type entry struct {
		masked
		to object.Hash
	}
	for _, names := range of {
		if len(names) == 1 {
			continue
		}
		in := make(map[entry][]int) // the sheets that have it
		size := make([]int, len(names))
		for n, name := range names {
			size[n] = len(m.sheets[name].entries)
			for from, to := range m.sheets[name].entries {
				in[entry{from, to}] = append(in[entry{from, to}], n)
			}
		}
		for n, name := range names {
			common := make([]int, len(names))
			for from, to := range m.sheets[name].entries {
				for _, other := range in[entry{from, to}] {
					common[other]++
				}
			}
			for other := range names {
				if common[other] == size[n] && (size[other] > size[n] || other < n) {
					delete(m.sheets, name)
				}
			}
		}
	}
}

// Unite adds what another map has.
func (m *Map) Unite(other *Map) {
	maps.Copy(m.sheets, other.sheets)
	m.reduce()
}

// Add adds pairs of commits, signed with a key; zero means no successor.
func (m *Map) Add(key sshsig.Key, pairs map[object.Hash]object.Hash) {
	if len(pairs) == 0 {
		return
	}
	entries := make(map[masked]object.Hash)
	for _, name := range slices.Sorted(maps.Keys(m.sheets)) { // a sheet that covers others replaces them
		if s := m.sheets[name]; s.by == key.Public() && len(s.content) < maxSheet/2 {
			maps.Copy(entries, s.entries)
		}
	}
	var format object.Format
	for from, to := range pairs {
		entries[mask(from)], format = to, from.Format()
	}
	s := newSheet(key, entries, format)
	m.sheets[s.name()] = s
	m.reduce()
}

// Unlisted returns those of some pairs that no key has listed.
func (m *Map) Unlisted(all map[object.Hash]object.Hash) map[object.Hash]object.Hash {
	listed := m.classes(func(sshsig.Public) bool { return true })
	pairs := make(map[object.Hash]object.Hash)
	for from, to := range all {
		if c := listed[mask(from)]; from != to && (c == nil || !c.is[to]) {
			pairs[from] = to
		}
	}
	return pairs
}

// Write writes the map as a commit without parents, author or time. It keeps
// nothing alive, as its trees have no commit. The empty map is the zero hash.
// If it is too large, sheets of keys that don't count are dropped: an attacker
// who fills a remote's map must not keep others from purging.
func (m *Map) Write(objects *git.Objects, counts func(sshsig.Public) bool) (object.Hash, error) {
	if len(m.sheets) == 0 {
		return object.Hash{}, nil
	}
	var names, others []string
	for _, name := range slices.Sorted(maps.Keys(m.sheets)) {
		if counts(m.sheets[name].by) {
			names = append(names, name)
		} else {
			others = append(others, name)
		}
	}
	size := 0
	files := make(map[string]object.Entry)
	for n, name := range slices.Concat(names, others) {
		s := m.sheets[name]
		if n >= len(names) && (size+len(s.content) > maxMap || len(files) == maxSheets) {
			continue
		}
		size += len(s.content)
		blob, err := objects.Write(plumbing.BlobObject, s.content)
		if err != nil {
			return object.Hash{}, err
		}
		files[name] = object.Entry{Mode: 0o100644, Hash: blob}
	}
	if size > maxMap || len(files) > maxSheets {
		return object.Hash{}, fmt.Errorf("the map of purged commits is too large: %d lists, %d MB", len(files), size>>20)
	}
	tree, err := objects.EditTree(object.Hash{}, files)
	if err != nil {
		return object.Hash{}, err
	}
	return objects.CommitTree(tree, nil, purgerewrite.Nobody, purgerewrite.Nobody, "purges\n")
}

// Empty reports whether the map has nothing.
func (m *Map) Empty() bool { return len(m.sheets) == 0 }

// Same reports whether two maps have the same sheets.
func (m *Map) Same(other *Map) bool {
	return maps.EqualFunc(m.sheets, other.sheets, func(a, b *sheet) bool { return true })
}

// A class is commits that replaced one another, and what remained in the end.
type class struct {
	ends []object.Hash
	is   map[object.Hash]bool   // the same, to ask
	by   map[sshsig.Public]bool // who replaced them
	// circular says that ends replaced one another: two purges of a ledger each
	// won somewhere. Every clone then takes the first.
	circular bool
}

func (c *class) end(h object.Hash) bool {
	if c.is[h] {
		return false
	}
	c.ends, c.is[h] = append(c.ends, h), true
	return true
}

// classes returns the classes of commits, by the keys that count. Ends are
// ordered by key, so that two purges of a ledger are never mixed.
func (m *Map) classes(counts func(sshsig.Public) bool) map[masked]*class {
	type entry struct {
		masked
		to object.Hash
		by sshsig.Public
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
		return cmp.Or(bytes.Compare(a.by[:], b.by[:]), a.to.Compare(b.to))
	})
	stands, found := make(map[masked]*class), make(map[masked]*class)
	for _, e := range all {
		root := find(e.masked)
		c := stands[root]
		if c == nil {
			c = &class{is: make(map[object.Hash]bool), by: make(map[sshsig.Public]bool)}
			stands[root] = c
		}
		found[e.masked], c.by[e.by] = c, true
		if !e.to.IsZero() {
			found[mask(e.to)] = c
		}
		if e.to.IsZero() || !replaced[mask(e.to)] {
			c.end(e.to)
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
		if !final[e.masked] && found[e.masked].end(e.to) {
			found[e.masked].circular = true
		}
	}
	return found
}

// Lists reports whether a key that counts says that a commit was replaced.
func (m *Map) Lists(commit object.Hash, counts func(sshsig.Public) bool) bool {
	if commit.IsZero() {
		return false
	}
	masked := mask(commit)
	for _, s := range m.sheets {
		if _, ok := s.entries[masked]; ok && counts(s.by) {
			return true
		}
	}
	return false
}

// Ends returns the commits that replaced others by any key.
func (m *Map) Ends() map[object.Hash]bool {
	ends := make(map[object.Hash]bool)
	for _, s := range m.sheets {
		for _, to := range s.entries {
			ends[to] = true
		}
	}
	return ends
}

// Learn unites the map of a repository, whose ref move moves, with another one,
// see [Map.Write].
func (m *Map) Learn(ctx context.Context, repo *git.Repo, counts func(sshsig.Public) bool, move func(context.Context, []git.Update) error) error {
	return git.Retry(git.ErrConflict, func() error { return m.learnOnce(ctx, repo, counts, move) })
}

func (m *Map) learnOnce(ctx context.Context, repo *git.Repo, counts func(sshsig.Public) bool, move func(context.Context, []git.Update) error) error {
	refs, err := repo.Refs(ctx, Ref)
	if err != nil {
		return err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	all, err := Read(objects, refs[Ref])
	if err != nil {
		return err
	}
	all.Unite(m)
	now, err := all.Write(objects, counts)
	if err != nil || now == refs[Ref] {
		return err
	}
	if err := objects.Flush(); err != nil {
		return err
	}
	return move(ctx, []git.Update{{Ref: Ref, New: now, Old: refs[Ref]}})
}
