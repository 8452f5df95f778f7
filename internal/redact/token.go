package redact

import (
	"encoding/base64"
	"strings"
)

// maxToken bounds a token. The longest known, JWTs in cookies, have 4 KB.
const maxToken = 8192

// A prefix is the form of a provider's tokens: fixed bytes and a body.
type prefix struct {
	rule  string
	texts oneOf // the fixed bytes
	body  uint8 // classes of the body
	min   int   // its length; a longer run belongs to the token too
	max   int   // a longer run is something else; 0 for no limit
	edge  bool  // the fixed bytes count only at the edge of a word
	rand  bool  // they count only outside base64url, before a [random] body

	// check replaces body, min and max if they can't express the form. It takes
	// the position of the fixed bytes and returns the token's bounds, or zeros.
	check func(s string, p int) (start, end int)
}

// begins reports whether a prefix begins with a and b. It must be fast.
func begins(a, b byte) bool {
	second := prefixes[a].second
	for i := range len(second) {
		if second[i] == b {
			return true
		}
	}
	return second == "" && prefixes[a].forms != nil
}

type oneOf []string

// begin returns the alternative that s begins with, or "".
func (texts oneOf) begin(s string) string {
	for _, text := range texts {
		// The last byte tells most words apart.
		if n := len(text); n <= len(s) && s[n-1] == text[n-1] && s[:n] == text {
			return text
		}
	}
	return ""
}

// match returns the bounds of the token with its text at s[p], or zeros.
func (r *prefix) match(s string, p int, text string) (start, end int) {
	if r.check != nil {
		return r.check(s, p)
	}
	from := p + len(text)
	end = run(s, from, r.body, maxToken)
	for r.body&dot != 0 && end > from && s[end-1] == '.' { // the end of a sentence
		end--
	}
	n := end - from
	if n < r.min || r.max != 0 && n > r.max || dummy(s[from:end]) || r.rand && !random(s[from:end]) {
		return 0, 0
	}
	if r.body&plus != 0 {
		for end < len(s) && s[end] == '=' {
			end++
		}
	}
	return p, end
}

// dummy reports whether body is an example: ghp_xxxxxxxx, sk-ant-your-key-here.
func dummy(body string) bool {
	return strings.Trim(body, "xX0.-_") == "" || placeholder(body)
}

// jwt finds JSON web tokens: segments of base64url with dots between.
func jwt(s string, p int) (int, int) {
	if p > 0 && is(s[p-1], under|dash) {
		return 0, 0
	}
	end := run(s, p, url64, maxToken)
	header := s[p:end]
	segments := 1
	for segments < 5 && end+1 < len(s) && s[end] == '.' && (is(s[end+1], url64) || s[end+1] == '.') {
		end = run(s, end+1, url64, maxToken)
		segments++
	}
	if segments < 2 || len(header) < 12 {
		return 0, 0
	}
	payload := s[p+len(header)+1 : end]
	if strings.HasPrefix(payload, "eyJ") && len(payload) >= 12 {
		return p, end
	}
	// Not readable JSON: encrypted (JWE), or with a detached payload.
	head, _ := base64.RawURLEncoding.DecodeString(header[:len(header)&^3])
	if len(payload) >= 16 && strings.Contains(string(head), `"alg"`) {
		return p, end
	}
	return 0, 0
}

// sk finds the sk- keys of model providers, the oldest and vaguest form.
func sk(s string, p int) (int, int) {
	end := run(s, p, url64, maxToken)
	body := s[p+len("sk-") : end]
	switch {
	case len(body) < 20 || dummy(body):
		return 0, 0
	case strings.Contains(body, "T3BlbkFJ"), // "OpenAI" in base64, in every OpenAI key
		strings.HasPrefix(body, "proj-"), strings.HasPrefix(body, "svcacct-"), strings.HasPrefix(body, "admin-"):
		return p, end
	case p > 0 && is(s[p-1], under|dash):
		return 0, 0
	case random(body), len(body) >= 32 && run(body, 0, alnum, maxToken) == len(body) && strings.IndexFunc(body, isDigit) >= 0:
		return p, end
	}
	return 0, 0
}

