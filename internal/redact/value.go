package redact

import (
	"encoding/base64"
	"math"
	"strings"
)

// judge records v, the value of a name of kind k, if it is a secret.
func (c *scanner) judge(k kind, name string, v value) {
	text := c.s[v.start:v.end]
	if !v.quoted && (strings.ContainsAny(text, "()[]{}<>") && !v.alone || strings.HasPrefix(text[run(text, 0, dotted, len(text)):], "(")) {
		return // an expression, a call
	}
	if k == header && !v.quoted && scheme(text) {
		// A scheme without quotes: Authorization: Bearer ...
		v.start = skipByte(c.s, v.end, ' ')
		v.end = c.restOfHeader(v.start, v.start)
	}
	start, end, rule := credential(k, name, c.s[v.start:v.end], v)
	if rule != "" {
		c.found(rule, v.start+start, v.start+end)
	}
}

// credential returns the secret part of v, the value of a name of kind k, and
// the rule that found it, or "" if there is none.
func credential(k kind, name, v string, how value) (start, end int, rule string) {
	if len(v) > maxValue {
		return 0, 0, ""
	}
	if k == header || k == key || k == basic {
		if i := strings.IndexByte(v, ' '); i > 0 && scheme(v[:i]) {
			start = i + 1
		}
	}
	body := strings.TrimRight(v[start:], " \r\n")
	end = start + len(body)
	switch {
	case placeholder(body), strings.ContainsAny(body, " \t\n"):
		return 0, 0, "" // empty, a template, a sentence
	case uuid(body):
		return start, end, uuidRule(k, name, body)
	case strings.Contains(body, "://"), path(body), numeral(body):
		return 0, 0, "" // url finds passwords in these
	}
	if words, _, _ := wordsOf(body); how.loose && words*3 < len(body) {
		return 0, 0, "" // a name in code: testP256PrivateKey
	}
	switch {
	case k == password && (awsSecret(body) || !how.loose && strong(body) || randomPiece(body, 8)):
		return start, end, rulePassword
	case (k == basic || k == header) && (userAndPassword(body) || len(body) >= 16 && random(body)):
		return start, end, ruleAuthorization
	case k == key && (len(body) >= 16 && random(body) || awsSecret(body)):
		return start, end, ruleSecret
	}
	return 0, 0, ""
}

// scheme reports whether s is an HTTP authentication scheme, or used as one.
func scheme(s string) bool {
	switch strings.ToLower(s) {
	case "bearer", "basic", "token", "bot", "apikey", "api-key", "key", "ssws", "negotiate", "pat":
		return true
	}
	return false
}

// restOfHeader returns the end of an unquoted header's credential.
func (c *scanner) restOfHeader(start, end int) int {
	for end < len(c.s) && end-start < maxValue && (is(c.s[end], dotted|plus) || c.s[end] == '=') {
		end++
	}
	return end
}

// bearer examines s[start:end], which may follow "Bearer" or "Basic" anywhere.
func (c *scanner) bearer(start, end int) {
	head := c.s[max(0, start-8):start]
	end = c.restOfHeader(start, end)
	w := c.s[start:end]
	if endsIn(head, "Bearer ", "bearer ") && random(w) && !placeholder(w) && !uuid(w) ||
		endsIn(head, "Basic ", "basic ") && userAndPassword(w) {
		c.found(ruleAuthorization, start, end)
	}
}

// minRandom is the length from which a piece can be told from human text.
const minRandom = 12

// random reports whether v looks machine-made.
//
// Entropy alone doesn't tell: "accessTokenForUserSession" has as much as a key.
// But human text has few words: a capital with small letters, capitals, or
// digits. A key changes between these every second or third byte. One random
// piece of v between separators is enough.
func random(v string) bool { return randomPiece(v, minRandom) }

func randomPiece(v string, least int) bool {
	for len(v) >= least {
		end := 0
		for end < len(v) && strings.IndexByte("-_./:, ", v[end]) < 0 {
			end++
		}
		if piece := v[:end]; len(piece) >= least && dense(piece) && entropy(piece) >= enough(len(piece)) {
			return true
		}
		if end == len(v) {
			break
		}
		v = v[end+1:]
	}
	return false
}

// dense reports whether piece has words as short as a key's. It recognises 98 %
// of random pieces of 20 bytes, and 99.5 % of 40, in base62, hexadecimal and
// a-z0-9, but not letters alone. See TestRandomRecall.
func dense(piece string) bool {
	words, numbers, kinds := wordsOf(piece)
	n := len(piece)
	const letters = 1<<small | 1<<capital
	switch {
	case kinds&letters == 0:
		return false
	case n < minRandom:
		return (numbers > 0 || kinds&letters == letters) && words*2 >= n || numbers >= 2 && words*5 >= n*2
	case numbers > 2:
		return words*6 >= n
	case numbers == 2:
		return words*5 >= n
	case numbers == 1:
		return words*4 >= n
	}
	return kinds&letters == letters && n >= 20 && words*7 >= n*2
}

