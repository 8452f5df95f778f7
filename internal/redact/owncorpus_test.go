package redact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"gitagent/test/gittest"
)

// forms are what a user's own rules find, with rules that find them. [d] and [a] are holes of a
// [generator].
var forms = []struct {
	own  Own
	form string
}{
	{Own{Patterns: []string{`\bK-\d{6}\b`}}, "K-[d6]"},
	{Own{Patterns: []string{`(?i)acme_[0-9a-z]{10}`}}, "acme_[a10]"},
	{Own{Patterns: []string{`\b[A-Z]{2}\d{2}(?: \d{4}){4} \d{2}\b`}}, "DE[d2] [d4] [d4] [d4] [d4] [d2]"},
	{Own{Patterns: []string{`\b\d{4}-\d{4}-\d{4}\b`}}, "[d4]-[d4]-[d4]"},
	{Own{Names: []string{"Anna Schmidt"}}, "Anna Schmidt"},
	{Own{Names: []string{"Anna Schmidt"}}, "anna.schmidt"},
	{Own{Names: []string{"Łukasz Żuk"}}, "ŁUKASZ ŻUK"},
	{Own{Names: []string{"Contoso"}}, "contoso"},
	{Own{Names: []string{"Blue Heron"}}, "blue-heron"},
	{Own{People: true}, "jo.[a8]@mail.example.org"},
	{Own{People: true}, "[a6]_[a4]+x@example-[d2].co.uk"},
	{Own{People: true}, "jürgen.[a5]@müller.de"},
	{Own{People: true}, "+49 30 [d8]"},
	{Own{People: true}, "+44 20 7[d3] [d4]"},
	{Own{People: true}, "+4915[d9]"},
	{Own{People: true}, "+1 (212) 555-[d4]"},
	{Own{People: true}, "0049 171 [d7]"},
	{Own{People: true}, "030 [d8]"},
	{Own{People: true}, "0171/[d7]"},
	{Own{People: true}, "(030) [d7]"},
	{Own{People: true}, "01 2[d1] 4[d1] [d2] [d2]"},
	{Own{People: true}, "212-555-[d4]"},
	{Own{People: true}, "(212) 555-[d4]"},
	{Own{People: true}, "212.555.[d4]"},
}

// TestOwnCorpus measures what a user's own rules find, by form and context, as [TestCorpus] does for
// the built-in ones. Run it with -v for the figures.
func TestOwnCorpus(t *testing.T) {
	t.Parallel()
	rounds := gittest.Size(20, 1)
	n, found := 0, 0
	for at, c := range contexts {
		for i, f := range forms {
			g := newGenerator(7000 + 100*at + i)
			r := New(f.own)
			for range rounds {
				text, _ := shape{text: f.form}.make(g)
				for _, wrapped := range []string{c.bare(text), c.text(text)} {
					n++
					if where := spelled(t, r, wrapped, text); where == "" {
						found++
					} else {
						t.Logf("%s: %s in %s stays as %s", c.name, text, where, wrapped)
					}
				}
			}
		}
	}
	t.Logf("%d forms in %d surroundings: %.4f of %d found", len(forms), len(contexts), float64(found)/float64(n), n)
	if found*1000 < n*995 {
		t.Errorf("%d of %d found", found, n)
	}
}

// spelled returns where a text stays, read in each way that records have.
func spelled(t *testing.T, r *Rules, wrapped, text string) string {
	t.Helper()
	if got := r.String(wrapped); strings.Contains(got, text) || r.String(got) != got {
		return "text"
	}
	for _, p := range places() {
		if p.name == "no wrapping at all" {
			continue
		}
		line := p.wrap(wrapped)
		got, err := r.JSONLines([]byte(line), client)
		if err != nil || !json.Valid(got) {
			t.Fatalf("JSONLines(%s) = %s, %v", line, got, err)
		}
		if again, err := r.JSONLines(got, client); err != nil || string(again) != string(got) {
			t.Errorf("JSONLines twice\nonce  %s\ntwice %s, %v", got, again, err)
		}
		if strings.Contains(p.take(string(got)), text) {
			return p.name
		}
		if strings.Contains(p.take(r.String(line)), text) {
			return p.name + " as text"
		}
	}
	line := patch(wrapped)
	if got, err := r.JSONLines([]byte(line), client); err != nil || strings.Contains(string(got), text) {
		return "a patch"
	}
	return ""
}

