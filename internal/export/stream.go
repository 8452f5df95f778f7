package export

import (
	"bytes"
	"fmt"

	"gitagent/internal/git/object"
)

// A Noted is a commit and its note.
type Noted struct {
	Commit object.Hash
	Note   []byte
}

// Stream returns what `git fast-import` takes to put notes on commits under
// [NotesRef], whose commit is the tip now, zero if there is none; nothing if
// there are no notes. If the ref has moved before it is read, or if it is cut
// short, git leaves the ref alone.
func Stream(tip object.Hash, by object.Signature, notes []Noted) []byte {
	if len(notes) == 0 {
		return nil
	}
	var b bytes.Buffer
	data := func(text []byte) { fmt.Fprintf(&b, "data %d\n%s\n", len(text), text) }
	fmt.Fprintf(&b, "feature done\ncommit %s\ncommitter %s <%s> %d +0000\n", NotesRef, by.Name, by.Email, date(by.When).Unix())
	data([]byte("Notes of the turns that git-agent knows\n"))
	if !tip.IsZero() {
		fmt.Fprintf(&b, "from %s\n", tip)
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "N inline %s\n", n.Commit)
		data(n.Note)
	}
	b.WriteString("done\n")
	return b.Bytes()
}
