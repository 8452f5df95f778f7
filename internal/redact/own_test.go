package redact

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// own20 are rules such as a user may have.
var own20 = Own{
	Patterns: []string{`\bK-\d{6}\b`, `(?i)project[ -](?P<Code_Name>falcon|heron)`, `ticket (?:#(\d+)|(?<ticket>T\d+))`, `\bint\.[a-z]+\.corp\b`},
	Names:    []string{"Anna Schmidt", "Contoso", "Łukasz", "Ø Büro", "O'Brien"},
	People:   true,
}

func TestOwn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		// Patterns.
		{"customer K-123456, K-1234567, XK-123456", "customer [redacted:pattern], K-1234567, XK-123456"},
		{"Project Falcon, project-heron", "Project [redacted:code-name], project-[redacted:code-name]"},
		{"ticket #4711, ticket T12, ticket 9", "ticket #[redacted:pattern], ticket [redacted:ticket], ticket 9"},
		{"https://wiki.int.acme.corp/x", "https://wiki.[redacted:pattern]/x"},
		{"\x1b[32mK-123456\x1b[0m", "\x1b[32m[redacted:pattern]\x1b[0m"},
		// Names.
		{"Anna Schmidt, ANNA SCHMIDT, anna.schmidt, anna_schmidt, AnnaSchmidt", "[redacted:name], [redacted:name], [redacted:name], [redacted:name], [redacted:name]"},
		{"Anna met Schmidt; Annabel Schmidt; Anna Schmidtke", "Anna met Schmidt; Annabel Schmidt; Anna Schmidtke"},
		{"    12→by Anna\n    13→  Schmidt", "    12→by [redacted:name]"},
		{"+by Anna\n+Schmidt\n", "+by [redacted:name]\n"},
		{"Anna       Schmidt  4711\n\x1b[1mAnna\x1b[0m Schmidt", "[redacted:name]  4711\n\x1b[1m[redacted:name]"}, // columns, colours
		{"?who=Anna%20Schmidt&x", "?who=[redacted:name]&x"},
		{"contoso.com CONTOSO_URL contosoUrl kontoso", "[redacted:name].com [redacted:name]_URL contosoUrl kontoso"},
		{"łukasz ŁUKASZ Łukasza", "[redacted:name] [redacted:name] Łukasza"},
		{"ø büro", "[redacted:name]"},
		{"o’brien OBrien O-Brien", "[redacted:name] [redacted:name] [redacted:name]"},
		{"Contoso\u0301", "Contoso\u0301"}, // another letter at its end
		// Addresses.
		{"write to <jo.doe+x@mail.example.org>, or JO@EXAMPLE.CO.", "write to <[redacted:email]>, or [redacted:email]."},
		{"mailto:jo%40example.org?x", "mailto:[redacted:email]?x"},
		{"jürgen@müller.de", "[redacted:email]"},
		{"//jo@example.org // jo@example.org", "//[redacted:email] // [redacted:email]"},
		{"Co-Authored-By: Jo Doe <jo@example.org>", "Co-Authored-By: Jo Doe <[redacted:email]>"},
		{"Co-Authored-By: Claude <noreply@example.com>", ""},
		{"1+jo@users.noreply.example.com", "[redacted:email]"},
		{"git@example.com:o/r.git", ""},
		{"url.X@m.Version user@1000.service «»@h.de https://jo%2Fx@h.example.com/", ""},
		{"<%3Cjo%40example.org%3E> see https://x.org/a?b=jo@example.org", "<%3C[redacted:email]%3E> see https://x.org/a?b=[redacted:email]"},
		{"ssh://jo@example.com/x jo@host @scope/pkg@1.2.3 mod@v0.12.0 mod@v1.2.3-rc.one", ""},
		{"icon@2x.png icon@3x.jpg jo@2xy.org", "icon@2x.png icon@3x.jpg [redacted:email]"},
		{"a@b.T(c) x[i]@y.z @dataclass.field user@localhost a@b@c", ""},
		// Telephone numbers.
		{"+49 30 123456, +4930123456, +1 (212) 555-0142, +44 (0)20 7946 0958", "+[redacted:phone], [redacted:phone], [redacted:phone], [redacted:phone]"},
		{"0049 30 1234567; 030 1234567; 030/1234567; (030) 1234567; 0171-1234567", "[redacted:phone]; [redacted:phone]; [redacted:phone]; [redacted:phone]; [redacted:phone]"},
		{"01 23 45 67 89, 01.23.45.67.89, 020 7946 0958, 07700 900123", "[redacted:phone], [redacted:phone], [redacted:phone], [redacted:phone]"},
		{"212-555-0142, (212) 555-0142, 212.555.0142, 1-212-555-0142", "[redacted:phone], [redacted:phone], [redacted:phone], [redacted:phone]"},
		{"Tel.: 5550142, phone=4915112345678, \"mobile_no\": \"017112345678\"", "Tel.: [redacted:phone], phone=[redacted:phone], \"mobile_no\": \"[redacted:phone]\""},
		{"tel:+4930123456 ?to=%2B4930123456", "tel:[redacted:phone] ?to=[redacted:phone]"},
		{"x\n+4930123456\nx", "x\n+[redacted:phone]\nx"},
		{"@@ -1,2 +1,2 @@\n+4930123456\n", ""}, // a diff of numbers
		{" one\n+1700000000\n-1700000001\n", ""},
		{"     9→030 1234567\n    10\t0171 1234567\n+030 1234567", "     9→[redacted:phone]\n    10\t[redacted:phone]\n+[redacted:phone]"},
		// What is no number of a telephone.
		{"2026-11-29T10:30:00+01:00 2026-11-29 10:30 29.11.2026 01/02/2026 10:30 01-02-2026", ""},
		{"192.168.100.200 10.0.0.1:8080 2001:db8:85a3::8a2e:370:7334 1.2.3 v1.26.8 0.123456789 3.14159265358979", ""},
		{"550e8400-e29b-41d4-a716-446655440000 8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a 01234567-8901-2345-6789-012345678901", ""},
		{"$1,234,567.89 1.234.567,89 € 1 234 567 4111 1111 1111 1111 DE89 3704 0044 0532 0130 00 978-3-16-148410-0", ""},
		{"@@ -1234,56 +1234567,89 @@ file.go:1234567: x+12345678 e+1234567890 1795220369 1795220369562", ""},
		{"MA 02110-1301 USA # 00CC; 0069 0307 0300; 00400000-07000000 total +300  9  60  21", ""},
		{" 234 567 8901 total\n0644 1234567 file\n00000000: 01 23 45 67 89 ab cd ef\n0000010 0123 4567 8901 2345", ""},
		{"12345678901234567890 0123456789 00123456789 0x0123456789 #0123-456789", ""},
	} {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		r := New(own20)
		if got := r.String(tt.in); got != want {
			t.Errorf("String(%q)\n got %q\nwant %q", tt.in, got, want)
		}
	}
}

