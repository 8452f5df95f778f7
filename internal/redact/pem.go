package redact

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxKeyBlock limits a key block; a PGP key with many user ids has 50 KB.
	maxKeyBlock = 128 << 10
	// pemLine is the length of base64 that is a key's line by itself. Whole
	// lines have 64, 70 or 76 bytes.
	pemLine = 40
)

// privateKeys finds key blocks: PEM (PKCS#1, PKCS#8, SEC 1, OpenSSH), PGP,
// SSH2, PuTTY.
//
// Each line between the first and the last is replaced by itself, so a block
// keeps its lines, in a diff with their signs and in a listing with their
// numbers. Line ends may be \n in a string or blanks in a variable.
func (c *scanner) privateKeys() {
	s := c.s
	for at, last := 0, 0; ; {
		n := strings.Index(s[at:], "PRIVATE KEY")
		if n < 0 {
			break
		}
		at += n
		head := s[max(0, at-40):at]
		from := at + len("PRIVATE KEY")
		from += len(s[from:]) - len(strings.TrimPrefix(s[from:], " BLOCK"))
		from = skipByte(s, from, '-')
		if i := strings.LastIndex(head, "BEGIN "); i >= 0 && strings.HasSuffix(strings.TrimRight(head[:i], " "), "--") {
			c.keyBlock(from)
		} else if i := strings.LastIndex(head, "END "); i >= 0 && strings.HasSuffix(strings.TrimRight(head[:i], " "), "--") {
			c.keyTail(last, at-len(head)+i)
		}
		at, last = from, from
	}
	for at := 0; ; {
		const begin, end = "BEGIN OpenVPN Static key V1-----", "-----END OpenVPN"
		n := strings.Index(s[at:], begin)
		if n < 0 {
			break
		}
		at += n + len(begin)
		if n := strings.Index(s[at:min(len(s), at+maxKeyBlock)], end); n >= 0 {
			c.keyBody(at, at+n, true)
		}
	}
	for at := 0; ; {
		n := strings.Index(s[at:], "Private-Lines: ")
		if n < 0 {
			break
		}
		at += n + len("Private-Lines: ")
		c.keyBody(run(s, at, digit, 4), min(len(s), at+maxKeyBlock), false)
	}
}

func skipByte(s string, i int, b byte) int {
	for i < len(s) && s[i] == b {
		i++
	}
	return i
}

// keyBlock examines the text from s[from], after a key block's first line.
func (c *scanner) keyBlock(from int) {
	s := c.s
	end := min(len(s), from+maxKeyBlock)
	n := strings.Index(s[from:end], "PRIVATE KEY")
	if n < 0 {
		c.keyBody(from, end, false)
		return
	}
	// end is at the block's last line, or at another block.
	end = from + n
	low := max(from, end-40)
	i := strings.LastIndex(s[low:end], "END ")
	if i >= 0 {
		end = low + i
	}
	end = from + len(strings.TrimRight(s[from:end], "- "))
	c.keyBody(from, end, i >= 0)
}

// keyBody records the key in s[from:end]; closed says that a last line follows.
func (c *scanner) keyBody(from, end int, closed bool) {
	s := c.s
	var lines []bodyLine
	longest, alone := 0, true
body:
	for l := range bodyLines(s, from, end) {
		switch {
		case l.escape:
			return // the search without escapes will see it all
		case l.pure && (closed || l.len() >= 16 || s[l.end-1] == '='), l.len() >= pemLine:
			lines = append(lines, l)
			longest = max(longest, l.len())
		case closed:
			alone = false
		default:
			break body
		}
	}
	switch {
	case len(lines) == 0:
		return
	case !closed && lines[0].len() >= 24, !closed && lines[0].end == len(s) && lines[0].len() >= 8:
	case closed && alone && (longest >= 16 || !strings.ContainsAny(strings.TrimSpace(s[from:end]), " \"'`")):
	case closed && longest >= pemLine:
		// Code or a listing around the key.
		lines = slices.DeleteFunc(lines, func(l bodyLine) bool { return l.len() < pemLine })
	default:
		return
	}
	c.foundLines(lines)
}

// keyTail examines the text before a key block's last line at s[to]. The line
// before it that mentions a private key ends at s[from].
func (c *scanner) keyTail(from, to int) {
	from = max(from, c.last, to-maxKeyBlock)
	lines := slices.Collect(bodyLines(c.s, from, to))
	i := len(lines)
	for i > 0 && lines[i-1].pure && (lines[i-1].len() >= pemLine || i == len(lines)) {
		i--
	}
	if lines = lines[i:]; len(lines) > 1 || len(lines) == 1 && lines[0].len() >= pemLine {
		c.foundLines(lines)
	}
}

