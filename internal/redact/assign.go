package redact

import "strings"

const (
	// maxValue is the greatest length of a possible password or key.
	maxValue = 4096
	// maxLine is how far the surroundings of a separator are searched.
	maxLine = 200
)

// A value is what follows a name.
type value struct {
	start, end int
	quoted     bool // between quotes
	loose      bool // unquoted and separated from its name, as in code
	alone      bool // unquoted, but the first of its line, as in an environment file
}

// equals examines the = at s[i].
func (c *scanner) equals(i int) {
	s := c.s
	if i+1 == len(s) || s[i+1] == '=' || s[i+1] == '~' {
		return
	}
	end, after := i, i+1
	if s[after] == '>' { // PHP, Ruby
		after++
	}
	if i > 0 {
		switch s[i-1] {
		case '=', '!', '<', '>', '+', '*', '%', '&', '|', '^', '~':
			return
		case ':':
			end--
		}
	}
	start, stop := c.nameBefore(end)
	k := nameKind(s[start:stop])
	if k == plain {
		if k = c.declared(start, stop); k == plain {
			c.azureSignature(start, stop, i)
			return
		}
	}
	v, ok := c.valueAfter(after, start)
	if !ok {
		return
	}
	// In code and in configuration blanks separate a name from the sign; in a shell they do not.
	v.loose = !v.quoted && stop != i && (stop != end || !c.lineEnd(v.end))
	v.alone = !v.quoted && stop == i && (c.lineStart(start) || strings.HasSuffix(s[:start], "export "))
	if k == password && !v.quoted && stop == i && start > 0 && c.dsn(start, v) {
		if !sample("", s[v.start:v.end], strings.IndexByte("?&", s[start-1]) >= 0) {
			c.found(rulePassword, v.start, v.end)
		}
		return
	}
	c.judge(k, s[start:stop], v)
}

// colon examines the : at s[i]: of a URL, of JSON and YAML, of a header, of user:password.
func (c *scanner) colon(i int) {
	s := c.s
	if i+1 == len(s) || s[i+1] == '=' || s[i+1] == ':' || i > 0 && s[i-1] == ':' {
		return
	}
	if strings.HasPrefix(s[i:], "://") {
		c.url(i)
		return
	}
	start, stop := c.nameBefore(i)
	if start == stop || strings.HasSuffix(s[:start], "/") { // the user of a URL
		return
	}
	k := nameKind(s[start:stop])
	if k == plain {
		switch name := s[start:stop]; {
		case name == "value" || name == "Value":
			k = c.labelled(start)
		case start > 0 && s[start-1] == ' ':
			c.userFlag(start, i)
		}
	}
	if k == plain {
		return
	}
	if s[i+1] == '-' { // ${PASSWORD:-value}
		i++
	}
	if v, ok := c.valueAfter(i+1, start); ok {
		v.loose = !v.quoted && !c.lineEnd(v.end)
		c.judge(k, s[start:stop], v)
	}
}

// blank examines the blank at s[i], which separates name and value in commands, .netrc and SQL.
func (c *scanner) blank(i int) {
	s := c.s
	if i < 3 || i+1 >= len(s) {
		return
	}
	// The last bytes rule out most words.
	switch [2]byte{s[i-2] | 0x20, s[i-1] | 0x20} {
	case [2]byte{'r', 'd'}, [2]byte{'w', 'd'}: // password, passwd, pwd
	case [2]byte{'s', 's'}, [2]byte{'s', 'e'}: // pass, passphrase
	case [2]byte{'e', 'n'}, [2]byte{'e', 't'}, [2]byte{'e', 'y'}: // token, secret, key
	default:
		return
	}
	start := wordStart(s, i, dotted, maxName)
	k := nameKind(s[start:i])
	if k == plain {
		return
	}
	v, ok := c.valueAfter(i+1, start)
	if !ok {
		return
	}
	text := s[v.start:v.end]
	switch {
	case strings.HasPrefix(s[start:], "--"):
		if k == password && !placeholder(text) && len(text) >= 6 && strings.IndexFunc(text, isDigit) >= 0 && text[0] != '-' {
			c.found(rulePassword, v.start, v.end)
			return
		}
	case k == password && c.netrc(start):
		if !placeholder(text) {
			c.found(rulePassword, v.start, v.end)
		}
		return
	case v.quoted && k == password: // IDENTIFIED BY and PASSWORD of SQL
	case len(text) < minWord:
		return
	default:
		v.loose = true
	}
	c.judge(k, s[start:i], v)
}

// comma examines the , at s[i]: setenv("API_KEY", "...").
func (c *scanner) comma(i int) {
	s := c.s
	if i == 0 || s[i-1] != '"' && s[i-1] != '\'' {
		return
	}
	start, stop := c.nameBefore(i)
	k := nameKind(s[start:stop])
	if k == plain {
		return
	}
	if v, ok := c.valueAfter(i+1, start); ok && v.quoted {
		c.judge(k, s[start:stop], v)
	}
}

// element examines the > at s[i]: <password>...</password>.
func (c *scanner) element(i int) {
	s := c.s
	start := runBack(s, i, dotted, maxName)
	if start == i || start == 0 || s[start-1] != '<' {
		return
	}
	n := strings.Index(s[i+1:min(len(s), i+1+maxLine)], "</")
	if k := nameKind(s[start:i]); k != plain && n > 0 {
		c.judge(k, s[start:i], value{start: i + 1, end: i + 1 + n, quoted: true})
	}
}

