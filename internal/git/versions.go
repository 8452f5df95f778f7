package git

import (
	"bytes"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

// versions finds, among some objects, those of which a later commit has another
// version: its own first parent, and what stands at the same path there.
type versions struct {
	format object.Format
	of     func(object.Hash) *Object   // nil for what is not among them
	next   map[object.Hash]object.Hash // of each, that of a later commit
}

// commit pairs a commit with its first parent. A ledger's commits have the code
// as their second one, which need not follow each other.
func (v *versions) commit(c *Object) {
	now, err := object.ParseCommit(c.Content)
	if err != nil || len(now.Parents) == 0 {
		return
	}
	before := v.of(now.Parents[0])
	if before == nil || before.Type != plumbing.CommitObject {
		return
	}
	was, err := object.ParseCommit(before.Content)
	if err != nil || was.Tree == now.Tree { // such as what a [Keeper] is at
		return
	}
	v.pair(before.Hash, c.Hash)
	v.pair(was.Tree, now.Tree)
	if len(was.Parents) > 1 && len(now.Parents) > 1 {
		v.code(was.Parents[1], now.Parents[1])
	}
}

func (v *versions) code(before, after object.Hash) {
	a, b := v.of(before), v.of(after)
	if before == after || a == nil || b == nil {
		return
	}
	was, err := object.ParseCommit(a.Content)
	if err != nil {
		return
	}
	if now, err := object.ParseCommit(b.Content); err == nil {
		v.pair(before, after)
		v.pair(was.Tree, now.Tree)
	}
}

// pair notes that one object became another, and what became of a tree's entries.
func (v *versions) pair(before, after object.Hash) {
	if before == after {
		return
	}
	if _, paired := v.next[before]; paired {
		return
	}
	a, b := v.of(before), v.of(after)
	if a == nil || b == nil || a.Type != b.Type {
		return
	}
	v.next[before] = after
	if a.Type == plumbing.TreeObject {
		v.entries(a.Content, b.Content)
	}
}

// entries pairs the entries of two trees that have the same mode and name.
func (v *versions) entries(was, now []byte) {
	size := v.format.Size()
	for len(was) > 0 && len(now) > 0 {
		a, b := bytes.IndexByte(was, 0)+1, bytes.IndexByte(now, 0)+1
		if a == 0 || b == 0 || len(was) < a+size || len(now) < b+size {
			return
		}
		switch order := bytes.Compare(treeName(was[:a]), treeName(now[:b])); {
		case order < 0:
			was = was[a+size:]
		case order > 0:
			now = now[b+size:]
		default:
			if before, after := was[a:a+size], now[b:b+size]; !bytes.Equal(before, after) {
				v.pair(v.format.Hash(before), v.format.Hash(after))
			}
			was, now = was[a+size:], now[b+size:]
		}
	}
}

// treeName is the name, with its NUL, that ends an entry's head.
func treeName(head []byte) []byte { return head[bytes.IndexByte(head, ' ')+1:] }
