package redact

import "strings"

// url examines the URL whose :// is at s[i] for a password, or a token in its place.
func (c *scanner) url(i int) {
	s := c.s
	start := i + len("://")
	end := textEnd(s, start, maxValue, "\"'`<>\\/?#)")
	at := start + strings.LastIndexByte(s[start:end], '@')
	web := endsIn(s[:i], "http", "https", "ftp")
	if at < start && !web {
		// A password with an unencoded / in it is wrong but works with many drivers.
		at = c.lateAt(start, end)
	}
	if at < start {
		return
	}
	user, pass, ok := strings.Cut(s[start:at], ":")
	switch {
	case !ok:
		if web && len(user) >= 16 && random(user) && !placeholder(user) {
			c.found(ruleURLPassword, start, at)
		}
	case web && pass == "x-oauth-basic" && random(user):
		c.found(ruleURLPassword, start, start+len(user))
	case pass != "" && !sample(user, pass, web):
		c.found(ruleURLPassword, start+len(user)+1, at)
	}
}

// lateAt returns the position of the first @ after s[end], the end of the authority that begins at
// s[start], if the text before it looks like user:password.
func (c *scanner) lateAt(start, end int) int {
	s := c.s
	if end >= len(s) || s[end] != '/' && s[end] != '?' && s[end] != '#' {
		return -1
	}
	colon := strings.IndexByte(s[start:end], ':')
	if colon < 0 || start+colon+1 == end || run(s, start+colon+1, digit, 10) == end { // host:port/path@
		return -1
	}
	n := strings.IndexByte(s[end:textEnd(s, end, 64, `"'\`)], '@')
	if n < 0 {
		return -1
	}
	return end + n
}

// userFlag examines the user:password of curl -u, whose user begins at s[start] and whose colon is
// s[i].
func (c *scanner) userFlag(start, i int) {
	s := c.s
	if !endsIn(s[:start], " -u ", " --user ") {
		return
	}
	end := textEnd(s, i+1, maxLine-1, `"'\`)
	if pass := s[i+1 : end]; len(pass) >= 4 && run(pass, 0, digit, len(pass)) < len(pass) && !sample(s[start:i], pass, true) {
		c.found(ruleURLPassword, i+1, end)
	}
}

// sample reports whether user:pass is an example as in manuals and tests. Such examples are most of
// what website addresses contain, but rare in database addresses.
func sample(user, pass string, web bool) bool {
	if placeholder(pass) || strings.ContainsAny(pass, "{}()|") || strings.ContainsAny(user, "{}()<>[]$") {
		return true
	}
	switch strings.ToLower(pass) {
	case "password", "passwd", "passwort", "pass", "pwd", "pw", "secret", "token", "key", "apikey", "api_key", "mypassword",
		"username", "user", "credentials":
		return true
	}
	if !web {
		return false
	}
	switch strings.ToLower(pass) {
	case "foo", "bar", "baz", "test", "xx", "xxx", "abc", "xyz", "p@ss", "p@ssword", "123", "1234", "12345":
		return true
	}
	return pass == user || len(pass) == 1
}
