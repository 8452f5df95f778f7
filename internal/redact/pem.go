package redact

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxKeyBlock bounds the search for a key block's last line; a PGP key with many user ids has 50 KB.
	maxKeyBlock = 128 << 10
	// pemLine is the length from which a run of base64 counts as a line of a key by itself.
	// Whole lines have 64, 70 or 76 bytes.
	pemLine = 40
)

// privateKeys looks for private key blocks: PEM (PKCS#1, PKCS#8, SEC 1, OpenSSH), PGP, SSH2, PuTTY.
//
// What is replaced are the lines between the first and the last, each by itself. So a block keeps its lines
// (in a diff with their signs, in a listing with their numbers), and it is found with real line ends,
// with \n in a string, with blanks in an environment variable, and when its beginning or its end is missing.
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

// keyBlock looks at what follows the first line of a key block, which ends at s[from].
func (c *scanner) keyBlock(from int) {
	s := c.s
	end := min(len(s), from+maxKeyBlock)
	n := strings.Index(s[from:end], "PRIVATE KEY")
	if n < 0 {
		c.keyBody(from, end, false)
		return
	}
	// That of the last line, or of another block.
	end = from + n
	low := max(from, end-40)
	i := strings.LastIndex(s[low:end], "END ")
	if i >= 0 {
		end = low + i
	}
	end = from + len(strings.TrimRight(s[from:end], "- "))
	c.keyBody(from, end, i >= 0)
}

// keyBody notes what of s[from:end] is the body of a key; closed says that its last line follows.
func (c *scanner) keyBody(from, end int, closed bool) {
	s := c.s
	var lines []bodyLine
	longest := 0
	for l := range bodyLines(s, from, end) {
		if !l.pure || !closed && l.len() < 16 && s[l.end-1] != '=' {
			closed = false
			break
		}
		lines = append(lines, l)
		longest = max(longest, l.len())
	}
	switch {
	case len(lines) == 0:
		return
	case closed && longest >= 16:
	case lines[0].len() >= 24:
	case lines[0].end == len(s) && lines[0].len() >= 8:
	default:
		return
	}
	c.foundLines(lines)
}

// keyTail looks at what precedes the last line of a key block, which begins at s[to].
// The line before it that speaks of a private key ends at s[from]; if it was the block's first,
// keyBlock has seen to all.
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

// foundLines notes the lines of a key: the first gets the mark, the others go.
func (c *scanner) foundLines(lines []bodyLine) {
	rule := rulePrivateKey
	for _, l := range lines {
		c.found(rule, l.start, l.end)
		rule = ""
	}
}

// A bodyLine is the base64 of one line of a key, or of what may be one.
type bodyLine struct {
	start, end int
	pure       bool // beside it the line has nothing but signs, quotes and a number
}

func (l bodyLine) len() int { return l.end - l.start }

// bodyLines splits s[from:to] at line ends, blanks and quotes, real and escaped ones,
// and yields for each part its longest run of base64.
// Headers (Proc-Type: 4,ENCRYPTED) and what has been redacted are left out.
func bodyLines(s string, from, to int) iter.Seq[bodyLine] {
	return func(yield func(bodyLine) bool) {
		for i := from; i < to; {
			// Signs of a diff, quotes and escapes before the line.
			if s[i] == '\\' {
				i = skipByte(s, i, '\\')
				if i < to && strings.IndexByte("nrt", s[i]) >= 0 {
					i++
				}
				continue
			}
			if strings.IndexByte(" \t\r\n\"'`,;+", s[i]) >= 0 {
				i++
				continue
			}
			start := i
			l := bodyLine{start: i, end: i, pure: true}
			other := false
			for i < to && strings.IndexByte(" \t\r\n\"'`,;\\", s[i]) < 0 {
				e := i
				for e < to && (is(s[e], std64) || s[e] == '=') {
					e++
				}
				if e == i {
					other = true
					r, n := utf8.DecodeRuneInString(s[i:])
					l.pure = l.pure && !unicode.IsLetter(r)
					i += n
					continue
				}
				if e-i > l.len() {
					if strings.IndexFunc(s[l.start:l.end], isLetter) >= 0 {
						l.pure = false
					}
					l.start, l.end = i, e
				} else if strings.IndexFunc(s[i:e], isLetter) >= 0 {
					l.pure = false
				}
				i = e
			}
			switch text := s[start:i]; {
			case strings.HasPrefix(text, mark):
				// The second time over.
			case strings.HasSuffix(text, ":") && other:
				// A header: its value belongs to it.
				for i < to && s[i] != '\n' && s[i] != '\\' {
					i++
				}
			case l.len() == 0 && strings.ContainsAny(text, "()[]{}:"):
				// Code, or the rest of a JSON value.
				if !yield(bodyLine{start: start, end: i}) {
					return
				}
			case l.len() == 0, l.len() <= 6 && strings.Trim(s[l.start:l.end], "0123456789") == "":
				// A sign, or the number of a line.
			default:
				if !yield(l) {
					return
				}
			}
		}
	}
}

func isLetter(r rune) bool { return isLower(r) || isUpper(r) }
