package git

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A TreeEntry is one entry of a tree.
type TreeEntry struct {
	Name string // bytes as git has them
	Entry
}

var errTree = errors.New("not a tree")

// ParseTree reads the content of a tree. A stranger's tree may have its entries in any order, and
// several of one name. Modes are normalized to those that git knows, whatever permissions the tree
// has.
func ParseTree(content []byte) ([]TreeEntry, error) {
	var entries []TreeEntry
	for len(content) > 0 {
		head, rest, ok := bytes.Cut(content, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ok || !spaced || err != nil || name == "" || len(rest) < len(plumbing.ZeroHash) {
			return nil, errTree
		}
		e := TreeEntry{Name: name, Entry: Entry{Mode: canonical(filemode.FileMode(bits))}}
		content = rest[copy(e.Hash[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// canonical returns the mode that git reads a mode as.
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

// EncodeTree returns the content of a tree. It sorts the entries in git's order.
func EncodeTree(entries []TreeEntry) ([]byte, error) {
	slices.SortFunc(entries, compareEntries)
	var b bytes.Buffer
	for _, e := range entries {
		if e.Name == "" || strings.IndexByte(e.Name, 0) >= 0 {
			return nil, fmt.Errorf("%q can't be a name in a tree", e.Name)
		}
		b.WriteString(strconv.FormatUint(uint64(e.Mode), 8) + " " + e.Name + "\x00")
		b.Write(e.Hash[:])
	}
	return b.Bytes(), nil
}

// compareEntries orders names by their bytes; a directory's name counts as if it ended in a slash.
func compareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	return cmp.Or(strings.Compare(a.Name[:n], b.Name[:n]), cmp.Compare(a.at(n), b.at(n)))
}

// at returns byte n of the name, or the byte that follows the name in git's order.
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