// slack finds xoxb-, xoxp-, xoxe.xoxp- and similar tokens.
func slack(s string, p int) (int, int) {
	q := p + len("xox")
	if q+2 > len(s) || strings.IndexByte("abcdeoprs", s[q]) < 0 {
		return 0, 0
	}
	if strings.HasPrefix(s[q+1:], ".xox") {
		q += len(".xoxp")
	}
	if q+2 > len(s) || s[q+1] != '-' {
		return 0, 0
	}
	// xoxd- is a cookie and is percent-encoded.
	end := q + 2
	for end < len(s) && end-p < maxToken && (is(s[end], url64|plus) || s[end] == '%') {
		end++
	}
	if body := s[q+2 : end]; len(body) < 10 || strings.IndexFunc(body, isDigit) < 0 || dummy(body) {
		return 0, 0
	}
	return p, end
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// discord finds a bot's token: the bot's id in base64, a time, a signature.
func discord(s string, p int) (int, int) {
	if p > 0 && is(s[p-1], under|dash|dot) {
		return 0, 0
	}
	a := run(s, p, url64, 40)
	if n := a - p; n < 24 || n > 28 || !strings.HasPrefix(s[a:], ".") {
		return 0, 0
	}
	b := run(s, a+1, url64, 10)
	if b-a-1 != 6 || !strings.HasPrefix(s[b:], ".") {
		return 0, 0
	}
	end := run(s, b+1, url64, 60)
	if n := end - b - 1; n < 27 || n > 45 || !random(s[p:a]+s[b+1:end]) {
		return 0, 0
	}
	return p, end
}

// telegram finds a bot's token by the AA after its id and a colon.
func telegram(s string, p int) (int, int) {
	if p == 0 || s[p-1] != ':' {
		return 0, 0
	}
	start := runBack(s, p-1, digit, 12)
	end := run(s, p, url64, 60)
	if id, key := p-1-start, end-p; id < 8 || id > 10 || key < 34 || key > 36 {
		return 0, 0
	}
	return start, end
}

// firebase finds Firebase's server keys (AAAA, 7 bytes, a colon, APA91b, 134
// bytes) and devices' registration tokens, with 22 bytes before the colon.
func firebase(s string, p int) (int, int) {
	end := run(s, p, url64, maxToken)
	if p == 0 || s[p-1] != ':' || end-p < 100 {
		return 0, 0
	}
	if i := p - len("AAAA1234567:"); i >= 0 && strings.HasPrefix(s[i:], "AAAA") {
		return i, end
	}
	return wordStart(s, p-1, url64, 22), end
}

// clickup finds pk_, a user's number, an underscore, 32 capitals and digits.
func clickup(s string, p int) (int, int) {
	id := run(s, p+len("pk_"), digit, 12)
	end := run(s, id+1, upper|digit, 40)
	if id == p+len("pk_") || !strings.HasPrefix(s[id:], "_") || end-id-1 != 32 {
		return 0, 0
	}
	return p, end
}

// sendgrid finds SG., 22 bytes, a dot, 43 bytes.
func sendgrid(s string, p int) (int, int) {
	from := p + len("SG.")
	a := run(s, from, url64, maxToken)
	end := run(s, a+1, url64, maxToken)
	if n := a - from; n < 16 || n > 32 || !strings.HasPrefix(s[a:], ".") || end-a-1 < 32 {
		return 0, 0
	}
	return p, end
}

// airtable finds pat, 14 bytes, a dot, 64 hexadecimal digits.
func airtable(s string, p int) (int, int) {
	a := run(s, p, alnum, 20)
	end := run(s, a+1, hex, 80)
	if a-p != len("pat")+14 || !strings.HasPrefix(s[a:], ".") || end-a-1 != 64 {
		return 0, 0
	}
	return p, end
}

// terraform finds 14 bytes, .atlasv1., 60 or more bytes.
func terraform(s string, p int) (int, int) {
	start := wordStart(s, p, alnum, 20)
	end := run(s, p+len(".atlasv1."), url64, maxToken)
	if p-start != 14 || end-p < 60 {
		return 0, 0
	}
	return start, end
}

// azureClientSecret finds three bytes, a digit, Q~, 31 to 34 bytes.
func azureClientSecret(s string, p int) (int, int) {
	start := p - 4
	if start < 0 || !is(s[p-1], digit) || runBack(s, p-1, dotted, 3) != start {
		return 0, 0
	}
	end := run(s, p+2, dotted, 60)
	if n := end - p - 2; n < 31 || n > 34 {
		return 0, 0
	}
	return start, end
}

// azureResourceKey finds keys of Azure services and DevOps by their JQQJ99.
func azureResourceKey(s string, p int) (int, int) {
	start := wordStart(s, p, alnum, 80)
	end := run(s, p, alnum, 60)
	if p-start < 50 || p-start > 54 || end-p < 24 || end-p > 40 {
		return 0, 0
	}
	return start, end
}

// pemInBase64 finds a private key block in base64, as in Kubernetes. A
// certificate begins with the same bytes.
func pemInBase64(s string, p int) (int, int) {
	head := s[p:min(len(s), p+64)]
	b, _ := base64.StdEncoding.DecodeString(head)
	if !strings.Contains(string(b), "PRIVATE KEY") {
		return 0, 0
	}
	end := p
	for end < len(s) && (is(s[end], std64) || s[end] == '=') {
		end++
	}
	return p, end
}

// resend finds re_, 8 bytes, an underscore, 24 bytes.
func resend(s string, p int) (int, int) {
	end := run(s, p, token, 60)
	body := s[p+len("re_") : end]
	if len(body) != 33 || body[8] != '_' || !random(body[9:]) {
		return 0, 0
	}
	return p, end
}

// shaped examines the word s[start:end] for tokens without a prefix.
func (c *scanner) shaped(start, end int, seen uint8) {
	w := strings.TrimRight(c.s[start:end], ".")
	end = start + len(w)
	switch {
	case len(w) == 50 && seen == hex|dash && w[32] == '-' && w[41] == '-' && run(w, 0, hex, 50) == 32:
		c.found("mailgun-key", start, end)
	case (len(w) == 36 || len(w) == 37) && strings.HasPrefix(w[32:], "-us") && run(w, 0, hex, 36) == 32:
		c.found("mailchimp-key", start, end)
	case seen&^hex == 0 && strings.HasSuffix(c.s[:start], "$") && len(w) == 32:
		// Braintree: access_token$production$<16 bytes>$<32 bytes>
		id := runBack(c.s, start-1, alnum, 20)
		low := max(0, id-30)
		head, ok := strings.CutSuffix(c.s[low:id], "$")
		i := strings.LastIndex(head, "access_token$")
		if ok && i >= 0 && run(head, i+len("access_token$"), lower|hexLower, 20) == len(head) {
			c.found("paypal-token", low+i, end)
		}
	}
}

// path examines the path s[start:end] for web addresses that end in a secret.
func (c *scanner) path(start, end int) {
	w := c.s[start:end]
	if !strings.Contains(w, "hook") {
		return
	}
	if host, after, ok := strings.Cut(w, "hooks.slack.com/"); ok && len(after) >= 30 {
		switch kind, _, _ := strings.Cut(after, "/"); kind {
		case "services", "workflows", "triggers":
			if dummy(after[strings.LastIndexByte(after, '/')+1:]) {
				return
			}
			c.found("slack-webhook", start+len(host)+len("hooks.slack.com/")+len(kind)+1, end)
		}
	}
	if host, after, ok := strings.Cut(w, "/api/webhooks/"); ok && strings.Contains(host, "discord") {
		if id, secret, ok := strings.Cut(after, "/"); ok && run(id, 0, digit, 24) == len(id) && len(secret) >= 60 {
			c.found("discord-webhook", end-len(secret), end)
		}
	}
	// <tenant>.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/...
	if _, secret, ok := strings.Cut(w, "/IncomingWebhook/"); ok && start > 0 && c.s[start-1] == '@' && len(secret) >= 32 {
		c.found("teams-webhook", end-len(secret), end)
	}
}

// awsSecretNear finds the secret of the AWS access key id s[start:end], within
// 200 bytes.
func (c *scanner) awsSecretNear(start, end int) {
	const reach = 200
	low, high := max(0, start-reach), min(len(c.s), end+reach)
	for i := low; i < high; {
		if !is(c.s[i], std64) || i > 0 && is(c.s[i-1], std64|under|dash) {
			i++
			continue
		}
		e := run(c.s, i, std64, maxToken)
		if awsSecret(c.s[i:e]) {
			c.found("aws-secret-key", i, e)
		}
		i = e + 1
	}
}

// awsSecret reports whether w can be an AWS secret: 40 bytes of base64. A git
// hash is as long but has no capitals.
func awsSecret(w string) bool {
	return len(w) == 40 && run(w, 0, std64, 40) == 40 &&
		strings.IndexFunc(w, isUpper) >= 0 && strings.IndexFunc(w, isLower) >= 0 && strings.IndexFunc(w, isDigit) >= 0
}

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }
func isLower(r rune) bool { return 'a' <= r && r <= 'z' }