// FuzzOwn checks rules of any pattern and name: that they never panic, that JSON stays JSON, that
// redacting twice is the same as once, and that nothing goes without a mark.
func FuzzOwn(f *testing.F) {
	for i, own := range forms {
		f.Add(strings.Join(own.own.Patterns, "|"), strings.Join(own.own.Names, ""), own.form, i%2 == 0)
	}
	for _, pattern := range []string{`^a`, `a$`, `(?m)^.`, `\]a`, `a?\[`, `[^b]b`, `redacted`, `\bx`, `\n`, `a\n`, `(a)|(?<b_C>b)`, `\\`, `"`, `\d`, `[redacted:pattern]`, `u0`} {
		f.Add(pattern, "A b", `aaaa{"a":"aab\n\"b\\u0062","n":12} [redacted:x]aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab`+"\n", true)
	}
	f.Fuzz(func(t *testing.T, pattern, name, s string, people bool) {
		o := Own{People: people}
		if pattern != "" {
			o.Patterns = []string{pattern}
		}
		if strings.IndexFunc(name, unicode.IsLetter) >= 0 {
			o.Names = []string{name}
		}
		began := time.Now()
		defer func() {
			if d := time.Since(began); d > time.Second {
				t.Errorf("SLOW %v", d)
			}
		}()
		r := New(o)
		if r.Err() != nil {
			shut(t, r)
			return
		}
		once := r.String(s)
		if twice := r.String(once); twice != once {
			t.Errorf("String(%q)\nonce  %q\ntwice %q", s, once, twice)
		}
		if once != s && !strings.Contains(once, mark) {
			t.Errorf("String(%q) = %q, without a mark", s, once)
		}
		record := `{"uuid":"0d6f5e64-33ef-4a3b-9f3b-0c3bb8b0ff5a","content":` + quote(s) + `,"input":{"a":[` + quote(s) + `,` + quote(name) + `],` + quote(s) + `:12}}`
		for _, segment := range []string{s, record, s + "\n" + record, record + "\n" + s} {
			got, err := r.JSONLines([]byte(segment), client)
			if err != nil {
				if !strings.Contains(err.Error(), errEndless.Error()) {
					t.Fatalf("JSONLines(%q): %v", segment, err)
				}
				continue
			}
			checkLines(t, []byte(segment), got)
			if again, err := r.JSONLines(got, client); err != nil || string(again) != string(got) {
				t.Errorf("JSONLines(%q)\nonce  %q\ntwice %q, %v", segment, got, again, err)
			}
		}
		got, err := r.JSONLines([]byte(record), client)
		if err == nil && !strings.HasPrefix(string(got), record[:57]) {
			t.Errorf("JSONLines(%s) = %s", record, got)
		}
	})
}

// BenchmarkOwn measures 20 KB of a transcript with a user's own rules: none, a few, as many as there
// may be, and the slowest.
func BenchmarkOwn(b *testing.B) {
	segment := recorded(b)["../../testdata/transcripts/five-turns.jsonl"][:20<<10]
	many := Own{People: true}
	for i := range MaxPatterns {
		many.Patterns = append(many.Patterns, fmt.Sprintf(`\bK%d-\d{6}\b`, i))
	}
	for i := range MaxNames {
		many.Names = append(many.Names, fmt.Sprintf("Anna Schmidt%d", i))
	}
	for _, tt := range []struct {
		name string
		own  Own
	}{
		{"none", Own{}},
		{"people", Own{People: true}},
		{"names", Own{Names: many.Names}},
		{"few", own20},
		{"all", many},
		{"slow", Own{Patterns: slices.Repeat([]string{`(?:[a-z" ]{0,90}[^a-z]){10}[~|]`}, 2)}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(segment)))
			if err := New(tt.own).Err(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := New(tt.own).JSONLines(segment, client); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
