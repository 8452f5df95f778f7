package redact

import "strings"

// url examines the URL around the :// at s[i] for a password or token.
func (c *scanner) url(i int) {
	s := c.s
	start := i + len("://")
	end := textEnd(s, start, maxValue, "\"'`<>\\/?#)")
	at := start + strings.LastIndexByte(s[start:end], '@')
	web := endsIn(s[:i], "http", "https", "ftp")
	if at < start && !web {
		// Many drivers accept a password with an unencoded /.
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

// lateAt returns the position of the first @ after s[end], the end of the
// authority, or -1 if the text before does not look like user:password.
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

// sample reports whether user:pass is an example, as in most addresses of
// websites, but few of databases.
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

// netrc reports whether s[i] follows "login <name>" after "machine <name>" or
// "default".
func (c *scanner) netrc(i int) bool {
	words := strings.Fields(c.before(i, min(i, maxLine)))
	n := len(words)
	return n >= 3 && words[n-2] == "login" &&
		(strings.HasSuffix(words[n-3], "default") || n >= 4 && strings.HasSuffix(words[n-4], "machine") && words[n-1] != "string")
}

// dsn reports whether the password v, named at s[name], is among database
// settings: user=app password=... host=db, User Id=sa;Password=...;
func (c *scanner) dsn(name int, v value) bool {
	s := c.s
	if strings.IndexByte(" ;\"'`?&", s[name-1]) < 0 {
		return false
	}
	before := s[max(0, name-maxLine):name]
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	after := s[v.end:min(len(s), v.end+maxLine)]
	if i := strings.IndexAny(after, "\n,()"); i >= 0 {
		after = after[:i]
	}
	if strings.ContainsAny(before, ",(") && !strings.Contains(before, ";") {
		// Arguments of a Python function look the same but for commas.
		before = before[strings.LastIndexAny(before, ",(")+1:]
	}
	return settings(before) || settings(after)
}

// settings reports whether s has a setting that goes with a database password.
func settings(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '=' || i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '=' {
			continue
		}
		start := runBack(s, i, alpha, 20)
		if strings.HasSuffix(s[:start], " ") { // User Id, Data Source
			start = runBack(s, start-1, alpha, 20)
		}
		switch strings.ToLower(s[start:i]) {
		case "user", "uid", "user id", "username", "host", "hostaddr", "server", "dbname", "database", "data source",
			"initial catalog", "port", "sslmode", "driver", "endpoint", "accountname", "addr", "address":
			return true
		}
		// In "host=db user=app" the word before the blank is a value.
		if j := strings.LastIndexByte(s[start:i], ' '); j >= 0 {
			switch strings.ToLower(s[start+j+1 : i]) {
			case "user", "host", "dbname", "port", "sslmode", "hostaddr":
				return true
			}
		}
	}
	return false
}

// azureSignature examines the sig= of a shared access signature.
func (c *scanner) azureSignature(start, stop, i int) {
	s := c.s
	if s[start:stop] != "sig" || start == 0 || s[start-1] != '&' && s[start-1] != '?' && s[start-1] != ';' {
		return
	}
	end := i + 1
	for end < len(s) && end-i < 120 && (is(s[end], std64|url64) || s[end] == '%' || s[end] == '=') {
		end++
	}
	if end-i-1 >= 40 && randomPiece(strings.ReplaceAll(s[i+1:end], "%", "-"), 8) {
		c.found("azure-sas", i+1, end)
	}
}

// at examines the @ at s[i] in user:password@tcp(host)/db, for Go and MySQL.
func (c *scanner) at(i int) {
	s := c.s
	if !strings.HasPrefix(s[i:], "@tcp(") && !strings.HasPrefix(s[i:], "@unix(") && !strings.HasPrefix(s[i:], "@tcp4(") && !strings.HasPrefix(s[i:], "@tcp6(") {
		return
	}
	low := max(0, i-maxLine)
	start := i
	for start > low && s[start-1] > ' ' && s[start-1] != '"' && s[start-1] != '\'' && s[start-1] != '`' {
		start--
	}
	if n := strings.LastIndex(s[start:i], `\n`); n >= 0 {
		start += n + len(`\n`)
	}
	user, pass, ok := strings.Cut(s[start:i], ":")
	if ok && pass != "" && !sample(user, pass, false) {
		c.found(ruleURLPassword, start+len(user)+1, i)
	}
}