// Kinds of the bytes in a value's words.
const (
	other = iota
	small
	capital
	number
)

// wordsOf returns how many words s has, how many are numbers, and a bit for
// each kind of its bytes.
func wordsOf(s string) (words, numbers int, kinds uint8) {
	last := other
	for i := 0; i < len(s); i++ {
		kind := other
		switch k := class[s[i]]; {
		case k&(hexLower|lower) != 0:
			kind = small
		case k&upper != 0:
			kind = capital
		case k&digit != 0:
			kind = number
		}
		kinds |= 1 << kind
		if i == 0 || kind != last && (kind != small || last != capital) {
			words++
			if kind == number {
				numbers++
			}
		}
		last = kind
	}
	return words, numbers, kinds
}

// enough returns the bits per byte that n random hexadecimal bytes, the poorest
// alphabet, nearly always have.
func enough(n int) float64 {
	switch {
	case n < 12:
		return 2.2
	case n < 20:
		return 2.5
	}
	return 2.7
}

// entropy returns Shannon's entropy, in bits per byte.
func entropy(s string) float64 {
	var count [256]int
	for i := 0; i < len(s); i++ {
		count[s[i]]++
	}
	var h float64
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// strong reports whether v looks like a recommended password: letters, digits
// and a symbol, but no path, address or expression.
func strong(v string) bool {
	var seen uint8
	symbol := false
	for i := 0; i < len(v); i++ {
		k := class[v[i]]
		seen |= k
		if strings.IndexByte("!@#$^&*?", v[i]) >= 0 || v[i] == '%' && (i+1 == len(v) || !is(v[i+1], hex|upper)) {
			symbol = true
		}
	}
	return len(v) >= 8 && symbol && seen&alpha != 0 && seen&digit != 0 &&
		!strings.Contains(v, "//") && !strings.ContainsAny(v, "(){}[]<>") && v[0] != '/' && v[0] != '@'
}

// placeholder reports whether v only stands for a secret, as a template does.
func placeholder(v string) bool {
	if v == "" {
		return true
	}
	switch v[0] {
	case '$', '<', '{', '(', '[', '\\', '&':
		return true
	case '%':
		if len(v) == 1 || is(v[1], alpha) || strings.IndexByte("({[", v[1]) >= 0 {
			return true
		}
	}
	for i := 0; i < len(v); i++ {
		for _, example := range examples[v[i]|0x20] {
			if hasFold(v[i:], example) && (example != "your" || i == 0 || !is(v[i-1], alnum)) {
				return true
			}
		}
	}
	return false
}

// examples lists texts of placeholders, by first byte, with the bit 0x20 set.
var examples = [256][]string{
	'$': {"${", "$("}, '{': {"{{"}, '.': {"..."}, '*': {"***"}, 'x': {"xxxx"}, 'y': {"your"}, 'p': {"placeholder"},
	'c': {"changeme", "change-me", "change_me"}, 'r': {"redacted"},
}

// hasFold reports whether s begins with prefix, in any ASCII case.
func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func uuid(v string) bool {
	v = strings.TrimPrefix(v, "urn:uuid:")
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' && strings.Trim(v, hexDigits+"-") == ""
}

// uuidRule returns the rule for a UUID as value of a name of kind k. npm, Snyk,
// Postmark, Keycloak and others use UUIDs as tokens.
func uuidRule(k kind, name, v string) string {
	switch {
	case entropy(v) < enough(len(v)), strings.HasPrefix(v, "urn:"): // 00000000-0000-0000-0000-000000000001
		return ""
	case strings.Contains(strings.ToLower(name), "heroku"):
		return "heroku-key"
	case k == password:
		return rulePassword
	case k == key:
		return ruleSecret
	}
	return ruleAuthorization
}

const hexDigits = "0123456789abcdefABCDEF"

// numeral reports whether v is a hexadecimal literal of at most 64 bits.
func numeral(v string) bool {
	v, ok := strings.CutPrefix(v, "0x")
	v = strings.ReplaceAll(v, "_", "")
	return ok && len(v) <= 16 && strings.Trim(v, hexDigits) == ""
}

// path reports whether v names a file. Base64 can begin with a slash too, but
// has no other signs.
func path(v string) bool {
	if strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") {
		return true
	}
	return v[0] == '/' && (strings.ContainsAny(v, "._-~ ") || strings.Count(v, "/")*8 > len(v))
}

// userAndPassword reports whether v is base64 of "user:password".
func userAndPassword(v string) bool {
	if len(v) < 8 || len(v) > 2048 {
		return false
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	if err != nil {
		return false
	}
	user, password, ok := strings.Cut(string(b), ":")
	if !ok || user == "" && password == "" {
		return false
	}
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return !placeholder(password)
}
