package redact

import "strings"

// netrc reports whether s[i] follows "login <name>", which follows "machine <name>" or "default".
func (c *scanner) netrc(i int) bool {
	words := strings.Fields(unescape(c.s[max(0, i-maxLine):i]))
	n := len(words)
	return n >= 3 && words[n-2] == "login" &&
		(strings.HasSuffix(words[n-3], "default") || n >= 4 && strings.HasSuffix(words[n-4], "machine") && words[n-1] != "string")
}

// dsn reports whether the value v of the password whose name begins at s[name] belongs to a list of
// database settings: user=app password=... host=db, User Id=sa;Password=...;
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
		// Arguments of a Python function look like this, but those of a DSN have no commas.
		before = before[strings.LastIndexAny(before, ",(")+1:]
	}
	return settings(before) || settings(after)
}

// settings reports whether s has one of the settings that accompany a database's password.
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
		// "host=db user=app": the word before the blank was a value.
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

// at examines the @ at s[i] of a DSN of Go's MySQL driver: user:password@tcp(host)/db.
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
	user, pass, ok := strings.Cut(s[start:i], ":")
	if ok && pass != "" && !sample(user, pass, false) {
		c.found(ruleURLPassword, start+len(user)+1, i)
	}
}
