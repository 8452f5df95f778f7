package redact

import (
	"strings"
	"unicode/utf8"
)

// phones appends where s has telephone numbers: with a country's code (+49 or
// 0049), with a leading 0 and a separator, as in most of Europe, in North
// America's form, and any after a word such as phone. Other numbers don't tell
// themselves from those of lines, dates, prices and hashes.
func phones(s string, spans []span) []span {
	for i := 0; i < len(s); {
		if !is(s[i], digit) {
			i++
			continue
		}
		if i > 0 && s[i-1] == '%' && i+1 < len(s) && is(s[i+1], alnum) {
			i += 2 // %2B
			continue
		}
		n := numberAt(s, i)
		if n.isPhone(s) {
			spans = append(spans, span{start: n.start, end: n.end, rule: rulePhone})
		}
		i = n.end
		for i < len(s) && is(s[i], token) { // the rest of a word
			i++
		}
	}
	return spans
}

// A telno is digits in groups, with separators between.
type telno struct {
	start, end int
	digits     string
	groups     []int // digits of each group
	separators []byte
}

const (
	minPhone = 7
	maxPhone = 15 // digits, E.164
)

// numberAt returns the number whose first digit is s[i].
func numberAt(s string, i int) telno {
	n := telno{start: i}
	var digits [maxPhone + 3]byte
	total := 0
	for {
		end := run(s, i, digit, len(s))
		n.groups = append(n.groups, end-i)
		for ; i < end; i++ {
			if total < len(digits) {
				digits[total] = s[i]
				total++
			}
		}
		n.end = end
		sep, next := separator(s, end)
		if next == end || total == len(digits) {
			break
		}
		n.separators = append(n.separators, sep)
		i = next
	}
	n.digits = string(digits[:total])
	return n
}

// separator returns what is between two groups of digits, and where the second
// begins, or i if none follows.
func separator(s string, i int) (sep byte, next int) {
	next = i
	for n := 0; n < 3 && next < len(s); n++ {
		switch b := s[next]; {
		case strings.IndexByte("-./()", b) >= 0:
			sep = b
			next++
		case b == ' ' && (next == i || s[next-1] != ' '):
			next++
		case strings.HasPrefix(s[next:], "\u00a0"):
			next += len("\u00a0")
		case strings.HasPrefix(s[next:], "\u202f"), strings.HasPrefix(s[next:], "\u2011"):
			next += len("\u202f")
		}
	}
	if next == i || next == len(s) || !is(s[next], digit) {
		return 0, i
	}
	if sep == 0 {
		sep = ' '
	}
	return sep, next
}

// isPhone reports whether a number of s is a telephone's. It widens it by the
// signs that belong to it.
func (n *telno) isPhone(s string) bool {
	if len(n.digits) > maxPhone+2 || !n.ends(s) {
		return false
	}
	before := s[:n.start]
	if open := strings.TrimSuffix(before, "("); len(open) < len(before) {
		before = open
	}
	signed := strings.TrimSuffix(strings.TrimSuffix(before, "+"), "%2B")
	if len(signed) < len(before) && n.international(s, signed) {
		n.start = len(signed)
		if lineBegin(s, n.start, maxLine) == n.start && s[n.start] == '+' {
			n.start++ // which may be a diff's
		}
		return true
	}
	if telling(before) && len(n.digits) >= minPhone && len(n.digits) <= maxPhone {
		n.start = len(before)
		return true
	}
	if !starts(s, len(before)) {
		return false
	}
	if n.prefixed() || n.european(s) || n.american(before == s[:n.start]) {
		n.start = len(before)
		return true
	}
	return false
}

// starts reports whether a number may begin at s[i].
func starts(s string, i int) bool {
	if i == 0 || margin(s, lineBegin(s, i, maxLine)) == i {
		return true
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:i]); inWord(r) || strings.ContainsRune("_-.:/$#%,+", r) {
		return false
	}
	end := strings.TrimRight(s[:i], " \t")
	return len(end) == i || end == "" || !is(end[len(end)-1], digit) // else a column of a table
}

// ends reports whether nothing that belongs to the number follows it.
func (n *telno) ends(s string) bool {
	rest := s[n.end:]
	switch {
	case rest == "":
		return true
	case is(rest[0], token), rest[0] == '%':
		return false
	case len(rest) > 1 && strings.IndexByte(".,:-/+", rest[0]) >= 0:
		return !is(rest[1], token)
	}
	return true
}

