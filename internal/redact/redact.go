package redact

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"
)

// maxRounds bounds how often a text is searched. Replacing a secret can expose
// what it hid, so the last search must find nothing; mostly it is the second.
const maxRounds = 16

// mark begins every replacement. See [Count].
const mark = "[redacted:"

// String returns s with every secret replaced by [redacted:<rule>], or s itself
// if there is none. String returns its own results unchanged.
func (r *Rules) String(s string) string {
	own, err := r.compiled()
	if err != nil && s != "" {
		return mark + ruleUnchecked + "]"
	}
	for range maxRounds {
		spans := own.all(s)
		if len(spans) == 0 {
			return s
		}
		s = replace(s, spans)
	}
	if spans := own.find(s, 0); len(spans) > 0 {
		return mark + spans[0].rule + "]" // a pattern of which each match makes another
	}
	return s
}

// Bytes is [Rules.String] for bytes. It never changes b.
func (r *Rules) Bytes(b []byte) []byte {
	s := view(b)
	if out := r.String(s); !same(out, s) {
		return []byte(out)
	}
	return b
}

// Count returns how often each rule's mark is in text. It includes marks that
// were there before the text was redacted: subtract their number.
func Count(text []byte) map[string]int {
	var counts map[string]int
	for s := view(text); ; {
		_, after, ok := strings.Cut(s, mark)
		if !ok {
			return counts
		}
		s = after
		if rule, _, ok := strings.Cut(s[:min(len(s), 40)], "]"); ok {
			if counts == nil {
				counts = make(map[string]int)
			}
			counts[strings.Clone(rule)]++
		}
	}
}

// A span is a part of a text that a mark replaces.
type span struct {
	start, end int
	rule       string // "" removes the part without a mark
	number     bool   // it becomes 0
}

// replace replaces each span of s by its mark. The spans come from [merge].
func replace(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		if sp.number {
			b.WriteByte('0')
		} else if sp.rule != "" {
			b.WriteString(mark)
			b.WriteString(sp.rule)
			b.WriteByte(']')
		}
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// merge sorts spans and joins those that overlap; [tells] picks the rule.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	out := spans[:1]
	for _, sp := range spans[1:] {
		last := &out[len(out)-1]
		if sp.start >= last.end {
			out = append(out, sp)
			continue
		}
		last.end = max(last.end, sp.end)
		if tells(sp.rule) > tells(last.rule) {
			last.rule = sp.rule
		}
	}
	return out
}

// tells ranks a rule: it names nothing, a secret's place, or its kind.
func tells(rule string) int {
	switch rule {
	case "":
		return 0
	case rulePassword, ruleSecret, ruleAuthorization:
		return 1
	case ruleURLPassword, ruleCookie:
		return 2
	}
	return 3
}

// view returns b as a string without a copy. This package never writes to b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// same reports whether a and b are the same string in memory.
func same(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
}
