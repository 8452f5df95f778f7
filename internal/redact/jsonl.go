package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxNesting is how deeply a line's arrays and objects may be nested before it counts as text;
// encoding/json has the same limit.
const maxNesting = 10000

var errInvalid = errors.New("not valid JSON any more")

// JSONLines returns a segment of a transcript, one JSON value per line, with every secret in it
// replaced as in [String]. If there is none, it returns segment itself, which it never changes.
//
// It looks into the strings, whatever their escapes, knows the key of each string, and changes only
// the secrets: every other byte stays, and a line of valid JSON stays valid. If one does not, the
// error says which and nothing is returned: store no such segment. Anything that is not JSON, a
// torn or foreign line, is redacted as text, adjacent lines together. A line may have any length.
func JSONLines(segment []byte) ([]byte, error) {
	for range maxRounds {
		out, again, err := redactLines(segment)
		if err != nil {
			return nil, err
		}
		segment = out
		if !again {
			break
		}
	}
	return segment, nil
}

// redactLines redacts every line of JSON and every text between such lines. It reports again if it
// changed a text: a remaining line of it may be JSON now, and then the next round splits the text
// elsewhere.
func redactLines(segment []byte) (out []byte, again bool, err error) {
	done := 0 // segment[:done] is done; out has it, if out is not nil
	add := func(to int, redacted string) (changed bool) {
		changed = !same(redacted, view(segment[done:to]))
		if out == nil && changed {
			out = append(make([]byte, 0, len(segment)), segment[:done]...)
		}
		if out != nil {
			out = append(out, redacted...)
		}
		done = to
		return changed
	}
	for at, n := 0, 1; at < len(segment); n++ {
		end := len(segment)
		if i := bytes.IndexByte(segment[at:], '\n'); i >= 0 {
			end = at + i
		}
		redacted, ok, err := redactLine(view(segment[at:end]))
		if err != nil {
			return nil, false, fmt.Errorf("redact line %d: %w", n, err)
		}
		if ok {
			again = add(at, String(view(segment[done:at]))) || again // the text before this line, with its last line end
			add(end, redacted)
		}
		at = end + 1
	}
	again = add(len(segment), String(view(segment[done:]))) || again
	if out == nil {
		out = segment
	}
	return out, again, nil
}

// redactLine redacts one line. ok is false if the line is not JSON. A line without secrets that
// only json.Valid would refuse (a bad escape in a string, say) counts as JSON.
func redactLine(line string) (redacted string, ok bool, err error) {
	redacted = line
	for range maxRounds {
		var w walker
		if !w.walk(redacted) {
			return line, false, nil
		}
		if len(w.spans) == 0 {
			break
		}
		redacted = replace(redacted, merge(w.spans))
	}
	if same(redacted, line) {
		return line, true, nil
	}
	if !json.Valid([]byte(line)) {
		return line, false, nil
	}
	if !json.Valid([]byte(redacted)) {
		return "", false, errInvalid
	}
	return redacted, true, nil
}

// walker visits the strings of one line of JSON.
type walker struct {
	line  string
	spans []span
	stack []frame
}

// frame is an array or object that the walker is in.
type frame struct {
	array bool
	key   string // object: the key of the next value; array: the key of the array
	label string // object: the value of "name" or "key", for {"name":"API_KEY","value":"..."}
	last  string // array: the previous element
	block int    // array: 1 if a private key began in an earlier element, 2 if some of it was seen
}

// What the walker expects next.
const (
	wantValue = iota
	wantFirst // a value or the end of an array
	wantKey
	wantFirstKey // a key or the end of an object
	wantColon
	wantComma // a comma or the end of what it is in
	wantEnd
)

