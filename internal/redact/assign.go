package redact

import "strings"

const (
	// maxValue is the length of the longest password or key.
	maxValue = 4096
	// maxLine is how far around a separator the scanner looks.
	maxLine = 200
)

type value struct {
	start, end int
	quoted     bool // between quotes
	loose      bool // unquoted and separated from its name, as in code
	alone      bool // unquoted, but first on its line, as in an environment file
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
		k = c.declared(start, stop)
		if s[start:stop] == "value" && strings.HasPrefix(s[after:], `"`) {
			k = c.labelled(start, `="`)
		}
		if k == plain {
			c.azureSignature(start, stop, i)
			return
		}
	}
	v, ok := c.valueAfter(after, start)
	switch {
	case !ok:
		return
	case k == cookie:
		if v.quoted {
			c.cookies(v.start, v.end)
		}
		return
	case !v.quoted && s[v.start:v.end] == "[":
		c.elements(k, s[start:stop], after)
		return
	}
	// Code and configuration put blanks between name and sign; shells don't.
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

// colon examines the : at s[i]: URLs, JSON, YAML, headers, user:password.
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
		if i > 1 && s[i-2:i] == ":*" {
			c.pgpass(i-1, i)
		}
		return
	}
	k := nameKind(s[start:stop])
	if k == plain {
		if k = c.known(start, stop, i); k == plain {
			return
		}
	}
	if s[i+1] == '-' { // ${PASSWORD:-value}
		i++
	}
	switch v, ok := c.valueAfter(i+1, start); {
	case k == cookie:
		if !ok || !v.quoted {
			v.start, v.end = i+1, textLine(s, i+1, "\"'`\\")
		}
		c.cookies(v.start, v.end)
	case !ok || !v.quoted && introduces(s[v.start:v.end]):
		c.elements(k, s[start:stop], i+1)
	default:
		v.loose = !v.quoted && !c.lineEnd(v.end)
		c.judge(k, s[start:stop], v)
	}
}

// known examines a name that is telling only before the : at s[i]. It returns
// the kind of its value, or plain if nothing is left to do.
func (c *scanner) known(start, stop, i int) kind {
	s := c.s
	start += len(s[start:stop]) - len(strings.TrimLeft(s[start:stop], "-")) // the sign of a diff
	switch name := s[start:stop]; name {
	case "value", "Value":
		return c.labelled(start, "")
	case "d", "p", "q", "dp", "dq", "qi", "k":
		c.jwk(i)
	case "kind":
		if v, ok := c.valueAfter(i+1, start); ok && s[v.start:v.end] == "Secret" {
			c.manifest(start)
		}
	default:
		switch {
		case name == "" || !is(name[0], digit) || strings.Trim(name, "0123456789") != "":
		case endsIn(s[:start], "Unseal Key ", "Recovery Key "): // of Vault
			return key
		case start > 0 && s[start-1] == ':':
			c.pgpass(start, i)
		}
	}
	return plain
}

// introduces reports whether v announces a list or block of YAML.
func introduces(v string) bool { return v == "[" || v == "|-" || v == ">-" }

