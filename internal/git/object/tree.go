package object

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// An Entry is what a tree holds at a path; the zero Entry is nothing.
type Entry struct {
	Mode filemode.FileMode
	Hash Hash
}

// TreeMap returns the entries of a tree's content; see [git.Objects.Tree].
func TreeMap(format Format, content []byte) (map[string]Entry, error) {
	list, err := ParseTree(format, content)
	entries := make(map[string]Entry, len(list))
	for _, e := range slices.Backward(list) {
		entries[e.Name] = e.Entry
	}
	return entries, err
}

// A TreeEntry is one entry of a tree.
type TreeEntry struct {
	Name string // git's bytes
	Entry
}

var errTree = errors.New("not a tree")

// ParseTree parses a tree, which if untrusted may be unsorted and repeat names.
// Modes become git's.
func ParseTree(format Format, content []byte) (entries []TreeEntry, err error) {
	named := true
	err = eachEntry(format, content, func(e RawEntry) {
		named = named && e.Name != ""
		entries = append(entries, TreeEntry{e.Name, Entry{canonical(e.mode), e.Hash}})
	})
	if err != nil || !named {
		return nil, errTree
	}
	return entries, nil
}

// canonical returns the mode that git takes m for.
func canonical(m filemode.FileMode) filemode.FileMode {
	switch m & 0o170000 {
	case filemode.Dir:
		return filemode.Dir
	case filemode.Symlink:
		return filemode.Symlink
	case 0o100000:
		if m&0o100 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	default:
		return filemode.Submodule
	}
}

// EncodeTree returns the content of a tree, in git's order of entries.
func EncodeTree(format Format, entries []TreeEntry) ([]byte, error) {
	slices.SortFunc(entries, compareEntries)
	var b bytes.Buffer
	for _, e := range entries {
		if e.Name == "" || strings.IndexByte(e.Name, 0) >= 0 {
			return nil, fmt.Errorf("%q can't be a name in a tree", e.Name)
		}
		if !format.Names(e.Hash) {
			return nil, fmt.Errorf("%s can't be in a tree of the format %s", e.Hash, format)
		}
		b.WriteString(strconv.FormatUint(uint64(e.Mode), 8) + " " + e.Name + "\x00")
		b.Write(format.Append(b.AvailableBuffer(), e.Hash))
	}
	return b.Bytes(), nil
}

// compareEntries orders names by bytes, directories as if followed by a slash.
func compareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	return cmp.Or(strings.Compare(a.Name[:n], b.Name[:n]), cmp.Compare(a.at(n), b.at(n)))
}

func (e TreeEntry) at(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.Mode == filemode.Dir:
		return '/'
	default:
		return 0
	}
}

// A RawEntry is an entry of a tree to the byte, even with a mode that git does
// not write.
type RawEntry struct {
	Head []byte // mode, blank, name and NUL
	Name string
	Hash Hash
	mode filemode.FileMode
}

// Kind returns the mode without permissions.
func (e RawEntry) Kind() filemode.FileMode { return e.mode & 0o170000 }

// ParseRawTree parses a tree. Head is part of content.
func ParseRawTree(format Format, content []byte) (entries []RawEntry, err error) {
	if err = eachEntry(format, content, func(e RawEntry) { entries = append(entries, e) }); err != nil {
		return nil, err
	}
	return entries, nil
}

func eachEntry(format Format, content []byte, f func(RawEntry)) error {
	for len(content) > 0 {
		end := bytes.IndexByte(content, 0) + 1
		mode, name, ok := strings.Cut(string(content[:max(0, end-1)]), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ok || err != nil || len(content)-end < format.Size() {
			return errTree
		}
		f(RawEntry{content[:end], name, format.Hash(content[end:]), filemode.FileMode(bits)})
		content = content[end+format.Size():]
	}
	return nil
}