// walk collects the secrets of line in w.spans. It reports false if line is not JSON, judged only
// as far as needed to find its strings.
func (w *walker) walk(line string) bool {
	w.line = line
	want := wantValue
	i := 0
	// after returns what follows a value.
	after := func() int {
		if len(w.stack) == 0 {
			return wantEnd
		}
		return wantComma
	}
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
			i++
		}
		if i == len(line) {
			return want == wantEnd
		}
		var top *frame
		if len(w.stack) > 0 {
			top = &w.stack[len(w.stack)-1]
		}
		switch b := line[i]; {
		case b == '"':
			n := closing(line[i+1:], '"', 0)
			if n < 0 {
				return false
			}
			end := i + 1 + n
			switch want {
			case wantValue, wantFirst:
				w.value(i+1, end)
				want = after()
			case wantKey, wantFirstKey:
				w.key(i+1, end)
				top.key = line[i+1 : end]
				want = wantColon
			default:
				return false
			}
			i = end + 1
		case b == ':' && want == wantColon:
			want = wantValue
			i++
		case b == ',' && want == wantComma:
			want = wantKey
			if top.array {
				want = wantValue
			}
			i++
		case (b == '{' || b == '[') && (want == wantValue || want == wantFirst):
			if len(w.stack) == maxNesting {
				return false
			}
			f := frame{array: b == '['}
			if f.array && top != nil {
				f.key = top.key
			}
			w.stack = append(w.stack, f)
			want = wantFirstKey
			if f.array {
				want = wantFirst
			}
			i++
		case b == ']' && top != nil && top.array && (want == wantComma || want == wantFirst),
			b == '}' && top != nil && !top.array && (want == wantComma || want == wantFirstKey):
			w.stack = w.stack[:len(w.stack)-1]
			want = after()
			i++
		case (want == wantValue || want == wantFirst) && (is(b, alnum) || b == '-'):
			end := run(line, i, alnum|dash|plus|dot, len(line))
			if !literal(line[i:end]) {
				return false
			}
			i = end
			want = after()
		default:
			return false
		}
	}
}

// literal reports whether s is true, false, null or, judging by its bytes, a number.
func literal(s string) bool {
	return s == "true" || s == "false" || s == "null" || strings.Trim(s, "0123456789+-.eE") == "" && is(s[0], digit|dash)
}

// minValue is the length of the shortest string that can contain a secret.
const minValue = 8

// key examines the key line[start:end]. Keys are names, but in a map from tokens to users they are
// secrets.
func (w *walker) key(start, end int) {
	if end-start >= minWord {
		w.add(start, find(w.line[start:end], 0))
	}
}

// value examines the string line[start:end].
func (w *walker) value(start, end int) {
	raw := w.line[start:end]
	text := raw
	escaped := strings.IndexByte(raw, '\\') >= 0
	if escaped {
		text = unescape(raw)
	}
	name := ""
	var spans []span
	if len(w.stack) > 0 {
		f := &w.stack[len(w.stack)-1]
		name = f.nameFor(text)
		spans = f.keyLine(text)
	}
	if len(raw) >= minValue {
		spans = append(spans, find(text, 0)...)
		if k := nameKind(name); k != plain {
			if s, e, rule := credential(k, name, text, value{quoted: true}); rule != "" {
				spans = append(spans, span{s, e, rule})
			}
		}
	}
	spans = merge(spans)
	if escaped {
		spans = origin(raw, spans)
	}
	w.add(start, spans)
}

// nameFor returns the name of text, the next string in f, and remembers what text says about the
// strings after it.
func (f *frame) nameFor(text string) string {
	name := f.key
	if f.array {
		if strings.HasPrefix(f.last, "-") { // ["--token","..."]
			name = f.last
		}
		f.last = text
		return name
	}
	switch f.key {
	case "name", "Name", "key", "Key":
		f.label = text
	case "value", "Value":
		name = cmp.Or(f.label, name)
	}
	return name
}

// keyLine returns the parts of text, the next string of f, that are a line of a private key begun
// in an earlier string: transcripts keep a file's lines in arrays.
func (f *frame) keyLine(text string) []span {
	if !f.array {
		return nil
	}
	if strings.Contains(text, "PRIVATE KEY") {
		f.block = 0
		if strings.Contains(text, "BEGIN ") && !strings.Contains(text, "END ") {
			f.block = 1
		}
		return nil
	}
	if f.block == 0 {
		return nil
	}
	var spans []span
	for l := range bodyLines(text, 0, len(text)) {
		if !l.pure || l.len() < 16 && f.block == 1 {
			f.block = 0
			return nil
		}
		f.block = 2
		spans = append(spans, span{l.start, l.end, rulePrivateKey})
	}
	return spans
}

// add records spans of the string that begins at line[start].
func (w *walker) add(start int, spans []span) {
	for _, sp := range spans {
		w.spans = append(w.spans, span{start + sp.start, start + sp.end, sp.rule})
	}
}
