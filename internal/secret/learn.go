package secret

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Learn returns what was taken out of a text, each once: one after the other is now [Mark] in redacted.
// ok is false unless redacted is the text with parts replaced in this way. What was in a string of JSON
// is given as it reads there, too. Parts shorter than [MinLength] are left out.
func Learn(text, redacted []byte) (taken [][]byte, ok bool) {
	parts := bytes.Split(redacted, []byte(Mark))
	rest, ok := bytes.CutPrefix(text, parts[0])
	if !ok {
		return nil, false
	}
	last := len(parts) - 1
	if last == 0 {
		return nil, len(rest) == 0
	}
	if rest, ok = bytes.CutSuffix(rest, parts[last]); !ok {
		return nil, false
	}
	add := func(part []byte) {
		if len(part) < MinLength || bytes.Equal(part, []byte(Mark)) {
			return
		}
		if !slices.ContainsFunc(taken, func(b []byte) bool { return bytes.Equal(b, part) }) {
			taken = append(taken, bytes.Clone(part))
		}
	}
	take := func(part []byte) {
		add(part)
		var plain string
		if bytes.IndexByte(part, '\\') >= 0 && json.Unmarshal(slices.Concat([]byte{'"'}, part, []byte{'"'}), &plain) == nil {
			add([]byte(plain))
		}
	}
	for _, part := range parts[1:last] {
		i := 0
		if len(part) > 0 {
			// A mark that was there before stands for itself, else something was taken out.
			if after, marked := bytes.CutPrefix(rest, []byte(Mark)); marked && bytes.HasPrefix(after, part) {
				i = len(Mark)
			} else if i = bytes.Index(rest, part); i < 0 {
				return nil, false
			}
		}
		take(rest[:i])
		rest = rest[i+len(part):]
	}
	take(rest)
	return taken, true
}
