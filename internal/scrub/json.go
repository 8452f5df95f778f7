package scrub

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// ReplaceJSON is Replace for JSON, as one value or one a line, which stays
// valid. It searches strings, keys included. A number with the secret becomes
// 0. Values that share a secret are all replaced. A line that is not JSON is a
// text.
func (f *Finder) ReplaceJSON(text []byte) []byte {
	if f.Empty() {
		return text
	}
	if end := bytes.IndexByte(text, '\n') + 1; end == 0 || end == len(text) || json.Valid(text) {
		if len(f.search(text)) == 0 {
			return text
		}
		if json.Valid(text) {
			return f.value(text)
		}
	}
	has := false // what stands in several lines is not JSON, and stays
	for line := range bytes.Lines(text) {
		has = has || len(f.search(line)) > 0
	}
	if !has {
		return text
	}
	var out []byte
	for line := range bytes.Lines(text) {
		if json.Valid(line) {
			line = f.value(line)
		} else {
			line = f.Replace(line)
		}
		out = append(out, line...)
	}
	return out
}

func (f *Finder) value(text []byte) []byte {
	return f.ReplaceRecord(text, func(Token, []byte) bool { return false })
}

// ReplaceRecord is [Finder.ReplaceJSON] for one valid value, of which the tokens
// stay that are no text.
func (f *Finder) ReplaceRecord(text []byte, stays func(t Token, text []byte) bool) []byte {
	out := replaceTokens(text, func(t Token, old []byte) []byte {
		if stays(t, old) {
			return old
		}
		return f.token(old)
	})
	spans := f.Spans(out)
	if len(spans) == 0 {
		return out
	}
	return replaceTokens(out, func(t Token, old []byte) []byte {
		if overlaps(spans, t.Span) && !stays(t, old) {
			return blank(old)
		}
		return old
	})
}

func overlaps(spans []Span, t Span) bool {
	for _, s := range spans {
		if s.From < t.To && t.From < s.To {
			return true
		}
	}
	return false
}

// token returns a string or number without the secret.
func (f *Finder) token(t []byte) []byte {
	if t[0] != '"' {
		if len(f.Spans(t)) > 0 {
			return blank(t)
		}
		return t
	}
	inside := t[1 : len(t)-1]
	v, ok := layers[0].decode(inside)
	if !ok {
		v = new(view)
		v.copy(inside, 0, len(inside))
	}
	var spans []hit
	for _, s := range f.Spans(v.text) {
		spans = append(spans, hit{Span: v.source(s)})
	}
	return append(append([]byte{'"'}, replace(inside, join(spans))...), '"')
}

// blank returns the replacement of a whole token.
func blank(t []byte) []byte {
	switch t[0] {
	case '"':
		return []byte(`"` + Mark + `"`)
	case 't', 'f', 'n':
		return []byte("null")
	}
	return []byte("0")
}

// Unquoted returns a segment without purged prompts that the client notes
// beside the conversation once the next turn begins.
func Unquoted(segment []byte, isPrompt func(string) bool) []byte {
	const repeats = "lastPrompt"
	if !bytes.Contains(segment, []byte(repeats)) {
		return segment
	}
	var out []byte
	for line := range bytes.Lines(segment) {
		if bytes.Contains(line, []byte(repeats)) {
			line = Unprompted(line, isPrompt, repeats)
		}
		out = append(out, line...)
	}
	return out
}

// Unprompted returns JSON with marks for the prompts in members of the given
// names, and anything else as it is.
func Unprompted(text []byte, isPrompt func(string) bool, names ...string) []byte {
	if !json.Valid(text) {
		return text
	}
	return replaceTokens(text, func(t Token, old []byte) []byte {
		var s string
		if t.Kind == '"' && slices.Contains(names, t.Key()) && json.Unmarshal(old, &s) == nil && isPrompt(s) {
			return blank(old)
		}
		return old
	})
}

func replaceTokens(text []byte, with func(t Token, old []byte) []byte) []byte {
	out := make([]byte, 0, len(text))
	end := 0
	Tokens(text, func(t Token) {
		out = append(append(out, text[end:t.From]...), with(t, text[t.From:t.To])...)
		end = t.To
	})
	return append(out, text[end:]...)
}

// A Token is a scalar of a JSON text, or the name of a member.
type Token struct {
	Span          // with the quotes of a string
	Kind byte     // 'n' for a name, '"' for a string, '0' for anything else
	Path [][]byte // the names that lead to it, as written; those of a name end with itself
}

// Name returns the path in lower case, as names in records have no case.
func (t Token) Name() string { return strings.ToLower(string(bytes.Join(t.Path, []byte(".")))) }

// Key returns the name that the token has or is.
func (t Token) Key() string {
	if len(t.Path) == 0 {
		return ""
	}
	return string(t.Path[len(t.Path)-1])
}

// Tokens yields the tokens of valid JSON in order. f must not keep paths.
func Tokens(text []byte, f func(t Token)) {
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
				f(Token{Span{i, end}, 'n', path})
			} else {
				f(Token{Span{i, end}, '"', path})
			}
			name, i = false, end
		default:
			end := i
			for end < len(text) && !strings.ContainsRune(" \t\r\n,]}", rune(text[end])) {
				end++
			}
			f(Token{Span{i, end}, '0', path})
			i = end
		}
	}
}
