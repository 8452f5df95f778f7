package redact

import "strings"

// cookies examines a Cookie or Set-Cookie header's value (RFC 6265).
func (c *scanner) cookies(from, to int) {
	if from < c.jar { // Cookie: a=Cookie: a=...
		return
	}
	c.jar = to
	for _, sp := range sessionCookies(c.s[from:to]) {
		c.found(sp.rule, from+sp.start, from+sp.end)
	}
}

// jarLine examines the tab, or its escape, after the name in a cookie file:
// domain, subdomains, path, secure, expiry, name, value.
func (c *scanner) jarLine(start, i int) {
	s := c.s
	before := strings.TrimSuffix(strings.TrimSuffix(s[:start], "\t"), `\t`)
	if n := len(before); n == 0 || n == start || !is(s[n-1], digit) || !session(s[start:i]) {
		return
	}
	if s[i] == '\\' {
		c.lines = true
		return
	}
	if end := textEnd(s, i+1, maxValue, "\"'\\"); randomPiece(s[i+1:end], 8) && !placeholder(s[i+1:end]) {
		c.found(ruleCookie, i+1, end)
	}
}

// sessionCookies returns the values of a header's cookies that belong to
// sessions or look machine-made.
func sessionCookies(header string) (spans []span) {
	for at := 0; at < len(header); {
		pair, _, _ := strings.Cut(header[at:], ";")
		name, value, ok := strings.Cut(pair, "=")
		start := at + len(name) + 1
		at += len(pair) + 1
		value = strings.TrimRight(value, " ,\r\\")
		if n := len(value) - len(strings.TrimLeft(value, `"\`)); n > 0 {
			value, start = strings.TrimRight(value[n:], `"\`), start+n
		}
		switch {
		case !ok, strings.IndexByte(value, ' ') >= 0, placeholder(value):
		case session(name) && (len(value) >= 20 || randomPiece(value, 8)), len(value) >= 16 && random(value) && !uuid(value):
			spans = append(spans, span{start: start, end: start + len(value), rule: ruleCookie})
		}
	}
	return spans
}

// session reports whether a cookie with this name identifies a session.
func session(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"sess", "sid", "auth", "token", "jwt", "login", "logged", "remember", "csrf", "xsrf", "clearance"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
