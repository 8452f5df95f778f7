package redact

import (
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestWorst: no text takes redaction long, however often what a rule begins with is in it.
func TestWorst(t *testing.T) {
	gittest.Check(t)
	const size = 256 << 10
	rules := New(Own{Names: []string{"Schmidt"}, People: true, Patterns: []string{"a+b"}})
	forms := func(text string) (list []func()) {
		for _, segment := range []string{text, `{"a":"` + text + `"}`, `["` + strings.ReplaceAll(text, "\n", `","`) + `"]`, "[" + text + "1]", "{" + text + `"a":1}`} {
			list = append(list, func() { _, _ = rules.JSONLines([]byte(segment), func(string) Part { return Content }) })
		}
		return append(list, func() { rules.String(text) })
	}
	worst.Hold(t, size/4, append(strings.Fields(`password= a= a=a "token": "a" {"d":"x", "kind":"Secret", "n":"a", "name":"API_KEY", [ { ] } \ \\ \" \u0061 \n eyJ eyJhbGciOi.
		-----BEGIN -----END 'a' https://a:b@c http://a: @ : = ghp_ sk- AKIA Authorization: Bearer Cookie: a=b; --password -p key: data: curl kind: Secret <key>
		AAAAAAAAAAAAAAAAAAAA 0123456789abcdef $2a$10$ a@b.c +49 ab Schmidt`),
		" ", "\n", "\t", "\u0301", "S\u0301", "+ ", "  1\t", "- ", "data:\n  a: ", "kind: Secret\n", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "\x1b[", "\x1b]", "\x1bP", "&#27;]", `\u001b]`), func(text string) {
		for _, redact := range forms(text) {
			redact()
		}
	})
	for _, piece := range []string{
		`\"kind":"Secret"`, `{"kind" :"Secret"},`, "kind: Secret ", "kind: Secret\n\"a\"", "kind: Secret\\n  a: b\\n", `"kind":"Secret","d":"a",`, `{"kty":"RSA","d":"a"},`,
		"ab\n", "password=hunter2x9Q\n",
	} {
		for _, redact := range forms(strings.Repeat(piece, size/len(piece))) {
			worst.Try(t, piece, redact)
		}
	}
}