// TestOwnDecomposed: a letter and its mark are one sign, or two as in names of files on macOS, in the rules and in the text.
func TestOwnDecomposed(t *testing.T) {
	t.Parallel()
	const u, a, e = "u\u0308", "a\u0308", "e\u0301"
	for _, tt := range []struct{ in, want string }{
		{"Jörg Müller, JO\u0308RG M" + strings.ToUpper(u) + "LLER, jo\u0308rg.m" + u + "ller, Jörg M" + u + "ller", "[redacted:name], [redacted:name], [redacted:name], [redacted:name]"},
		{e + "x Ren" + e + ", René: 1\n" + e, e + "x [redacted:name], [redacted:name]: 1\n" + e},
		{"Rene, Muller; Ren" + e + "e; M" + u + "llerin", "Rene, Muller; Ren" + e + "e; M" + u + "llerin"},
		{"projekt-B" + a + "r-12 Projekt-Bär-3 projekt-Bar-3 " + u, "[redacted:pattern] [redacted:pattern] projekt-Bar-3 " + u},
		{u + " Stra\u030aum-77 Str\u00e5um-78 \x1b[32mStra\u030aum-7\x1b[0m", u + " [redacted:pattern] [redacted:pattern] \x1b[32m[redacted:pattern]\x1b[0m"},
		{"e\u0301\xff\x80Ren" + e + "\xcc", "e\u0301\xff\x80[redacted:name]\xcc"},
		{"x\\u0308 Ren\\u0065\\u0301 \\\"Ren" + e + "\\\"", "x\\u0308 [redacted:name] \\\"[redacted:name]\\\""},
		{"jo@m" + u + "ller.example.org", "[redacted:email]"},
		{strings.Repeat("o\u0301", 3) + strings.Repeat("\u0301", 100) + " Ren" + e, strings.Repeat("o\u0301", 3) + strings.Repeat("\u0301", 100) + " [redacted:name]"},
	} {
		r := New(Own{Names: []string{"Jörg M" + u + "ller", "René"}, Patterns: []string{`(?i)projekt-Bär-\d+`, "Stra\u030aum-\\d+"}, People: true})
		if got := r.String(tt.in); got != tt.want {
			t.Errorf("String(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
	if got := New(Own{Patterns: []string{`e\x{301}`}}).String("re" + e); got != "re[redacted:pattern]" {
		t.Errorf("a mark by its number: %q", got)
	}
}

func TestOwnInRecords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{
			"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\\u0041nna\\nSchmidt \\\"K-123456\\\" jo\\u0040example.org\"}}",
			"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"[redacted:name] \\\"[redacted:pattern]\\\" [redacted:email]\"}}",
		},
		{`{"a":"x\\nContoso \\\"Contoso\\\""}`, `{"a":"x\\n[redacted:name] \\\"[redacted:name]\\\""}`}, // JSON in JSON
		{`{"phone":"(030) 1234567","telefonnummer":"5550142","faxes":"5550142"}`, `{"phone":"[redacted:phone]","telefonnummer":"[redacted:phone]","faxes":"5550142"}`},
		{`{"input":{"phone":4915112345678,"port":4915112345678,"mobile":[4915112345678]}}`, `{"input":{"phone":0,"port":4915112345678,"mobile":[0]}}`},
		{`{"input":{"jo@example.org":1,"name":"Contoso","id":"K-123456"}}`, `{"input":{"[redacted:email]":1,"name":"[redacted:name]","id":"[redacted:pattern]"}}`},
		{`{"name":"of Contoso"}`, `{"name":"of [redacted:name]"}`},
		{`{"name":"Contoso","id":"K-123456"}`, ""}, // of a record, not of what a tool was given
		{`{"lines":["+by Anna","+Schmidt","-Contoso"]}`, `{"lines":["+by [redacted:name]","[redacted:name]","-[redacted:name]"]}`},
		{"{\"a\":\"torn Contoso\n{\"b\":\"Contoso\"}", "{\"a\":\"torn [redacted:name]\n{\"b\":\"[redacted:name]\"}"},
	} {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if got, err := New(own20).JSONLines([]byte(tt.in), client); err != nil || string(got) != want {
			t.Errorf("JSONLines(%s)\n got %s, %v\nwant %s", tt.in, got, err, want)
		}
	}
	numbers := New(Own{Patterns: []string{`\b4711\d{4}\b`}})
	in, want := `{"tokens":47110001,"input":{"customer":47110001,"n":[1,-47110002.5e3,true]}}`, `{"tokens":47110001,"input":{"customer":0,"n":[1,0,true]}}`
	if got, err := numbers.JSONLines([]byte(in), client); err != nil || string(got) != want {
		t.Errorf("numbers: %s, %v, want %s", got, err, want)
	}
}

// What is wrong with rules is told without quoting them, and no text passes.
func TestOwnInvalid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, want string }{
		{`K-(\d`, "pattern 2: missing closing )"},
		{`(?!x)y`, "pattern 2: invalid or unsupported Perl syntax"},
		{`(a)\1`, "pattern 2: invalid escape sequence"},
		{`x*`, "pattern 2: it matches the empty text"},
		{`|a`, "pattern 2: it matches the empty text"},
		{`.+`, "pattern 2: it matches nearly everything"},
		{`(?s).{3}`, "pattern 2: it matches nearly everything"},
		{`\w+`, "pattern 2: it matches nearly everything"},
		{`[a-z]`, "pattern 2: it matches nearly everything"},
		{`(?<purged>x)`, "pattern 2: a group's name has at most 30 letters, and is not purged"},
		{`(?<a234567890123456789012345678901>x)`, "pattern 2: a group's name has at most 30 letters, and is not purged"},
		{"x{490}", ""},
		{"x{510}", "pattern 2: it, or the patterns up to it, are too large to be fast"},
		{"(a?){1000}b", "pattern 2: it, or the patterns up to it, are too large to be fast"},
		{`(?:x{1000}){1000}`, "pattern 2: invalid repeat count"},
		{`\bK-\d{6}\b`, ""},
	} {
		r := New(Own{Patterns: []string{"ok", tt.pattern}})
		err := r.Err()
		if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%s: %v, want %q", tt.pattern, err, tt.want)
		}
		if err != nil {
			shut(t, r)
		}
	}
	shut(t, Invalid(errors.New("not known")))
}

