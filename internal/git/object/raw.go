package object

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

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
	parsed, err := ParseCommit(content)
	if err != nil {
		return nil, false
	}
	for range 1 + len(parsed.Parents) {
		_, head = cutHeader(head)
	}
	author, head := cutHeader(head)
	committer, head := cutHeader(head)
	c = &Raw{Tree: parsed.Tree, Parents: parsed.Parents, Message: message}
	for header := ""; head != ""; c.Others = append(c.Others, header) {
		header, head = cutHeader(head)
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
	for len(content) > 0 {
		end := bytes.IndexByte(content, 0) + 1
		mode, name, ok := strings.Cut(string(content[:max(0, end-1)]), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ok || err != nil || len(content)-end < format.Size() {
			return nil, errTree
		}
		entries = append(entries, RawEntry{content[:end], name, format.Hash(content[end:]), filemode.FileMode(bits)})
		content = content[end+format.Size():]
	}
	return entries, nil
}
