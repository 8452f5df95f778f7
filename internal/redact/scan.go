package redact

import "strings"

const (
	// minWord is the length from which a word is searched for provider tokens.
	// The shortest token has 20 bytes, and few words of prose and code have.
	minWord = 20

	// minBlob is the length from which base64 is data, such as an image. Some
	// token's form occurs by chance in that much, so only its start is
	// searched.
	minBlob = 256
)

// scanner is one pass over a text.
type scanner struct {
	s     string
	spans []span
	last  int  // end of the last word or value found
	lines bool // a rule needs lines that are escaped
	asked bool // whether there are any was asked for the whole text
	jar   int  // end of the last cookies
	kind  int  // the last kind in one line of JSON
	tried int  // end of the last very long value; else a=a=a=... takes for ever
	ahead ahead
}

// ahead is where texts come next from a place on, by the texts. Whoever looks
// for them in all that follows, again and again, takes for ever.
type ahead map[string]struct{ from, at int }

// next returns where text comes next in s[from:], len(s) if it does not. It is
// fast for a from that is not before the last one.
func (c *scanner) next(text string, from int) int {
	is, known := c.ahead[text]
	if !known || from < is.from || from > is.at {
		is.at = len(c.s)
		if n := strings.Index(c.s[from:], text); n >= 0 {
			is.at = from + n
		}
		is.from = from
		if c.ahead == nil {
			c.ahead = make(ahead)
		}
		c.ahead[text] = is
	}
	return is.at
}

// scan returns the parts of s to replace, in no order. more says that line ends
// are escaped, which may hide secrets.
func scan(s string) (spans []span, more bool) {
	c := scanner{s: s}
	c.privateKeys()
	start := 0
	var seen uint8
	for i := 0; i < len(s); i++ {
		if k := class[s[i]]; k != 0 {
			seen |= k
			continue
		}
		if i-start >= minWord {
			c.word(start, i, seen)
		}
		switch s[i] {
		case ':':
			c.colon(i)
		case '=':
			c.equals(i)
		case ' ', '\t':
			if i-start > len("pass") {
				c.blank(i)
			}
			if s[i] == '\t' && i-start >= len("sid") {
				c.jarLine(start, i)
			}
			if i+2 < len(s) && s[i+1] == '-' && strings.IndexByte(flagLetters, s[i+2]) >= 0 {
				c.argument(i + 1)
			}
		case '$':
			c.hash(i)
		case ',':
			c.comma(i)
		case '>':
			c.element(i)
		case '@':
			c.at(i)
		case '\x1b': // a terminal's colour: its letter is not the first of a word
			if i+1 < len(s) && s[i+1] == '[' {
				for i++; i+1 < len(s) && (is(s[i+1], digit) || s[i+1] == ';'); i++ {
				}
				i = min(i+1, len(s)-1)
			}
		case '\\':
			if i+1 < len(s) && escapeLetter(s[i+1]) {
				if s[i+1] == 't' && i-start >= len("sid") {
					c.jarLine(start, i)
				}
				i++
			}
		}
		start, seen = i+1, 0
	}
	if len(s)-start >= minWord {
		c.word(start, len(s), seen)
	}
	return c.spans, c.lines
}

func (c *scanner) found(rule string, start, end int) {
	c.spans = append(c.spans, span{start: start, end: end, rule: rule})
	c.last = max(c.last, end)
}

// word searches s[start:end] for provider tokens; seen has its bytes' classes.
func (c *scanner) word(start, end int, seen uint8) {
	if end-start >= minBlob && (seen&^std64 == 0 || seen&^url64 == 0) {
		c.tokenAt(start)
		return
	}
	for p := start; p < end-1; p++ {
		if !begins(c.s[p], c.s[p+1]) {
			continue
		}
		if e := c.tokenAt(p); e > p {
			p = e - 1
		}
	}
	c.shaped(start, end, seen)
	if seen&plus != 0 {
		c.path(start, end)
	}
	c.bearer(start, end)
}

// tokenAt records the provider token at s[p] and returns its end, or p.
func (c *scanner) tokenAt(p int) int {
	for i := range prefixes[c.s[p]].forms {
		r := &prefixes[c.s[p]].forms[i]
		text := r.texts.begin(c.s[p:])
		if text == "" || r.edge && !c.edge(p) || r.rand && p > 0 && is(c.s[p-1], under|dash) {
			continue
		}
		start, end := r.match(c.s, p, text)
		if end == 0 {
			continue
		}
		c.found(r.rule, start, end)
		switch r.rule {
		case ruleAWSAccessKey:
			c.awsSecretNear(start, end)
		case rulePrivateKey:
			c.wrapped(start, end)
		}
		return end
	}
	return p
}

// edge reports whether a word can begin at s[p]: after an escape (\n, %3D,
// \u0026, the m of a terminal's colour), a finding, or no letter or digit.
func (c *scanner) edge(p int) bool {
	if p == 0 || p == c.last || !is(c.s[p-1], alnum) {
		return true
	}
	s := c.s[max(0, p-6):p]
	n := len(s)
	switch {
	case n >= 2 && s[n-2] == '\\':
		return escapeLetter(s[n-1])
	case n >= 3 && s[n-3] == '%', n >= 4 && s[n-4:n-2] == `\x`, n >= 6 && s[:2] == `\u`:
		return true
	case s[n-1] == 'm':
		return strings.HasSuffix(strings.TrimRight(s[:n-1], "0123456789;"), "[")
	}
	return false
}
