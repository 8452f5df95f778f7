package redact

import "strings"

// judge notes the value v of a name of kind k if v is a secret.
func (c *scanner) judge(k kind, name string, v value) {
	text := c.s[v.start:v.end]
	if !v.quoted && (strings.ContainsAny(text, "()[]{}<>") && !v.alone || strings.HasPrefix(text[run(text, 0, dotted, len(text)):], "(")) {
		return // an expression, a call
	}
	if k == header && !v.quoted && scheme(text) {
		// Authorization: Bearer ..., without quotes of its own.
		v.start = v.end + len(c.s[v.end:]) - len(strings.TrimLeft(c.s[v.end:], " "))
		v.end = c.restOfHeader(v.start, v.start)
	}
	start, end, rule := credential(k, name, c.s[v.start:v.end], v)
	if rule != "" {
		c.found(rule, v.start+start, v.start+end)
	}
}

// credential returns the part of v, the value of a name of kind k, that is a secret, and the rule
// that says so. The rule is "" if v has no secret.
func credential(k kind, name, v string, how value) (start, end int, rule string) {
	if len(v) > maxValue {
		return 0, 0, ""
	}
	if k == header || k == key || k == basic {
		// Authorization: Bearer ...
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
		// A UUID is usually an identifier, but Heroku's keys are UUIDs.
		if strings.Contains(strings.ToLower(name), "heroku") {
			return start, end, "heroku-key"
		}
		return 0, 0, ""
	case strings.Contains(body, "://"), path(body), numeral(body):
		return 0, 0, "" // for a password in a URL, see url
	}
	if words, _, _ := wordsOf(body); how.loose && words*3 < len(body) {
		return 0, 0, "" // a name in code: testP256PrivateKey
	}
	switch k {
	case password:
		if awsSecret(body) || !how.loose && strong(body) || randomPiece(body, 8) {
			return start, end, rulePassword
		}
	case basic, header:
		if userAndPassword(body) || len(body) >= 16 && random(body) {
			return start, end, ruleAuthorization
		}
	case key:
		if len(body) >= 16 && random(body) || awsSecret(body) {
			return start, end, ruleSecret
		}
	}
	return 0, 0, ""
}

// scheme reports whether s is an HTTP authentication scheme, or something that some services use as
// one.
func scheme(s string) bool {
	switch strings.ToLower(s) {
	case "bearer", "basic", "token", "bot", "apikey", "api-key", "key", "ssws", "negotiate", "pat":
		return true
	}
	return false
}

// restOfHeader returns the end of the credential at s[start:end] of an unquoted header.
func (c *scanner) restOfHeader(start, end int) int {
	for end < len(c.s) && end-start < maxValue && (is(c.s[end], dotted|plus) || c.s[end] == '=') {
		end++
	}
	return end
}

// bearer examines the word s[start:end], which may follow "Bearer" or "Basic" anywhere.
func (c *scanner) bearer(start, end int) {
	head := c.s[max(0, start-8):start]
	end = c.restOfHeader(start, end)
	w := c.s[start:end]
	if endsIn(head, "Bearer ", "bearer ") && random(w) && !placeholder(w) && !uuid(w) ||
		endsIn(head, "Basic ", "basic ") && userAndPassword(w) {
		c.found(ruleAuthorization, start, end)
	}
}
