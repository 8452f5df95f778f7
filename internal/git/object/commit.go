package object

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Commit is a commit without its other headers (signatures, encodings).
type Commit struct {
	Tree              Hash
	Parents           []Hash
	Author, Committer Signature
	Message           string
}

// A Signature is an author or a committer, with the time.
type Signature struct {
	Name, Email string // without what git drops from them; see [git.Config.Author]
	When        time.Time
}

var errCommit = errors.New("not a commit")

// ParseCommit reads the content of a commit. As in git, the tree and the
// parents come first. A bad author or committer is the zero Signature.
func ParseCommit(content []byte) (*Commit, error) {
	c := new(Commit)
	line, rest, _ := strings.Cut(string(content), "\n")
	var ok bool
	if c.Tree, ok = hashAfter(line, "tree "); !ok {
		return nil, errCommit
	}
	for {
		line, rest, _ = strings.Cut(rest, "\n")
		parent, ok := hashAfter(line, "parent ")
		if !ok {
			break
		}
		c.Parents = append(c.Parents, parent)
	}
	for line != "" { // continuation lines of a header begin with a space
		if who, ok := strings.CutPrefix(line, "author "); ok && c.Author == (Signature{}) {
			c.Author = parseSignature(who)
		} else if who, ok := strings.CutPrefix(line, "committer "); ok && c.Committer == (Signature{}) {
			c.Committer = parseSignature(who)
		}
		line, rest, _ = strings.Cut(rest, "\n")
	}
	c.Message = rest
	return c, nil
}

func hashAfter(line, word string) (Hash, bool) {
	hash, ok := strings.CutPrefix(line, word)
	if !ok {
		return Hash{}, false
	}
	h, err := ParseHash(hash)
	return h, err == nil
}

// parseSignature reads `Name <email> 1795176000 +0100`. Like git, it takes the
// time after the last bracket.
func parseSignature(s string) Signature {
	name, rest, _ := strings.Cut(s, "<")
	email, _, ok := strings.Cut(rest, ">")
	if !ok {
		return Signature{}
	}
	when := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:])
	return Signature{Name: strings.TrimSpace(name), Email: email, When: parseTime(when)}
}

func parseTime(fields []string) time.Time {
	if len(fields) == 0 {
		return time.Time{}
	}
	at, err := UnixTime(fields[0])
	if err != nil {
		return time.Time{}
	}
	at = at.UTC()
	if len(fields) == 1 || len(fields[1]) != len("+0000") {
		return at
	}
	offset, err := strconv.Atoi(fields[1])
	if err != nil || offset == 0 || offset%100 >= 60 || offset%100 <= -60 {
		return at
	}
	return at.In(time.FixedZone("", offset/100*3600+offset%100*60))
}

// Encode returns the content of the commit as git writes it.
func (c *Commit) Encode() []byte {
	return (&Raw{c.Tree, c.Parents, c.Author.header(), c.Committer.header(), nil, c.Message}).Encode()
}

func (s Signature) header() string {
	seconds := max(0, s.When.Unix()) // git has no time before 1970
	return s.Name + " <" + s.Email + "> " + strconv.FormatInt(seconds, 10) + s.When.Format(" -0700")
}

// A Raw is a commit to the byte.
type Raw struct {
	Tree              Hash
	Parents           []Hash
	Author, Committer string   // with the time
	Others            []string // headers, each with its further lines
	Message           string
}

// ParseRaw reads a commit; ok is false if it can't be encoded as it is.
func ParseRaw(content []byte) (c *Raw, ok bool) {
	head, message, ok := strings.Cut(string(content), "\n\n")
	if !ok {
		return nil, false
	}
	c = &Raw{Message: message}
	header, head := cutHeader(head)
	if c.Tree, ok = hashAfter(header, "tree "); !ok {
		return nil, false
	}
	author, head := cutHeader(head)
	for parent, ok := hashAfter(author, "parent "); ok; parent, ok = hashAfter(author, "parent ") {
		c.Parents = append(c.Parents, parent)
		author, head = cutHeader(head)
	}
	committer, head := cutHeader(head)
	for head != "" {
		header, head = cutHeader(head)
		c.Others = append(c.Others, header)
	}
	c.Author, c.Committer = strings.TrimPrefix(author, "author "), strings.TrimPrefix(committer, "committer ")
	return c, c.Committer != "" && !strings.Contains(author+committer, "\n") && bytes.Equal(c.Encode(), content)
}

// cutHeader cuts the first header, with its further lines, off a commit's head.
func cutHeader(head string) (header, rest string) {
	for i := range len(head) - 1 {
		if head[i] == '\n' && head[i+1] != ' ' {
			return head[:i], head[i+1:]
		}
	}
	return head, ""
}

// Encode returns the content of the commit.
func (c *Raw) Encode() []byte {
	var b bytes.Buffer
	b.WriteString("tree " + c.Tree.String() + "\n")
	for _, parent := range c.Parents {
		b.WriteString("parent " + parent.String() + "\n")
	}
	b.WriteString("author " + c.Author + "\ncommitter " + c.Committer + "\n")
	for _, header := range c.Others {
		b.WriteString(header + "\n")
	}
	b.WriteString("\n" + c.Message)
	return b.Bytes()
}

// maxSeconds is the end of 9999, JSON's last year. Commits may be later.
const maxSeconds = 253_402_300_799

// UnixTime parses git's seconds, capped at the last time that JSON can hold.
func UnixTime(seconds string) (time.Time, error) {
	n, err := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(min(n, maxSeconds), 0), err
}

// ParseRevision parses a line of seconds and at least one hash.
func ParseRevision(line string) (at time.Time, hashes []Hash, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return at, nil, fmt.Errorf("git lists a commit as %q", line)
	}
	at, err = UnixTime(fields[0])
	for _, field := range fields[1:] {
		var hash Hash
		if err == nil {
			hash, err = ParseHash(field)
		}
		hashes = append(hashes, hash)
	}
	return at, hashes, err
}