// shut checks that no text passes.
func shut(t *testing.T, r *Rules) {
	t.Helper()
	if got := r.String("hello"); got != "[redacted:unchecked]" || r.String(got) != got || r.String("") != "" {
		t.Errorf("String: %q", got)
	}
	if got := r.Bytes([]byte("hello")); string(got) != "[redacted:unchecked]" {
		t.Errorf("Bytes: %q", got)
	}
	if got, err := r.JSONLines([]byte("{}"), client); err == nil {
		t.Errorf("JSONLines: %q", got)
	}
}

// Without rules of a user's own nothing is made.
func TestOwnNone(t *testing.T) {
	t.Parallel()
	if r := New(Own{}); r != nil || r.Err() != nil {
		t.Errorf("New = %v", r)
	}
	image := `{"data":"` + strings.Repeat("iVBORw0KGgo/Max+AAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 20) + `"}`
	got, err := New(Own{Names: []string{"Max"}, Patterns: []string{`A{4}`}}).JSONLines([]byte(image), client)
	if gittest.Must(t, err); string(got) != image {
		t.Errorf("an image has changed: %s", got)
	}
}

// What real clients have written has addresses of nobody, and no telephone number.
func TestPeopleRecorded(t *testing.T) {
	t.Parallel()
	r := New(Own{People: true})
	for name, data := range recorded(t) {
		got, err := r.JSONLines(data, client)
		if gittest.Must(t, err); string(got) != string(data) {
			t.Errorf("%s changed: %v", name, Count(got))
		}
		if got := r.String(string(data)); got != string(data) {
			t.Errorf("%s, read as text, changed: %v", name, Count([]byte(got)))
		}
	}
}
