package git

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Commit holds the parts of a commit that we write and read. Other headers, such as signatures
// and encodings, are skipped.
type Commit struct {
	Tree              plumbing.Hash
	Parents           []plumbing.Hash
	Author, Committer Signature
	Message           string
}

// A Signature says who did something, and when.
type Signature struct {
	Name, Email string // without what git drops from them, see [Config.Author]
	When        time.Time
}

var errCommit = errors.New("not a commit")

// ParseCommit reads the content of a commit. As in git, the tree and the parents come first; a
// missing or unreadable author or committer is the zero Signature.
func ParseCommit(content []byte) (*Commit, error) {
	c := new(Commit)
	line, rest := cutLine(content)
	var ok bool
	if c.Tree, ok = hashAfter(line, "tree "); !ok {
		return nil, errCommit
	}
	for {
		line, rest = cutLine(rest)
		parent, ok := hashAfter(line, "parent ")
		if !ok {
			break
		}
		c.Parents = append(c.Parents, parent)
	}
	for len(line) > 0 { // continuation lines of a header begin with a space
		if who, ok := bytes.CutPrefix(line, []byte("author ")); ok && c.Author == (Signature{}) {
			c.Author = parseSignature(who)
		} else if who, ok := bytes.CutPrefix(line, []byte("committer ")); ok && c.Committer == (Signature{}) {
			c.Committer = parseSignature(who)
		}
		line, rest = cutLine(rest)
	}
	c.Message = string(rest)
	return c, nil
}

func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return line, rest
}

// hashAfter reads a line that consists of a word and a hash.
func hashAfter(line []byte, word string) (plumbing.Hash, bool) {
	hash, ok := bytes.CutPrefix(line, []byte(word))
	if !ok || !plumbing.IsHash(string(hash)) {
		return plumbing.ZeroHash, false
	}
	return plumbing.NewHash(string(hash)), true
}

// parseSignature reads `Name <email> 1795176000 +0100`. Like git, it looks for the time after the
// last bracket.
func parseSignature(b []byte) Signature {
	name, rest, _ := bytes.Cut(b, []byte{'<'})
	email, _, ok := bytes.Cut(rest, []byte{'>'})
	if !ok {
		return Signature{}
	}
	when := strings.Fields(string(rest[bytes.LastIndexByte(rest, '>')+1:]))
	return Signature{Name: string(bytes.TrimSpace(name)), Email: string(email), When: parseTime(when)}
}

// parseTime makes a time from seconds and an offset from UTC.
func parseTime(fields []string) time.Time {
	if len(fields) == 0 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return time.Time{}
	}
	at := time.Unix(seconds, 0).UTC()
	if len(fields) == 1 || len(fields[1]) != len("+0000") {
		return at
	}
	offset, err := strconv.Atoi(fields[1])
	if err != nil || offset == 0 || offset%100 >= 60 || offset%100 <= -60 {
		return at
	}
	return at.In(time.FixedZone("", offset/100*3600+offset%100*60))
}

// Encode returns the content of the commit, as git writes it.
func (c *Commit) Encode() []byte {
	var b bytes.Buffer
	b.WriteString("tree " + c.Tree.String() + "\n")
	for _, parent := range c.Parents {
		b.WriteString("parent " + parent.String() + "\n")
	}
	b.WriteString("author " + c.Author.header() + "\n")
	b.WriteString("committer " + c.Committer.header() + "\n\n")
	b.WriteString(c.Message)
	return b.Bytes()
}

func (s Signature) header() string {
	seconds := max(0, s.When.Unix()) // git has no time before 1970
	return s.Name + " <" + s.Email + "> " + strconv.FormatInt(seconds, 10) + s.When.Format(" -0700")
}