// nameBefore returns the bounds of the name before s[i], skipping blanks, quotes and brackets between.
func (c *scanner) nameBefore(i int) (start, end int) {
	s := c.s
	for n := 0; n < 4 && i > 0 && (s[i-1] == ' ' || s[i-1] == '\t'); n++ {
		i--
	}
	if i > 0 && s[i-1] == ']' {
		i--
	}
	if i > 0 && (s[i-1] == '"' || s[i-1] == '\'' || s[i-1] == '`') {
		i--
		for i > 0 && s[i-1] == '\\' {
			i--
		}
	}
	start = wordStart(s, i, dotted, maxName)
	if i-start == len("key") && start > 0 && s[start-1] == ' ' && hasFold(s[start:], "key") {
		start = wordStart(s, start-1, dotted, maxName) // my API key: ...
	}
	return start, i
}

// lineStart reports whether a line begins at s[i], after a line end or an escaped one.
func (c *scanner) lineStart(i int) bool {
	return i == 0 || c.s[i-1] == '\n' || i > 1 && c.s[i-2] == '\\' && c.s[i-1] == 'n'
}

// lineEnd reports whether a line ends at s[i].
func (c *scanner) lineEnd(i int) bool {
	return i == len(c.s) || strings.IndexByte("\n\r\\", c.s[i]) >= 0
}

// declared returns the kind of the name before the type name s[start:stop]:
// password: str = "...", var token string = "...".
func (c *scanner) declared(start, stop int) kind {
	switch c.s[start:stop] {
	case "string", "String", "str", "byte", "char", "SecretStr":
	default:
		return plain
	}
	for n := 0; n < 4 && start > 0 && strings.IndexByte(" :&[]*?", c.s[start-1]) >= 0; n++ {
		start--
	}
	return nameKind(c.s[runBack(c.s, start, dotted, maxName):start])
}

// labelled returns the kind of the name in {"name":"API_KEY","value":"..."},
// where "value" begins at s[i], and of the same in YAML.
func (c *scanner) labelled(i int) kind {
	s := c.s[max(0, i-maxLine):i]
	j := strings.LastIndex(s, "name")
	if j < 0 {
		j = strings.LastIndex(s, "key")
	}
	if j < 0 {
		return plain
	}
	s = s[j:]
	s = s[run(s, 0, alpha, len(s)):]
	s = strings.TrimLeft(s, "\"'\\ :")
	end := run(s, 0, dotted, len(s))
	if strings.Trim(s[end:], "\"'\\ ,\r\n\t-nr") != "" {
		return plain
	}
	return nameKind(s[:end])
}

// valueAfter returns the value that begins at or after s[i], whose name begins at s[name].
func (c *scanner) valueAfter(i, name int) (v value, ok bool) {
	s := c.s
	for n := 0; n < 16 && i < len(s) && (s[i] == ' ' || s[i] == '\t'); n++ {
		i++
	}
	if i >= len(s) {
		return v, false
	}
	if i+1 < len(s) && is(s[i], alpha) && (s[i+1] == '"' || s[i+1] == '\'') && strings.IndexByte("bBrRuUfFL", s[i]) >= 0 {
		i++ // the prefix of a string literal
	}
	q := i
	for q < len(s) && s[q] == '\\' {
		q++
	}
	if q < len(s) && (s[q] == '"' || s[q] == '\'' || s[q] == '`') {
		line, _, _ := strings.Cut(s[q+1:min(len(s), q+1+maxValue)], "\n")
		n := closing(line, s[q], q-i)
		return value{start: q + 1, end: q + 1 + n, quoted: true}, n >= 0
	}
	if q > i {
		return v, false
	}
	end := i
	query := name > 0 && (c.s[name-1] == '?' || c.s[name-1] == '&')
	limit := maxValue
	if i < c.tried {
		limit = maxLine
	}
	for end < len(s) && end-i < limit {
		b := s[end]
		if b <= ' ' || b == '"' || b == '\'' || b == '`' || b == '\\' || b == '<' && end > i || query && (b == '&' || b == '#') {
			break
		}
		end++
	}
	if end-i > maxLine {
		c.tried = end
	}
	end = i + len(firstOfPairs(s[i:end]))
	for end > i && strings.IndexByte(",;)}]>|&:.", s[end-1]) >= 0 {
		end--
	}
	return value{start: i, end: end}, end > i
}

// closing returns the position of the quote that closes the one before s, or -1. Both have the same
// number of backslashes before them; a quote with more is part of the value.
func closing(s string, quote byte, backslashes int) int {
	for i := 0; ; {
		n := strings.IndexByte(s[i:], quote)
		if n < 0 {
			return -1
		}
		q := i + n
		b := q
		for b > i && s[b-1] == '\\' {
			b--
		}
		if q-b == backslashes || backslashes == 0 && (q-b)%2 == 0 {
			return q - backslashes
		}
		if q-b < backslashes {
			return -1
		}
		i = q + 1
	}
}

// firstOfPairs cuts v before the next name=value that follows without a blank.
func firstOfPairs(v string) string {
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case ';', ',', '&', '|':
			j := run(v, i+1, dotted, maxName)
			if j > i+1 && j < len(v) && v[j] == '=' || j == len(v) && v[i] == ';' {
				return v[:i]
			}
		}
	}
	return v
}