// elements examines a list after s[i] or in YAML's lines, of a name of kind k.
func (c *scanner) elements(k kind, name string, i int) {
	s := c.s
	i = skipByte(s, i, ' ')
	if i < len(s) && s[i] == '[' {
		for range maxElements {
			n := strings.IndexAny(s[i:min(len(s), i+maxLine)], "\"']")
			if n < 0 || s[i+n] == ']' {
				return
			}
			v, ok := c.valueAfter(i+len(strings.TrimRight(s[i:i+n], `\`)), 0)
			if !ok {
				return
			}
			c.judge(k, name, v)
			i = min(len(s), skipByte(s, v.end, '\\')+1)
		}
		return
	}
	c.needLines(s[i:min(len(s), i+len(`|-\n`))])
	end := lineStop(s, i, len("|-\n"))
	block := end > i
	if strings.Trim(s[i:end], "|>-") != "" {
		return
	}
	for range maxElements {
		l := lineAt(s, lineNext(s, end))
		if l.begin == end || l.text == l.end || !l.item && !block {
			return
		}
		if v, ok := c.valueAfter(l.text, 0); ok {
			c.judge(k, name, v)
		}
		end, block = l.end, false
	}
}

const maxElements = 32

// blank examines the blank at s[i] as a separator of commands, .netrc and SQL.
func (c *scanner) blank(i int) {
	s := c.s
	if i < 3 || i+1 >= len(s) {
		return
	}
	switch [2]byte{s[i-2] | 0x20, s[i-1] | 0x20} {
	case [2]byte{'r', 'd'}, [2]byte{'w', 'd'}: // password, passwd, pwd
	case [2]byte{'s', 's'}, [2]byte{'s', 'e'}: // pass, passphrase
	case [2]byte{'e', 'n'}, [2]byte{'e', 't'}, [2]byte{'e', 'y'}: // token, secret, key
	case [2]byte{'e', 'd'}:
		if s[i+1]|0x20 == 'b' {
			c.identified(i)
		}
		return
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

// identified examines the blank at s[i] for SQL's IDENTIFIED BY '...'.
func (c *scanner) identified(i int) {
	const by = " by "
	if i < len("identified") || !hasFold(c.s[i-len("identified"):], "identified") || !hasFold(c.s[i:], by) {
		return
	}
	if v, ok := c.valueAfter(i+len(by), 0); ok && v.quoted {
		c.judge(password, "", v)
	}
}

// comma examines the , at s[i]: setenv("API_KEY", "...").
func (c *scanner) comma(i int) {
	s := c.s
	if i == 0 || s[i-1] != '"' && s[i-1] != '\'' {
		return
	}
	if next := skipByte(s, i+1, ' '); next+2 < len(s) && s[next] == s[i-1] && s[next+1] == '-' {
		c.argument(next + 1)
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

// nameBefore returns the bounds of the name before blanks and quotes at s[i].
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

// declared is nameKind for the name before a type: password: str = "..."
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

// labelled returns the kind of the name in {"name":"API_KEY","value":"..."}, or
// the same in YAML and XML. "value" begins at s[i]; sign follows "name", "key".
func (c *scanner) labelled(i int, sign string) kind {
	s := c.s[max(0, i-maxLine):i]
	j := strings.LastIndex(s, "ame"+sign) // or Name
	if j < 0 {
		j = strings.LastIndex(s, "ey"+sign)
	}
	if j < 0 {
		return plain
	}
	s = c.before(i, len(s)-j)
	s = s[run(s, 0, alpha, len(s)):]
	s = strings.TrimLeft(s, "\"'\\ :=")
	end := run(s, 0, dotted, len(s))
	if strings.Trim(s[end:], "\"'\\ ,\r\n\t-") != "" {
		return plain
	}
	if k := nameKind(s[:end]); k != plain || !session(s[:end]) {
		return k
	}
	return key // of a browser's cookie
}

// pgpass examines the : after a port in host:port:database:user:password.
func (c *scanner) pgpass(start, i int) {
	s := c.s
	host := runBack(s, start-1, dotted, maxLine)
	if host == start-1 && host > 0 && s[host-1] == '*' {
		host--
	}
	switch {
	case i-start < len("5432") && s[start] != '*', host == start-1:
		return
	case host > 0 && is(s[host-1], plus) && !c.lineStart(host-1), host > 0 && s[host-1] == ':' && !c.lineStart(host):
		return // a path, an IPv6 address
	}
	end := textEnd(s, i+1, maxLine, "\"'`\\<>(){}[],")
	fields := strings.Split(s[i+1:end], ":")
	if len(fields) != 3 {
		return
	}
	base, user, pass := fields[0], fields[1], fields[2]
	if run(base, 0, digit, maxName) == len(base) || run(user, 0, dotted, maxName) < len(user) || strings.IndexFunc(user, isLetter) < 0 ||
		len(pass) < 4 || sample(user, pass, true) {
		return
	}
	c.found(rulePassword, end-len(pass), end)
}

// jwk examines the value after the : at s[i] as a private part of a JSON Web
// Key (RFC 7517); the key's type must be near.
func (c *scanner) jwk(i int) {
	v, ok := c.valueAfter(i+1, 0)
	if !ok || !v.quoted || !jwkPart(c.s[v.start:v.end]) {
		return
	}
	const reach = 4096 // RSA of 8192 bits: n and d have 1366 bytes each
	if near := c.s[max(0, v.start-reach):min(len(c.s), v.end+reach)]; strings.Contains(near, `"kty"`) || strings.Contains(near, `\"kty\"`) {
		c.found(rulePrivateKey, v.start, v.end)
	}
}

func jwkPart(v string) bool {
	return len(v) >= 22 && len(v) <= maxValue && run(v, 0, url64, len(v)) == len(v) && random(v)
}

// valueAfter returns the value at or after s[i] of the name at s[name].
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

// closing returns the position in s of the quote that closes the one before s,
// or -1. A quote with more backslashes than the first belongs to the value.
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

// firstOfPairs cuts v before the next name=value, if no blank separates them.
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
