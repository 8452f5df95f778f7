package object

import (
	"bytes"
	"strings"
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
	c = &Raw{Tree: parsed.Tree, Parents: parsed.Parents, Message: message}
	for n, line := range strings.Split(head, "\n")[1+len(parsed.Parents):] {
		name, value, _ := strings.Cut(line, " ")
		switch {
		case n == 0 && name == "author":
			c.Author = value
		case n == 1 && name == "committer":
			c.Committer = value
		case n < 2 || name == "" && len(c.Others) == 0:
			return nil, false
		case name == "":
			c.Others[len(c.Others)-1] += "\n" + line
		default:
			c.Others = append(c.Others, line)
		}
	}
	return c, c.Committer != "" && bytes.Equal(c.Encode(), content)
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
