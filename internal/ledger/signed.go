package ledger

import (
	"bytes"

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
	head, message, ok := bytes.Cut(content, []byte("\n\n"))
	if !ok || bytes.IndexByte(content, 0) >= 0 {
		return s, false
	}
	rest := append(head[:len(head):len(head)], '\n')
	line := func(name string) (value string, ok bool) {
		if !bytes.HasPrefix(rest, []byte(name)) {
			return "", false
		}
		v, after, _ := bytes.Cut(rest[len(name):], []byte("\n"))
		rest = after
		return string(v), true
	}
	hash := func(name string) (h object.Hash, ok bool) {
		v, ok := line(name)
		if !ok {
			return h, false
		}
		h = object.NewHash(v)
		return h, !h.IsZero() && h.String() == v
	}
	if s.Tree, ok = hash("tree "); !ok {
		return s, false
	}
	for first := true; bytes.HasPrefix(rest, []byte("parent ")); first = false {
		parent, ok := hash("parent ")
		if !ok {
			return s, false
		}
		if parent.Format() != s.Tree.Format() {
			return s, false
		}
		if first {
			s.Parent = parent
		}
	}
	for _, name := range []string{"author ", "committer "} {
		if _, ok := line(name); !ok {
			return s, false
		}
	}
	of, ok := line(idHeader)
	if !ok {
		return s, false
	}
	id, err := record.ParseID(of)
	if err != nil {
		return s, false
	}
	s.Of = id
	signed := rest
	folded, ok := bytes.CutPrefix(signed, []byte(s.Tree.Format().SignatureHeader()+" "))
	if !ok {
		return s, false
	}
	s.armored = bytes.ReplaceAll(folded, []byte("\n "), []byte("\n"))
	if s.By, ok = sshsig.Signer(s.armored); !ok {
		return s, false
	}
	plain := head[:len(head)+1-len(signed)]
	s.text = append(append(plain[:len(plain):len(plain)], '\n'), message...)
	return s, true
}

// Verify reports whether the signature is By's and of this commit.
func (s *Signed) Verify() bool {
	by, err := sshsig.Verify(s.armored, s.text)
	return err == nil && by == s.By
}
