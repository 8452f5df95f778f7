package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// seeds passes the vectors to a fuzz test, bare and as records of a transcript.
func seeds(f *testing.F, add func(text string)) {
	for _, v := range vectors(f) {
		add(v.text)
	}
	for _, v := range vectors(f)[:20] {
		for _, p := range places() {
			add(p.wrap(v.text))
		}
	}
	for _, s := range []string{
		"\\", "\\u", `"\ud83d"`, "://@", "-----BEGIN PRIVATE KEY-----", "=", "\x1b[", "\xff\xfe", "{", `{"a":`, "[1,",
		"$6$a$,", "value=>", "kind: Secret", `"kind":"Secret"`, "token: [", "token:\n-", " -p", `"a", "-p`, "Cookie:", ":*:", "1:5432:", "sid\t", "identified b",
	} {
		add(s)
	}
}

// FuzzString checks that redacting twice is the same as once, and that unredacted text is
// unchanged.
func FuzzString(f *testing.F) {
	seeds(f, func(text string) { f.Add(text) })
	f.Fuzz(func(t *testing.T, s string) {
		once := String(s)
		if twice := String(once); twice != once {
			t.Errorf("String(%q)\nonce  %q\ntwice %q", s, once, twice)
		}
		if once != s && !strings.Contains(once, mark) {
			t.Errorf("String(%q) = %q, without a mark", s, once)
		}
		if got := Bytes([]byte(s)); string(got) != once {
			t.Errorf("Bytes(%q) = %q, but String gives %q", s, got, once)
		}
		// A JSON document read as text stays a JSON document.
		if doc := quote(s); !json.Valid([]byte(String(doc))) {
			t.Errorf("String(%s) = %s is not valid JSON any more", doc, String(doc))
		}
	})
}

// FuzzJSONLines checks that lines of JSON stay lines of JSON, and that redacting twice is the same
// as once.
func FuzzJSONLines(f *testing.F) {
	seeds(f, func(text string) { f.Add([]byte(text)) })
	f.Add([]byte("{\"a\":\"x\"}\n{\"token\":\"q8Zt3LmX7vKp2RcW9yNb4HdF6sGj1TaU\"}\r\n\n[]\ntorn\"}\n"))
	f.Fuzz(func(t *testing.T, segment []byte) {
		before := bytes.Clone(segment)
		once, err := JSONLines(segment)
		if err != nil {
			t.Fatalf("JSONLines(%q): %v", segment, err)
		}
		if !bytes.Equal(segment, before) {
			t.Errorf("JSONLines changed its argument from %q to %q", before, segment)
		}
		checkLines(t, segment, once)
		twice, err := JSONLines(once)
		if err != nil || !bytes.Equal(twice, once) {
			t.Errorf("JSONLines(%q)\nonce  %q\ntwice %q, %v", segment, once, twice, err)
		}
		// A record with any text as its value stays a record, and its other bytes stay.
		line := `{"uuid":"0d6f5e64-33ef-4a3b-9f3b-0c3bb8b0ff5a","content":` + quote(string(segment)) + `,"n":1}`
		got, err := JSONLines([]byte(line))
		if err != nil || !json.Valid(got) || bytes.ContainsRune(got, '\n') ||
			!bytes.HasPrefix(got, []byte(line[:57])) || !bytes.HasSuffix(got, []byte(`","n":1}`)) {
			t.Errorf("JSONLines(%s) = %s, %v", line, got, err)
		}
	})
}

// FuzzPlanted checks that a secret is removed wherever it was planted.
func FuzzPlanted(f *testing.F) {
	all := vectors(f)
	tokens := all[:0:0]
	for _, v := range all {
		if len(v.gone) > 0 {
			tokens = append(tokens, v)
		}
	}
	f.Add("some text", "and more", uint16(0), uint8(0))
	f.Add("{\"a\":\"", "\"}", uint16(7), uint8(1))
	f.Add("x = [redacted:jwt]\n", "\\", uint16(40), uint8(2))
	f.Add("-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----", uint16(100), uint8(3))
	ways := places()
	f.Fuzz(func(t *testing.T, before, after string, which uint16, way uint8) {
		v := tokens[int(which)%len(tokens)]
		p := ways[int(way)%len(ways)]
		// Line ends keep the surrounding text from becoming part of the secret's own context.
		text := before + "\n\n" + v.text + "\n\n" + after
		check := func(kind, got string) {
			for _, secret := range v.gone {
				if len(secret) > 5 && strings.Contains(got, secret) && !strings.Contains(before+after+v.want, secret) {
					t.Errorf("%s, %s: %q is still in %q", v.pos, kind, secret, got)
				}
			}
		}
		check("text", String(text))
		line := p.wrap(text)
		got, err := JSONLines([]byte(line))
		if err != nil {
			t.Fatalf("JSONLines(%q): %v", line, err)
		}
		if p.name != "no wrapping at all" {
			check("record "+p.name, p.take(string(got)))
		} else {
			check("lines", string(got))
		}
	})
}
