package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A SettingsError reports settings that the client would not accept or whose shape does not allow
// hooks.
type SettingsError struct {
	Line, Column int // of the place at fault, from 1; columns are runes
	Text         string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text)
}

// A document is a JSON text and the position of everything in it.
type document struct {
	data []byte
	root *node
}

// A node is a value; data[start:end] is its text.
type node struct {
	start, end int
	kind       byte   // the first byte of its text: { [ " or that of a scalar
	text       string // of a string, decoded
	json       gjson.Result
	inside     []item // see items
}

// An item is a member of an object or an element of an array.
type item struct {
	key   string // "" in an array
	start int    // of the key or, in an array, of the value
	value *node
}

var byteOrderMark = []byte("\ufeff")

// blank reports whether the settings are empty, as in a newly created file.
func blank(settings []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(settings, byteOrderMark))) == 0
}

// parse reads settings. They must strictly be one JSON object: for a comment or a trailing comma
// the client drops the whole file. It accepts a byte order mark.
func parse(data []byte) (*document, error) {
	d := &document{data: data}
	skip := len(data) - len(bytes.TrimPrefix(data, byteOrderMark))
	var syntax *json.SyntaxError // the only error there is
	if errors.As(json.Unmarshal(data[skip:], new(json.RawMessage)), &syntax) {
		at := skip + int(syntax.Offset) - 1 // the offset is after the byte at fault
		return nil, d.fault(max(at, 0), "not strict JSON: %v", syntax)
	}
	root := gjson.ParseBytes(bytes.TrimRight(data[skip:], " \t\r\n")) // which would be taken for part of it
	root.Index += skip
	d.root = newNode(root)
	if d.root.kind != '{' {
		return nil, d.fault(d.root.start, "the settings are %s, want an object", kindOf(d.root.kind))
	}
	return d, nil
}

func newNode(v gjson.Result) *node {
	return &node{start: v.Index, end: v.Index + len(v.Raw), kind: v.Raw[0], text: decoded(v), json: v}
}

// decoded returns the content of a string as encoding/json has it, "" of anything else.
func decoded(v gjson.Result) (text string) {
	if v.Type == gjson.String {
		_ = json.Unmarshal([]byte(v.Raw), &text) // it is valid
	}
	return text
}

// items returns what is in an object or array, parsed when it is first asked for.
func (n *node) items() []item {
	if n.inside == nil && n.json.Type == gjson.JSON {
		n.json.ForEach(func(key, value gjson.Result) bool {
			it := item{decoded(key), value.Index, newNode(value)}
			if n.kind == '{' {
				it.start = key.Index
			}
			n.inside = append(n.inside, it)
			return true
		})
	}
	return n.inside
}

// member returns the value of key in the object n, nil if there is none. Of several members with
// one key the last counts, as in JavaScript.
func (n *node) member(key string) *node {
	for _, m := range slices.Backward(n.members()) {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// elements returns the elements of the array n, members the members of the object n; none if n is
// something else.
func (n *node) elements() []item { return n.itemsOf('[') }
func (n *node) members() []item  { return n.itemsOf('{') }

func (n *node) itemsOf(kind byte) []item {
	if n == nil || n.kind != kind {
		return nil
	}
	return n.items()
}

func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

// position returns the line and column of offset at, from 1. Columns are runes.
func (d *document) position(at int) (line, column int) {
	before := bytes.TrimPrefix(d.data[:at], byteOrderMark)
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

func (d *document) fault(at int, format string, args ...any) *SettingsError {
	line, column := d.position(at)
	return &SettingsError{line, column, fmt.Sprintf(format, args...)}
}
