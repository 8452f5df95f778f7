package scrub

import (
	"bytes"
	"encoding/json"
)

// ReplaceJSON is Replace for JSON, as one value or one a line, which stays
// valid. It searches strings, keys included. A number with the secret becomes
// 0. Values that share a secret are all replaced. A line that is not JSON is a
// text.
func (f *Finder) ReplaceJSON(text []byte) []byte {
	if len(f.search(text)) == 0 {
		return text
	}
	if json.Valid(text) {
		return f.value(text)
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
	tokens := scan(text)
	out := make([]byte, 0, len(text))
	end := 0
	for _, t := range tokens {
		out = append(append(out, text[end:t.From]...), f.token(text[t.From:t.To])...)
		end = t.To
	}
	out = append(out, text[end:]...)
	spans := f.Spans(out)
	if len(spans) == 0 {
		return out
	}
	text, out, end = out, nil, 0
	for _, t := range scan(text) {
		if !overlaps(spans, t) {
			continue
		}
		out = append(append(out, text[end:t.From]...), blank(text[t.From:t.To])...)
		end = t.To
	}
	return append(out, text[end:]...)
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
			return []byte(blank(t))
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
func blank(t []byte) string {
	switch t[0] {
	case '"':
		return `"` + Mark + `"`
	case 't', 'f', 'n':
		return "null"
	}
	return "0"
}

// scan returns the strings and scalars of a valid value.
func scan(text []byte) (all []Span) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			from := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
			all = append(all, Span{from, i})
		case c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			from := i
			for i < len(text) && bytes.IndexByte([]byte(",]} \t\r\n"), text[i]) < 0 {
				i++
			}
			all = append(all, Span{from, i})
		default:
			i++
		}
	}
	return all
}
