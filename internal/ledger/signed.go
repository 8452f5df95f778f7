package ledger

import (
	"bytes"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// idHeader begins the line that names a signed commit's ledger, between git's
// headers and its signature's, lest a commit signed for another purpose or
// mission pass for an event of this one.
const idHeader = "agent-ledger "

// Sign adds the ledger's header and a signature to a commit, if there is a key.
func Sign(plain []byte, of record.ID, key *sshsig.Key, format object.Format) []byte {
	if key == nil {
		return plain
	}
	headers, message, _ := bytes.Cut(plain, []byte("\n\n"))
	headers = append(headers[:len(headers):len(headers)], "\n"+idHeader+string(of)+"\n"...)
	message = append([]byte("\n"), message...)
	armored := sshsig.Sign(*key, append(headers[:len(headers):len(headers)], message...))
	folded := bytes.ReplaceAll(bytes.TrimSuffix(armored, []byte("\n")), []byte("\n"), []byte("\n "))
	return append(append(append(append(headers, format.SignatureHeader()+" "...), folded...), '\n'), message...)
}

// A Signed is a signed ledger commit, in the form of [Ledger.Append].
type Signed struct {
	Of     record.ID     // the ledger it was written for
	By     sshsig.Public // as the signature names it; see [Signed.Verify]
	Tree   object.Hash
	Parent object.Hash // the previous event; zero in the first commit

	armored, text []byte // the signature, and what it signs
}

// ParseSigned parses a commit. ok is false unless its headers are exactly tree,
// any parents, author, committer, ledger id and one signature: others may mean
// something else to git, or be signed for another purpose.
func ParseSigned(content []byte) (s Signed, ok bool) {
	c, ok := object.ParseRaw(content)
	if !ok || len(c.Others) != 2 || bytes.IndexByte(content, 0) >= 0 || !c.Tree.Format().Names(c.Parents...) {
		return s, false
	}
	of, mine := strings.CutPrefix(c.Others[0], idHeader)
	folded, signed := strings.CutPrefix(c.Others[1], c.Tree.Format().SignatureHeader()+" ")
	id, err := record.ParseID(of)
	if !mine || !signed || err != nil {
		return s, false
	}
	s.Of, s.Tree = id, c.Tree
	if len(c.Parents) > 0 {
		s.Parent = c.Parents[0]
	}
	s.armored = []byte(strings.ReplaceAll(folded, "\n ", "\n") + "\n")
	c.Others = c.Others[:1]
	s.text = c.Encode()
	s.By, ok = sshsig.Signer(s.armored)
	return s, ok
}

// Verify reports whether the signature is By's and of this commit.
func (s *Signed) Verify() bool {
	by, err := sshsig.Verify(s.armored, s.text)
	return err == nil && by == s.By
}
