package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
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
	items      []item // of an object or array
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
	skip := 0
	if bytes.HasPrefix(data, byteOrderMark) {
		skip = len(byteOrderMark)
	}
	err := json.Unmarshal(data[skip:], new(json.RawMessage))
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at := skip + int(syntax.Offset) - 1 // the offset is after the byte at fault
		return nil, d.fault(max(at, 0), "not strict JSON: %v", syntax)
	}
	if err != nil {
		return nil, err
	}
	r := &reader{data: data, pos: skip, skip: skip, dec: json.NewDecoder(bytes.NewReader(data[skip:]))}
	r.dec.UseNumber() // 1e999 is JSON
	if d.root, err = r.value(); err != nil {
		return nil, err
	}
	if d.root.kind != '{' {
		return nil, d.fault(d.root.start, "the settings are %s, want an object", kindOf(d.root.kind))
	}
	return d, nil
}

// A reader builds nodes from valid JSON. encoding/json says where a token ends; the next one starts
// after the white space and punctuation that follow.
type reader struct {
	data []byte
	skip int // bytes before what dec reads
	pos  int // end of the last token
	dec  *json.Decoder
}

func (r *reader) token() (json.Token, int, error) {
	start := r.pos
	for start < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[start]) >= 0 {
		start++
	}
	tok, err := r.dec.Token()
	r.pos = r.skip + int(r.dec.InputOffset())
	return tok, start, err
}

func (r *reader) value() (*node, error) {
	tok, start, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{start: start, kind: r.data[start]}
	n.text, _ = tok.(string)
	if n.kind == '{' || n.kind == '[' {
		for r.dec.More() {
			var it item
			if n.kind == '{' {
				key, at, err := r.token()
				if err != nil {
					return nil, err
				}
				it.key, _ = key.(string)
				it.start = at
			}
			if it.value, err = r.value(); err != nil {
				return nil, err
			}
			if n.kind == '[' {
				it.start = it.value.start
			}
			n.items = append(n.items, it)
		}
		if _, _, err := r.token(); err != nil {
			return nil, err
		}
	}
	n.end = r.pos
	return n, nil
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

// elements returns the elements of the array n, none if it is not an array.
func (n *node) elements() []item {
	if n == nil || n.kind != '[' {
		return nil
	}
	return n.items
}

// members returns the members of the object n, none if it is not an object.
func (n *node) members() []item {
	if n == nil || n.kind != '{' {
		return nil
	}
	return n.items
}

// isTrue reports whether n exists and is true.
func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

// position returns the line and column of offset at, from 1. Columns are runes.
func (d *document) position(at int) (line, column int) {
	before := bytes.TrimPrefix(d.data[:at], byteOrderMark)
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// fault returns an error about offset at.
func (d *document) fault(at int, format string, args ...any) *SettingsError {
	line, column := d.position(at)
	return &SettingsError{line, column, fmt.Sprintf(format, args...)}
}
