package hooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// An edit of a document inserts or removes one item; all other bytes stay.
//
// In an array or object with items, a new one goes to the end and looks like
// the last one. An empty one must look as before after the removal, but one
// created with its item must go. So the former keeps its white space after the
// opening bracket, followed by one blank and the item.

type layout struct {
	newline string // between lines; "" for a single line
	indent  string // of the first line
	unit    string // what each level adds to indent
	spaced  bool   // on a single line: a blank after colons and commas
}

func (l layout) render(v any) string {
	var compact, b bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
	text := bytes.TrimSpace(compact.Bytes())
	switch {
	case l.newline != "":
		json.Indent(&b, text, l.indent, l.unit)
		return strings.ReplaceAll(b.String(), "\n", l.newline)
	case l.spaced:
		json.Indent(&b, text, "", "")
		return strings.ReplaceAll(strings.ReplaceAll(b.String(), ",\n", ", "), "\n", "")
	}
	return string(text)
}

// item renders v, after a key if that is not empty.
func (l layout) item(key string, v any) string {
	if key == "" {
		return l.render(v)
	}
	if l.newline == "" && !l.spaced {
		return l.render(key) + ":" + l.render(v)
	}
	return l.render(key) + ": " + l.render(v)
}

// insert returns the text of d with an item appended to the array or object n.
func (d *document) insert(n *node, key string, v any) []byte {
	l := layout{unit: d.unit(), spaced: d.spaced()}
	if len(n.items()) == 0 {
		inner := string(d.data[n.start+1 : n.end-1])
		if n != d.root || inner != "" {
			inner += " "
		}
		if d.multiline() {
			l.newline = d.newline()
			outer := d.lineIndent(n.start)
			l.indent = outer + l.unit
			return d.splice(n.start+1, n.end-1, inner+l.newline+l.indent+l.item(key, v)+l.newline+outer)
		}
		return d.splice(n.start+1, n.end-1, inner+l.item(key, v))
	}

	last := n.items()[len(n.items())-1]
	separator := ","
	if indent, newline := d.lead(n, len(n.items())-1); newline != "" {
		separator += newline + indent
		if n == d.root || !d.oneLine(last.value) {
			l.newline, l.indent = newline, indent
		}
	} else if l.spaced {
		separator += " "
	}
	return d.splice(last.value.end, last.value.end, separator+l.item(key, v))
}

func (d *document) delete(s step) []byte {
	items := s.in.items()
	if s.index == 0 {
		return d.splice(items[0].start, items[1].start, "")
	}
	return d.splice(items[s.index-1].value.end, items[s.index].value.end, "")
}

// emptied returns the text inside n without its only item. kept is false if n
// was created for that item.
func (d *document) emptied(n *node) (inner string, kept bool) {
	inner = string(d.data[n.start+1 : n.items()[0].start])
	if i := strings.LastIndexByte(inner, '\n'); i >= 0 {
		inner = strings.TrimSuffix(inner[:i], "\r")
	}
	if inner == "" {
		return "", false
	}
	return inner[:len(inner)-1], true
}

func (d *document) splice(start, end int, text string) []byte {
	return slices.Concat(d.data[:start], []byte(text), d.data[end:])
}

// lead returns the indentation and line end before item i of n, both empty if
// the item does not begin a line.
func (d *document) lead(n *node, i int) (indent, newline string) {
	start := n.start + 1
	if i > 0 {
		start = n.items()[i-1].value.end
	}
	gap := string(d.data[start:n.items()[i].start])
	at := strings.LastIndexByte(gap, '\n')
	if at < 0 {
		return "", ""
	}
	newline = "\n"
	if strings.HasSuffix(gap[:at], "\r") {
		newline = "\r\n"
	}
	line := gap[at+1:] // may begin with a comma
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))], newline
}

// multiline reports whether d is empty or has line ends.
func (d *document) multiline() bool {
	return len(d.root.items()) == 0 || bytes.IndexByte(d.data[d.root.start:d.root.end], '\n') >= 0
}

func (d *document) oneLine(n *node) bool {
	return len(n.items()) > 0 && bytes.IndexByte(d.data[n.start:n.end], '\n') < 0
}

func (d *document) newline() string {
	if bytes.Contains(d.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// lineIndent returns the white space at the start of offset at's line.
func (d *document) lineIndent(at int) string {
	line := d.data[bytes.LastIndexByte(d.data[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns the indentation of one level of d, two blanks by default.
func (d *document) unit() string {
	outer := d.lineIndent(d.root.start)
	for i := range d.root.items() {
		if indent, newline := d.lead(d.root, i); newline != "" {
			if unit, ok := strings.CutPrefix(indent, outer); ok && unit != "" {
				return unit
			}
		}
	}
	return "  "
}

// spaced reports whether d has a blank after its first colon.
func (d *document) spaced() bool {
	return len(d.root.items()) == 0 || d.data[d.root.items()[0].value.start-1] != ':'
}
