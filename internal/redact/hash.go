package redact

import "strings"

// hash examines the $ at s[i] as the start of a password hash like crypt(5)'s,
// $argon2id$v=19$m=65536,t=3,p=4$salt$..., which gives weak passwords away.
func (c *scanner) hash(i int) {
	s := c.s
	if i+3 >= len(s) || i > 0 && s[i-1] == '$' {
		return
	}
	// Compose files double every $, scripts put a backslash before it.
	next := func(p int) int {
		p += len(s[p:min(len(s), p+3)]) - len(strings.TrimLeft(s[p:min(len(s), p+3)], `\`))
		if p < len(s) && s[p] == '$' {
			p++
			if p < len(s) && s[p] == '$' {
				p++
			}
			return p
		}
		return 0
	}
	at := next(i)
	end := run(s, at, alnum|dash, 16)
	if end == at || next(end) == 0 {
		return
	}
	switch id := s[at:end]; id {
	case "1", "5", "6", "7", "y", "gy", "2a", "2b", "2x", "2y", "apr1", "sha1", "argon2id", "argon2i", "argon2d", "scrypt", "pbkdf2",
		"pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512", "bcrypt-sha256", "P", "H":
	default:
		return
	}
	// Parameters and a salt precede the hash, which is the longest.
	last := 0
	for range 5 {
		p := next(end)
		if p == 0 {
			break
		}
		e := run(s, p, alnum|plus|dot|dash|under, maxLine)
		for e < len(s) && e-p < maxLine && (s[e] == '=' || s[e] == ',' && strings.HasPrefix(s[p+1:], "=")) {
			e = run(s, e+1, alnum|plus|dot|dash|under, maxLine)
		}
		last, end = e-p, e
	}
	if last >= 22 && !dummy(s[end-last:end]) {
		c.found("password-hash", i, end)
	}
}
