package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxNesting limits the nesting of JSON as encoding/json does; deeper is text.
const maxNesting = 10000

var (
	errInvalid = errors.New("not valid JSON any more")
	errEndless = errors.New("what a pattern leaves matches again and again")
)

// JSONLines redacts a segment of a transcript, one JSON value per line. It
// replaces every secret as [Rules.String] does, and returns segment itself if there
// is none. It never changes segment.
//
// JSONLines decodes strings, knows their keys, and changes only the secrets:
// all other bytes stay, and a line of valid JSON stays valid. If one would not,
// it returns only an error with the line's number, and the segment must not be
// stored. Adjacent lines that are not JSON, such as torn ones, are redacted
// together as text. Lines may have any length.
//
// A user's own rules leave alone what holds a conversation together, by of,
// and what they find in another number makes it 0.
func (r *Rules) JSONLines(segment []byte, of Structure) ([]byte, error) {
	own, err := r.compiled()
	if err != nil {
		return nil, err
	}
	for range maxRounds {
		out, again, err := r.redactLines(segment, of, own)
		if err != nil {
			return nil, err
		}
		segment = out
		if !again {
			return segment, nil
		}
	}
	if own != nil {
		return nil, errEndless
	}
	return segment, nil
}

// redactLines redacts each line of JSON and the texts between them. again
// reports that a text changed: a line in it may be JSON in the next round.
func (r *Rules) redactLines(segment []byte, of Structure, own *own) (out []byte, again bool, err error) {
	done := 0 // segment[:done] is done, and in out unless out is nil
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
		redacted, ok, err := redactLine(view(segment[at:end]), of, own)
		if err != nil {
			return nil, false, fmt.Errorf("redact line %d: %w", n, err)
		}
		if ok {
			again = add(at, r.String(view(segment[done:at]))) || again // the text before this line
			add(end, redacted)
		}
		at = end + 1
	}
	again = add(len(segment), r.String(view(segment[done:]))) || again
	if out == nil {
		out = segment
	}
	return out, again, nil
}

// redactLine redacts one line; ok is false if it is not JSON. A line without
// secrets may be what only json.Valid refuses, with a bad escape in a string.
func redactLine(line string, of Structure, own *own) (redacted string, ok bool, err error) {
	redacted = line
	for round := range maxRounds {
		w := walker{own: own, part: of, last: own != nil && round == maxRounds-1}
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

type walker struct {
	line  string
	spans []span
	stack []frame
	ahead ahead // in line
	own   *own
	part  Structure // asked if there are own rules
	last  bool      // texts in which anything is still found go as a whole
}

// frame is an array or object around the walker's position.
type frame struct {
	array bool
	holds bool   // it is a [Frame] or [Structural], and so are those around it, if there are own rules
	key   string // the key of an object's next value, or of the array itself
	label string // object: the value of "name" or "key", for {"name":"API_KEY","value":"..."}
	last  string // an array's previous element
	parts []part // an array's strings
}

// part is one string of a line.
type part struct {
	start int    // its offset in the line
	raw   string // with its escapes
	text  string // without them
}

// Tokens that the walker expects next.
const (
	wantValue = iota
	wantFirst // a value or the end of an array
	wantKey
	wantFirstKey // a key or the end of an object
	wantColon
	wantComma // a comma or the end of what it is in
	wantEnd
)

// walk collects the secrets of line in w.spans. It reports false if line is not
// JSON, checking no more than it needs to find the strings.
func (w *walker) walk(line string) bool {
	w.line = line
	want := wantValue
	i := 0
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
			f := frame{array: b == '[', holds: w.own != nil && (top == nil || top.holds && (top.array || w.part(top.key) != Content))}
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
			w.lines(top.parts, w.ownIn(top))
			w.stack = w.stack[:len(w.stack)-1]
			want = after()
			i++
		case (want == wantValue || want == wantFirst) && (is(b, alnum) || b == '-'):
			end := run(line, i, alnum|dash|plus|dot, len(line))
			if !literal(line[i:end]) {
				return false
			}
			if top != nil && !top.holds {
				w.number(top.key, i, end)
			}
			i = end
			want = after()
		default:
			return false
		}
	}
}

