package scrub

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Learn returns the texts that [Mark] replaced in redacted, each once, and also
// unescaped if they were in JSON. It leaves out those shorter than [MinLength].
// ok is false unless redacted is text with parts replaced.
func Learn(text, redacted []byte) (taken [][]byte, ok bool) {
	pieces, ok := Taken(text, redacted)
	add := func(part []byte) {
		if len(part) < MinLength || bytes.Equal(part, []byte(Mark)) {
			return
		}
		if !slices.ContainsFunc(taken, func(b []byte) bool { return bytes.Equal(b, part) }) {
			taken = append(taken, bytes.Clone(part))
		}
	}
	for _, part := range pieces {
		add(part)
		var plain string
		if bytes.IndexByte(part, '\\') >= 0 && json.Unmarshal(slices.Concat([]byte{'"'}, part, []byte{'"'}), &plain) == nil {
			add([]byte(plain))
		}
	}
	return taken, ok
}

// Taken returns the pieces of text that [Mark] stands for in redacted, in
// order, of any length: an old mark that stayed is one as well. ok is false
// unless redacted is text with parts replaced.
func Taken(text, redacted []byte) (pieces [][]byte, ok bool) {
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
	for _, part := range parts[1:last] {
		i := 0
		if len(part) > 0 {
			// An old mark stands for itself; otherwise something was taken out.
			if after, marked := bytes.CutPrefix(rest, []byte(Mark)); marked && bytes.HasPrefix(after, part) {
				i = len(Mark)
			} else if i = bytes.Index(rest, part); i < 0 {
				return nil, false
			}
		}
		pieces = append(pieces, rest[:i])
		rest = rest[i+len(part):]
	}
	return append(pieces, rest), true
}