// wrapped records the lines after s[start:end], the first line of a private key
// block in base64: up to the one that ends the block, or the last whole one.
func (c *scanner) wrapped(start, end int) {
	s := c.s
	if lastOfBase64(s[start:end]) {
		return
	}
	var lines []bodyLine
	for l := range bodyLines(s, end, min(len(s), end+maxKeyBlock)) {
		last := lastOfBase64(s[l.start:l.end])
		if !l.pure || !last && l.len() < pemLine && l.end < len(s) {
			break
		}
		if lines = append(lines, l); last {
			break
		}
	}
	for _, l := range lines {
		c.found("", l.start, l.end)
	}
}

// lastOfBase64 reports whether line can end a PEM block in base64: in padding,
// or in encoded dashes.
func lastOfBase64(line string) bool {
	return endsIn(line, "=", "LS0K", "LQ0K") || len(line) < pemLine && strings.HasSuffix(line, "LS0t")
}

// foundLines records a key's lines; one mark replaces them all.
func (c *scanner) foundLines(lines []bodyLine) {
	rule := rulePrivateKey
	for _, l := range lines {
		c.found(rule, l.start, l.end)
		rule = ""
	}
}

// A bodyLine is the base64 in one line that may belong to a key.
type bodyLine struct {
	start, end int
	pure       bool // the rest of the line is signs, quotes and a number
	escape     bool // not base64 but an escape that may hide some, see [hides]
}

func (l bodyLine) len() int { return l.end - l.start }

// bodyLines splits s[from:to] at line ends, blanks and quotes, also escaped
// ones, and yields the longest run of base64 in each part. It leaves out
// headers (Proc-Type: 4,ENCRYPTED), line numbers and redacted text.
func bodyLines(s string, from, to int) iter.Seq[bodyLine] {
	return func(yield func(bodyLine) bool) {
		for i := from; i < to; {
			switch {
			case s[i] == '\\':
				i = skipByte(s, i, '\\')
				if i < to && (s[i] == 'u' || s[i] == '/') && !yield(bodyLine{start: i, end: i, escape: true}) {
					return
				}
				if i < to && strings.IndexByte("nrt", s[i]) >= 0 {
					i++
				}
				continue
			case strings.IndexByte(betweenLines, s[i]) >= 0, s[i] == '+': // + is a diff's sign here
				i++
				continue
			}
			l, end := bodyLineAt(s, i, to)
			text, body := s[i:end], s[l.start:l.end]
			i = end
			switch {
			case strings.HasPrefix(text, mark), body != "" && strings.Trim(body, "xX") == "":
				// Redacted before, or a manual's XXXX.
			case strings.HasSuffix(text, ":"):
				// A header with its value.
				for i < to && s[i] != '\n' && s[i] != '\\' {
					i++
				}
			case body == "" && !strings.ContainsAny(text, "()[]{}:"):
				// A sign. Any of these bytes would make it code or JSON.
			case body != "" && len(body) <= 6 && strings.Trim(body, "0123456789") == "":
				// A line number.
			default:
				if !yield(l) {
					return
				}
			}
		}
	}
}

// betweenLines are the bytes that end a bodyLine, with the backslash.
const betweenLines = " \t\r\n\"'`,;"

// bodyLineAt returns the bodyLine at s[i] and the end of its source.
func bodyLineAt(s string, i, to int) (l bodyLine, end int) {
	l = bodyLine{start: i, end: i, pure: true}
	for i < to && s[i] != '\\' && strings.IndexByte(betweenLines, s[i]) < 0 {
		e := i
		for e < to && (is(s[e], std64) || s[e] == '=') {
			e++
		}
		switch {
		case e == i:
			r, n := utf8.DecodeRuneInString(s[i:])
			e += n
			l.pure = l.pure && !unicode.IsLetter(r) && strings.IndexByte("%$()[]{}<.", s[i]) < 0
			if r == ':' { // file:12: before the line, as grep prints it
				l = bodyLine{start: e, end: e, pure: true}
			}
		case e-i > l.len():
			l.pure = l.pure && strings.IndexFunc(s[l.start:l.end], isLetter) < 0
			l.start, l.end = i, e
		default:
			l.pure = l.pure && strings.IndexFunc(s[i:e], isLetter) < 0
		}
		i = e
	}
	l.pure = l.pure && l.len() > 0
	return l, i
}

func isLetter(r rune) bool { return isLower(r) || isUpper(r) }
