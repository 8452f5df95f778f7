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

// A SettingsError reports settings that a client rejects or that fit no hooks.
type SettingsError struct {
	Line, Column int // of the fault, from 1; columns are runes
	Text         string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text)
}

type document struct {
	data []byte
	root *node
}

// A node is a value, with data[start:end] as its text.
type node struct {
	start, end int
	kind       byte   // the first byte of its text
	text       string // the decoded string
	json       gjson.Result
	inside     []item // see items
}

// An item is a member of an object or an element of an array.
type item struct {
	key   string // "" in an array
	start int    // of the key or, in an array, the value
	value *node
}

var byteOrderMark = []byte("\ufeff")

// blank reports whether the settings are empty, as in a new file.
func blank(settings []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(settings, byteOrderMark))) == 0
}

// parse reads settings. They must strictly be one JSON object, perhaps after a
// byte order mark: for a comment or a trailing comma the client drops the file.
func parse(data []byte) (*document, error) {
	d := &document{data: data}
	skip := len(data) - len(bytes.TrimPrefix(data, byteOrderMark))
	var syntax *json.SyntaxError // the only possible error
	if errors.As(json.Unmarshal(data[skip:], new(json.RawMessage)), &syntax) {
		at := skip + int(syntax.Offset) - 1 // the offset is after the fault
		return nil, d.fault(max(at, 0), "not strict JSON: %v", syntax)
	}
	root := gjson.ParseBytes(bytes.TrimRight(data[skip:], " \t\r\n")) // trailing blanks would become part of the root
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

// decoded returns a string's content as encoding/json does, or "".
func decoded(v gjson.Result) (text string) {
	if v.Type == gjson.String {
		_ = json.Unmarshal([]byte(v.Raw), &text) // it is valid
	}
	return text
}

// items returns the items of an object or array, which it parses once.
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

// member returns n's last value of key, which counts in JavaScript, or nil.
func (n *node) member(key string) *node {
	for _, m := range slices.Backward(n.members()) {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// elements and members return the items of an array or object, or else nil.
func (n *node) elements() []item { return n.itemsOf('[') }
func (n *node) members() []item  { return n.itemsOf('{') }

func (n *node) itemsOf(kind byte) []item {
	if n == nil || n.kind != kind {
		return nil
	}
	return n.items()
}

func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

// position returns the line and column of offset at, from 1, in runes.
func (d *document) position(at int) (line, column int) {
	before := bytes.TrimPrefix(d.data[:at], byteOrderMark)
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

func (d *document) fault(at int, format string, args ...any) *SettingsError {
	line, column := d.position(at)
	return &SettingsError{line, column, fmt.Sprintf(format, args...)}
}
