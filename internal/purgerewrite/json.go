package purgerewrite

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"gitagent/internal/scrub"
)

// A token is a scalar of a JSON text, or the name of a member.
type token struct {
	from, to int      // with the quotes of a string
	kind     byte     // 'n' for a name, '"' for a string, '0' for anything else
	path     [][]byte // the names that lead to it, as written; those of a name end with itself
}

// name returns the path in lower case, as names in records have no case.
func (t token) name() string { return strings.ToLower(string(bytes.Join(t.path, []byte(".")))) }

// key returns the name that the token has or is.
func (t token) key() string {
	if len(t.path) == 0 {
		return ""
	}
	return string(t.path[len(t.path)-1])
}

// tokens yields the tokens of valid JSON in order. f must not keep paths.
func tokens(text []byte, f func(t token)) {
	var path [][]byte
	var objects []bool // for each level, whether it is an object
	name := false      // a name comes next
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n', ':':
			i++
		case ',':
			name = len(objects) > 0 && objects[len(objects)-1]
			i++
		case '{':
			objects, path, name = append(objects, true), append(path, nil), true
			i++
		case '[':
			objects, name = append(objects, false), false
			i++
		case '}', ']':
			if objects = objects[:len(objects)-1]; c == '}' {
				path = path[:len(path)-1]
			}
			name = false
			i++
		case '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end++
			if name {
				path[len(path)-1] = text[i+1 : end-1]
				f(token{i, end, 'n', path})
			} else {
				f(token{i, end, '"', path})
			}
			name, i = false, end
		default:
			end := i
			for end < len(text) && !strings.ContainsRune(" \t\r\n,]}", rune(text[end])) {
				end++
			}
			f(token{i, end, '0', path})
			i = end
		}
	}
}

// An edit replaces a part of a text.
type edit struct {
	from, to int
	with     string
}

// apply returns a text with edits, which don't overlap, in any order.
func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	out := make([]byte, 0, len(text)+len(edits)*len(scrub.Mark))
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// A touched tells whether ordered spans overlap parts of a text, in order.
type touched struct{ spans []scrub.Span }

func (t *touched) is(from, to int) bool {
	for len(t.spans) > 0 && t.spans[0].To <= from {
		t.spans = t.spans[1:]
	}
	return len(t.spans) > 0 && t.spans[0].From < to
}