// international reports whether the number, after a plus that follows before,
// has a country's code.
func (n *telno) international(s, before string) bool {
	d := n.digits
	if len(d) < 8 || len(d) > maxPhone || d[0] == '0' || d[0] == '1' && (len(d) != 11 || d[1] < '2' || d[4] < '2') {
		return false
	}
	if len(n.groups) == 1 && len(d) < 9 {
		return false
	}
	if before == "" {
		return true
	}
	last := before[len(before)-1]
	if last == '\n' {
		return !inDiff(s, len(before))
	}
	return !is(last, token) && strings.IndexByte("+/)]", last) < 0 || margin(s, lineBegin(s, len(before), maxLine)) == len(before)
}

// inDiff reports whether the line at s[i] has a diff's line before or after it.
func inDiff(s string, i int) bool {
	sign := func(at int) bool {
		return at < len(s) && (s[at] == ' ' || s[at] == '-' || strings.HasPrefix(s[at:], "@@"))
	}
	previous := 0
	if i > 0 {
		previous = lineBegin(s, i-1, maxLine)
	}
	return sign(previous) || sign(lineNext(s, lineStop(s, i, maxLine)))
}

// telling reports whether text ends in a word that announces a number.
func telling(text string) bool {
	text = text[max(0, len(text)-40):]
	end := strings.TrimRight(text, "\"'\\ :=.#>(+")
	if len(text)-len(end) > 6 || len(end) == len(text) {
		return false
	}
	return telephone(end[runBack(end, len(end), token|dash, 32):])
}

// telephone reports whether a name or word is that of a telephone number.
func telephone(name string) bool {
	name = strings.ToLower(name)
	for _, suffix := range []string{"number", "nummer", "no", "nr"} {
		name = strings.TrimRight(strings.TrimSuffix(name, suffix), "_-")
	}
	switch name[strings.LastIndexAny(name, "_-")+1:] {
	case "tel", "fax", "cell", "mobil", "mobile", "handy", "telefon", "telefax", "telephone", "phone", "msisdn", "whatsapp":
		return true
	}
	return strings.HasSuffix(name, "phone") && !strings.HasSuffix(name, "microphone") && !strings.HasSuffix(name, "headphone")
}

// prefixed reports whether the number is 0049 30 123456.
func (n *telno) prefixed() bool {
	if len(n.groups) < 2 || n.groups[0] < len("001") || n.groups[0] > len("00351") || len(n.digits) < 10 {
		return false
	}
	table := n.groups[0] == 4 // of characters: 0069 0307 0300
	for i, sep := range n.separators {
		table = table && n.groups[i+1] == 4
		if sep == '.' || i == 0 && sep == ')' {
			return false
		}
	}
	return !table && strings.HasPrefix(n.digits, "00") && n.digits[2] != '0'
}

// european reports whether the number is 030 1234567 or 01 23 45 67 89.
func (n *telno) european(s string) bool {
	d := n.digits
	if len(d) < 9 || len(d) > 12 || d[0] != '0' || d[1] == '0' || len(n.groups) < 2 || n.groups[0] < 2 || n.groups[0] > 6 {
		return false
	}
	if n.groups[1] == 2 && n.groups[0] == 2 {
		return n.pairs(s)
	}
	for i, sep := range n.separators {
		if n.groups[i+1] < 2 || sep == '.' || sep == '(' || i > 0 && sep != n.separators[len(n.separators)-1] || i > 0 && (sep == '/' || sep == ')') {
			return false
		}
	}
	if len(n.groups) == 2 && n.groups[0] == 5 && n.groups[1] == 4 {
		return false // a ZIP code
	}
	switch d[:n.groups[0]] {
	case "0644", "0755", "0600", "0700", "0777", "0640", "0444", "0555": // a file's mode, and its size
		return n.separators[0] != ' '
	}
	return true
}

// pairs reports whether the number is 01 23 45 67 89, and no dump of bytes.
func (n *telno) pairs(s string) bool {
	if len(n.groups) != 5 || len(n.digits) != 10 {
		return false
	}
	for _, sep := range n.separators {
		if sep != n.separators[0] || sep == '/' || sep == '(' || sep == ')' {
			return false
		}
	}
	before, after := strings.TrimRight(s[:n.start], " "), strings.TrimLeft(s[n.end:], " ")
	return runBack(before, len(before), hex|upper, 3) != len(before)-2 && run(after, 0, hex|upper, 3) != 2
}

// american reports whether the number is 212-555-0142; plain says that no
// parenthesis comes before it.
func (n *telno) american(plain bool) bool {
	d, groups, separators := n.digits, n.groups, n.separators
	if len(d) == 11 && d[0] == '1' && groups[0] == 1 {
		d, groups, separators = d[1:], groups[1:], separators[1:]
	}
	if len(d) != 10 || len(groups) != 3 || groups[0] != 3 || groups[1] != 3 || d[0] < '2' || d[3] < '2' {
		return false
	}
	if separators[0] == ')' {
		return !plain || len(n.digits) == 11
	}
	return plain && separators[0] == separators[1] && (separators[0] == '-' || separators[0] == '.')
}