// literal reports whether s is true, false, null or, by its bytes, a number.
func literal(s string) bool {
	return s == "true" || s == "false" || s == "null" || strings.Trim(s, "0123456789+-.eE") == "" && is(s[0], digit|dash)
}

// minValue is the length of the shortest string that can hold a secret.
const minValue = 8

// key examines the key line[start:end], a secret in a map from tokens to users.
func (w *walker) key(start, end int) {
	raw := w.line[start:end]
	var spans []span
	if len(raw) >= minWord {
		spans = find(raw, 0)
	}
	if !w.stack[len(w.stack)-1].holds {
		spans = append(spans, w.own.find(raw, 0)...)
	}
	w.add(part{start, raw, raw}, spans)
}

// number examines the literal line[start:end], the value of a name, by a user's
// own rules.
func (w *walker) number(name string, start, end int) {
	text := w.line[start:end]
	if w.own != nil && is(text[len(text)-1], digit) && text != "0" && len(w.own.find(text, 0))+len(w.own.called(name, text)) > 0 {
		w.spans = append(w.spans, span{start: start, end: end, number: true})
	}
}

func (w *walker) value(start, end int) {
	p := part{start: start, raw: w.line[start:end]}
	p.text = p.raw
	if strings.IndexByte(p.raw, '\\') >= 0 {
		p.text = unescape(p.raw)
	}
	name, array, own := "", false, w.own
	if len(w.stack) > 0 {
		f := &w.stack[len(w.stack)-1]
		name, array = f.nameFor(p.text), f.array
		if !strings.ContainsAny(p.text, " \t\n") {
			own = w.ownIn(f) // a sentence holds nothing together
		}
		if array {
			f.parts = append(f.parts, p)
		} else {
			w.member(f.key, start, p.text)
		}
	}
	if !array {
		w.add(p, own.find(p.text, 0))
	}
	w.add(p, own.called(name, p.text))
	if len(p.raw) < minValue {
		return
	}
	if !array {
		w.add(p, find(p.text, 0))
	}
	switch k := nameKind(name); k {
	case plain:
	case cookie:
		w.add(p, sessionCookies(p.text))
	default:
		if s, e, rule := credential(k, name, p.text, value{quoted: true}); rule != "" {
			w.add(p, []span{{start: s, end: e, rule: rule}})
		}
	}
}

// ownIn returns the user's own rules for the texts of f, nil if these stay.
func (w *walker) ownIn(f *frame) *own {
	if f.holds && w.part(f.key) == Structural {
		return nil
	}
	return w.own
}

// member examines text, the string at line[start] and value of key, for what
// makes it, or other members of its object, secrets.
func (w *walker) member(key string, start int, text string) {
	c := scanner{s: w.line, ahead: w.ahead}
	switch key {
	case "kind":
		if text == "Secret" {
			c.compactManifest(start)
		}
	case "d", "p", "q", "dp", "dq", "qi", "k":
		c.jwk(start - len(`:"`))
	}
	w.spans, w.ahead = append(w.spans, c.spans...), c.ahead
}

// lines examines an array's strings as one text: transcripts keep patches so.
func (w *walker) lines(parts []part, own *own) {
	if len(parts) == 1 {
		w.add(parts[0], own.all(parts[0].text))
	}
	if len(parts) < 2 {
		return
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
		b.WriteByte('\n')
	}
	spans := own.all(b.String()) // in order
	at := 0
	for _, p := range parts {
		for len(spans) > 0 && spans[0].end <= at {
			spans = spans[1:]
		}
		var here []span
		for _, sp := range spans {
			if sp.start >= at+len(p.text) {
				break
			}
			if start, end := max(sp.start-at, 0), min(sp.end-at, len(p.text)); start < end {
				here = append(here, span{start: start, end: end, rule: sp.rule})
			}
		}
		w.add(p, here)
		at += len(p.text) + 1
	}
}

// nameFor returns the name for text, the next string in f, and remembers text.
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

// add records spans of p.text.
func (w *walker) add(p part, spans []span) {
	if !same(p.text, p.raw) {
		spans = origin(p.raw, merge(spans))
	}
	if w.last && len(spans) > 0 {
		spans = []span{{end: len(p.raw), rule: spans[0].rule}}
	}
	for _, sp := range spans {
		w.spans = append(w.spans, span{start: p.start + sp.start, end: p.start + sp.end, rule: sp.rule})
	}
}
