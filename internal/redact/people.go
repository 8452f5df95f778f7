package redact

import (
	"strings"
	"unicode/utf8"
)

// people appends where s has e-mail addresses and telephone numbers.
func people(s string, spans []span) []span {
	low := 0 // the end of the last address
	for i := 0; i < len(s); i++ {
		at := i
		if s[i] == '%' && strings.HasPrefix(s[i:], "%40") {
			at += len("%40") - 1
		} else if s[i] != '@' {
			continue
		}
		if start, end := address(s, low, i, at+1); end > 0 {
			spans = append(spans, span{start: start, end: end, rule: ruleEmail})
			low, at = end, end-1
		}
		i = at
	}
	return phones(s, spans)
}

const (
	maxLocal  = 64  // bytes of an address before its @, RFC 5321
	maxDomain = 253 // after it
)

// address returns the e-mail address around the @ between s[i] and s[next],
// after s[low]. Letters beyond ASCII count in both parts. git@ and noreply@ are
// nobody's, and before the host of a URL is no address.
func address(s string, low, i, next int) (start, end int) {
	start = i
	for start > low && i-start < maxLocal {
		r, size := utf8.DecodeLastRuneInString(s[low:start])
		if !inWord(r) && !strings.ContainsRune(".+'_-", r) {
			break
		}
		start -= size
	}
	start += len(s[start:i]) - len(strings.TrimLeft(s[start:i], ".+'-"))
	switch {
	case start == 0:
	case s[start-1] == '\\' && start+1 < i && escapeLetter(s[start]):
		start++ // \nanna@
	case s[start-1] == '%' && start+2 < i && strings.Trim(s[start:start+2], hexDigits) == "":
		start += 2 // %3Canna@
	}
	local := s[start:i]
	before := s[max(0, start-maxLine):start]
	if host := strings.LastIndex(before, "://"); local == "" || strings.HasSuffix(local, ".") || host >= 0 && !strings.ContainsAny(before[host+3:], "/?# \n\t\"'<>") {
		return 0, 0
	}
	switch strings.ToLower(local) {
	case "git", "noreply", "no-reply", "donotreply", "do-not-reply":
		return 0, 0
	}
	end, label, labels := next, next, 0
	for j := next; ; j++ {
		if j < len(s) && j-next < maxDomain {
			if is(s[j], alnum|dash) {
				continue
			}
			if r, size := utf8.DecodeRuneInString(s[j:]); s[j] >= utf8.RuneSelf && inWord(r) {
				j += size - 1
				continue
			}
		}
		if j == label || s[label] == '-' || s[j-1] == '-' {
			break
		}
		labels++
		if labels > 1 && topLevel(s[label:j]) {
			end = j
		}
		if j == len(s) || s[j] != '.' {
			break
		}
		label = j + 1
	}
	if end == next || version(s[next:end]) || end < len(s) && (s[end] == '(' || s[end] == '_') {
		return 0, 0
	}
	return start, end
}

// topLevel reports whether a domain may end in label: in letters of one case,
// or in Punycode. The units of systemd are no domains.
func topLevel(label string) bool {
	switch {
	case strings.HasPrefix(label, "xn--"):
		return true
	case label == "service", label == "socket", label == "timer", label != strings.ToLower(label) && label != strings.ToUpper(label):
		return false
	}
	return len(label) >= 2 && strings.IndexFunc(label, func(r rune) bool { return r == '-' || isDigit(r) }) < 0
}

// version reports whether s begins as a version of a package does, 1.2, or the
// scale of a picture, 2x.
func version(s string) bool {
	s = strings.TrimPrefix(s, "v")
	n := run(s, 0, digit, len(s))
	return n+1 < len(s) && s[n] == '.' && is(s[n+1], digit) || n == 1 && strings.HasPrefix(s[n:], "x.")
}
