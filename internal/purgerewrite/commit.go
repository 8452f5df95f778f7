package purgerewrite

import (
	"bytes"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/scrub"
)

// A raw is a commit as it is stored.
type raw struct {
	tree              object.Hash
	parents           []object.Hash
	author, committer string   // with the time
	others            []string // headers with their further lines
	message           string
}

// parseRaw reads a commit; ok is false if it can't be encoded as it is.
func parseRaw(content []byte) (c *raw, ok bool) {
	head, message, ok := strings.Cut(string(content), "\n\n")
	if !ok {
		return nil, false
	}
	parsed, err := object.ParseCommit(content)
	if err != nil {
		return nil, false
	}
	c = &raw{tree: parsed.Tree, parents: parsed.Parents, message: message}
	for n, line := range strings.Split(head, "\n")[1+len(parsed.Parents):] {
		name, value, _ := strings.Cut(line, " ")
		switch {
		case n == 0 && name == "author":
			c.author = value
		case n == 1 && name == "committer":
			c.committer = value
		case n < 2 || name == "" && len(c.others) == 0:
			return nil, false
		case name == "":
			c.others[len(c.others)-1] += "\n" + line
		default:
			c.others = append(c.others, line)
		}
	}
	return c, c.committer != "" && bytes.Equal(c.encode(), content)
}

func (c *raw) encode() []byte {
	var b bytes.Buffer
	b.WriteString("tree " + c.tree.String() + "\n")
	for _, parent := range c.parents {
		b.WriteString("parent " + parent.String() + "\n")
	}
	b.WriteString("author " + c.author + "\ncommitter " + c.committer + "\n")
	for _, header := range c.others {
		b.WriteString(header + "\n")
	}
	b.WriteString("\n" + c.message)
	return b.Bytes()
}

// unsigned drops the headers that vouch for the commit as it was.
func (c *raw) unsigned() {
	var others []string
	for _, header := range c.others {
		switch name, _, _ := strings.Cut(header, " "); name {
		case "gpgsig", "gpgsig-sha256", "agent-ledger", "mergetag":
		default:
			others = append(others, header)
		}
	}
	c.others = others
}

// cleanWho cleans the name and address of an identity, and keeps its time.
func (r *Rewrite) cleanWho(at Place, who string) string {
	end := strings.LastIndexByte(who, '>') + 1
	if !r.holds([]byte(who[:end])) {
		return who
	}
	at.Kind = Identity
	r.find(at, Redacted, 1)
	name, email, _ := strings.Cut(strings.TrimSuffix(who[:end], ">"), "<")
	clean := func(s string) string {
		return strings.NewReplacer("<", "", ">", "").Replace(r.cleanText(s))
	}
	to := clean(strings.TrimSuffix(name, " ")) + " <" + clean(email) + ">"
	if r.holds([]byte(to)) {
		to = scrub.Mark + " <" + scrub.Mark + ">"
	}
	return to + who[end:]
}

// cleanMessage cleans a commit message, but for our trailers.
func (r *Rewrite) cleanMessage(at Place, message string) string {
	if !r.holds([]byte(message)) {
		return message
	}
	at.Kind = Message
	text, trailers := message, ""
	if i := strings.LastIndex(message, "\n\nAgent-Mission: "); i >= 0 {
		text, trailers = message[:i+1], message[i+1:]
	}
	out := r.cleanText(text)
	if r.holds([]byte(out)) {
		out = scrub.Mark + "\n"
	}
	if out != text {
		r.find(at, Redacted, 1)
	}
	if r.holds([]byte(out + trailers)) {
		r.find(at, Kept, 1)
	}
	return out + trailers
}
