package ledger

import (
	"bytes"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// The headers of a signed ledger commit, behind those that every commit has. The first says whose
// ledger it is a part of, lest a commit that somebody signed for another purpose, or for another
// mission, pass for an event of this one. The second is git's, [git.Format.SignatureHeader]; git verifies it.
const idHeader = "agent-ledger "

// Sign returns the content of a ledger commit, of which plain has the headers that every commit has and the
// message: with the header that says whose it is and a signature, or as it is without a key.
func Sign(plain []byte, of record.ID, key *sshsig.Key, format git.Format) []byte {
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

// A Signed is a ledger commit in the form that [Ledger.Append] gives a signed one.
type Signed struct {
	Of     record.ID     // the ledger that it was written for
	By     sshsig.Public // as the signature names it; see [Signed.Verify]
	Tree   git.Hash
	Parent git.Hash // the event before; zero in the first commit

	armored, text []byte // the signature, and what it is of
}

// ParseSigned reads the content of a commit. ok is false unless its headers are exactly a tree, any
// parents, an author, a committer, the ledger's id and one signature, in this order. Anything else
// could mean one thing here and another to git, or be a commit that was signed for another purpose.
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
	hash := func(name string) (h git.Hash, ok bool) {
		v, ok := line(name)
		if !ok {
			return h, false
		}
		h = git.NewHash(v)
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

// Verify reports whether the signature is By's, of this very commit.
func (s *Signed) Verify() bool {
	by, err := sshsig.Verify(s.armored, s.text)
	return err == nil && by == s.By
}
