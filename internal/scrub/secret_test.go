package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// spellings are ways to write a text. Each is decoded by one layer.
var spellings = map[string]func(string) string{
	"as it is":      func(s string) string { return s },
	"JSON":          func(s string) string { return quoted(s, false) },
	"JSON for HTML": func(s string) string { return quoted(s, true) },
	"JSON, all": func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
		return b.String()
	},
	"query":         url.QueryEscape,
	"path":          url.PathEscape,
	"HTML":          html.EscapeString,
	"HTML, numbers": func(s string) string { return each(s, "&#%d;") },
	"hex":           func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":           func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base64":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, at 1":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "yz")) },
	"base64, at 2":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("xy" + s + "z")) },
	"base64, wrapped": func(s string) string {
		return wrap(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x ", 60)+s+strings.Repeat(" y", 60))), "\n")
	},
	"base64, CRLF": func(s string) string {
		return wrap(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x ", 60)+s)), "\r\n")
	},
	"shell": func(s string) string {
		return strings.NewReplacer(`\`, `\\`, "$", `\$`, `"`, `\"`, "'", `\'`, "&", `\&`, "!", `\!`).Replace(s)
	},
	"shell, quoted": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	"C":             func(s string) string { return bytewise(s, `\x%02x`) },
	"octal":         func(s string) string { return bytewise(s, `\%03o`) },
	"UTF-16":        func(s string) string { return sixteen(s, 0) },
	"UTF-16, BE":    func(s string) string { return sixteen(s, 1) },
	"colours":       func(s string) string { return s[:4] + "\x1b[0;31m" + s[4:] + "\x1b[0m" },
	"a link":        func(s string) string { return s[:5] + "\x1b]8;;http://example.invalid\x1b\\" + s[5:] },
	"wrapped":       func(s string) string { return s[:5] + "\n" + s[5:] },
	"indented":      func(s string) string { return s[:5] + "\n    " + s[5:] },
}

func quoted(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(s)
	return strings.TrimSpace(b.String())[1 : b.Len()-2]
}

func each(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func bytewise(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func wrap(s, end string) string {
	var lines []string
	for part := range slices.Chunk([]byte(s), 76) {
		lines = append(lines, string(part))
	}
	return strings.Join(lines, end)
}

func sixteen(s string, zero int) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		pair := [2]byte{c, c}
		pair[1-zero] = 0
		b.Write(pair[:])
	}
	return b.String()
}

// secretsOf are random ones: with signs that escapes are for, without, long and short.
func secretOf(r *rand.Rand) string {
	const letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	const signs = letters + `"\/&<>'$%+=!`
	alphabet := letters
	if r.IntN(2) == 0 {
		alphabet = signs
	}
	b := make([]byte, 10+r.IntN(40))
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func fixed(t testing.TB, s string) *Finder {
	t.Helper()
	f, err := Fixed([]byte(s))
	gittest.Must(t, err)
	return f
}

func remembers(s string) *Finder {
	m := new(Memory)
	m.Add([]byte("something else"), []byte(s))
	return m.Finder()
}

const before, after = "It said ", " and went on, 12 times.\n"

// TestSpellings finds a secret in each spelling, and in each spelling of each spelling that people meet.
func TestSpellings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range gittest.Size(200, 20) {
		s := secretOf(r)
		for _, f := range []*Finder{fixed(t, s), remembers(s)} {
			for outer, spell := range spellings {
				for _, inner := range []string{"as it is", "JSON", "query", "HTML", "base64", "colours", "shell", "hex"} {
					text := spell(before + spellings[inner](s) + after)
					if strings.HasPrefix(outer, "base64") || strings.HasPrefix(outer, "hex") || outer == "HEX" || outer == "colours" || outer == "a link" || outer == "wrapped" || outer == "indented" {
						text = before + spell(spellings[inner](s)) + after
					}
					if inner == "colours" && (outer == "colours" || outer == "a link" || outer == "wrapped" || outer == "indented") {
						continue // no terminal shows that
					}
					clean := f.Replace([]byte(text))
					if bytes.Equal(clean, []byte(text)) {
						t.Fatalf("%q, in %s of %s, is not found in %q", s, outer, inner, text)
					}
					if again := f.Replace(clean); !bytes.Equal(again, clean) {
						t.Fatalf("%q, in %s of %s: %q became %q, and then %q", s, outer, inner, text, clean, again)
					}
				}
			}
		}
	}
}

// Amid what is no text, a text is found in each spelling as well; and as often as it is there.
func TestAmidNoise(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	noise := func() string {
		b := []byte{1}
		for range 200 {
			b = append(b, byte(r.Uint32()))
		}
		return string(append(b, 1))
	}
	for range 20 {
		s := secretOf(r)
		f := fixed(t, s)
		for name, spell := range spellings {
			part := before + spell(s) + after
			if name == "UTF-16" || strings.HasPrefix(name, "UTF-16") {
				part = spell(before + s + after)
			}
			text := noise() + part + noise() + part + noise()
			clean := f.Replace([]byte(text))
			if n := bytes.Count(clean, []byte(Mark)); n < 2 {
				t.Fatalf("%q, in %s amid noise, is found %d times", s, name, n)
			}
			if again := f.Replace(clean); !bytes.Equal(again, clean) {
				t.Fatalf("%q, in %s amid noise: it is found again", s, name)
			}
		}
	}
	// Decoded in the same way, two parts are two.
	f := fixed(t, "hunter2-secret-key")
	coded := base64.StdEncoding.EncodeToString([]byte(`{"a":"hunter2\u002dsecret-key"}`))
	if got := f.Spans([]byte(coded + " and " + coded + " and " + coded)); len(got) != 3 {
		t.Errorf("of three there are %v", got)
	}
}

func TestNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		s := secretOf(r)
		f := fixed(t, s)
		for name, spell := range spellings {
			text := spell(before + secretOf(r) + after)
			if got := f.Replace([]byte(text)); string(got) != text {
				t.Fatalf("%q was found in %s, %q", s, name, text)
			}
		}
	}
}

func TestReplace(t *testing.T) {
	const s = `p&ss "word" 7`
	long := base64.StdEncoding.EncodeToString([]byte("user:" + s + "@host"))
	for _, test := range []struct{ name, in, want string }{
		{"plain", `a ` + s + ` b`, `a ` + Mark + ` b`},
		{"twice", s + s, Mark + Mark},
		{"nothing", "p&ss word", "p&ss word"},
		{"in a string", `{"a":"x p&ss \"word\" 7 y"}`, `{"a":"x ` + Mark + ` y"}`},
		{"JSON in JSON", `{"a":"{\"b\":\"p\\u0026ss \\\"word\\\" 7\"}"}`, `{"a":"{\"b\":\"` + Mark + `\"}"}`},
		{"a whole run", "auth " + long + " end", "auth " + Mark + " end"},
		{"cut at its end", "said p&ss \"w… then", "said " + Mark + "… then"},
		{"cut at its beginning", "…word\" 7 then", "…" + Mark + " then"},
		{"cut, but short", "said p&s… then", "said p&s… then"},
		{"colours", "p&ss \x1b[31m\"word\"\x1b[0m 7.", Mark + "."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(fixed(t, s).Replace([]byte(test.in))); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestMargins finds a secret of several lines in what lists it.
func TestMargins(t *testing.T) {
	const s = "first line\nsecond line\nthird"
	for name, in := range map[string]string{
		"a diff":     "@@ -1 +1,3 @@\n+first line\n+second line\n+third\n",
		"a listing":  "     7→first line\n     8→second line\n     9→third\n",
		"tabs":       "7\tfirst line\n8\tsecond line\n9\tthird\n",
		"grep":       "7:first line\n8:second line\n9-third\n",
		"a citation": "> first line\n> second line\n> third\n",
		"JSON":       `"     7→first line\n     8→second line\n     9→third\n"`,
	} {
		got := string(fixed(t, s).Replace([]byte(in)))
		if strings.Contains(got, "second") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLines finds a secret of several lines whose own signs look like those of a diff, however it is listed.
func TestLines(t *testing.T) {
	const s = "-----BEGIN IT-----\n+first line\n  - second\n\nthird==\n-----END IT-----"
	prefixed := func(format string) string {
		var b strings.Builder
		for n, line := range strings.Split(s, "\n") {
			fmt.Fprintf(&b, format+"\n", n+1, line)
		}
		return b.String()
	}
	for name, in := range map[string]string{
		"removed":        "@@ -1,6 +0,0 @@\n" + prefixed("-%[2]s"),
		"added":          "@@ -0,0 +1,6 @@\n" + prefixed("+%[2]s"),
		"unchanged":      "@@ -1,6 +1,6 @@\n" + prefixed(" %[2]s"),
		"two parents":    "@@@ -1,6 -1,6 +1,6 @@@\n" + prefixed("--%[2]s"),
		"of one of them": "@@@ -1,6 -1,6 +1,6 @@@\n" + prefixed(" -%[2]s"),
		"CRLF":           strings.ReplaceAll(s, "\n", "\r\n"),
		"indented":       "key: |\n" + prefixed("    %[2]s"),
		"a listing":      prefixed("%6d\t%s"),
		"that and CRLF":  prefixed("%6d→%s\r"),
	} {
		text := []byte("it is\n" + in + "\nand goes on")
		for said, text := range map[string][]byte{"": text, " in JSON": []byte(quoted(string(text), false)), " in base64": []byte(base64.StdEncoding.EncodeToString(text))} {
			for how, f := range map[string]*Finder{"": fixed(t, s), ", from CRLF": fixed(t, strings.ReplaceAll(s, "\n", "\r\n")), ", remembered": remembers(s)} {
				clean := f.Replace(text)
				if bytes.Contains(clean, []byte("second")) || said == " in base64" && bytes.Equal(clean, text) {
					t.Errorf("%s%s%s: %q", name, said, how, clean)
				}
				if said != " in base64" && !bytes.HasSuffix(clean, []byte("and goes on")) {
					t.Errorf("%s%s%s: too much is gone: %q", name, said, how, clean)
				}
				if again := f.Replace(clean); !bytes.Equal(again, clean) {
					t.Errorf("%s%s%s: it is found again in %q", name, said, how, clean)
				}
			}
		}
	}
	f := fixed(t, s)
	for name, in := range map[string]string{
		"who wrote it": prefixed("1a2b3c4d (Dev 2026-11-20 12:00:00 +0000 %2d) %s"),
		"grep":         prefixed("conf/key.pem:%d:%s"),
		"a heredoc":    prefixed("\t\t\t# %[2]s"),
	} {
		if found := f.Found([]byte(in)); len(found) != 1 || string(found[0]) != s {
			t.Errorf("%s: found %q", name, found)
		}
	}
	for _, in := range []string{strings.ReplaceAll(s, "second", "other"), "-----BEGIN IT-----\n", "-----BEGIN IT-----\n-----END IT-----"} {
		if got := f.Spans([]byte(in)); len(got) > 0 {
			t.Errorf("%q: found at %v", in, got)
		}
	}
}

func TestReplaceJSON(t *testing.T) {
	for _, test := range []struct{ name, pattern, in, want string }{
		{"a value", `hunter\d+`, `{"a":"hunter22","b":[1,"x"]}`, `{"a":"` + Mark + `","b":[1,"x"]}`},
		{"a key", `hunter\d+`, `{"hunter22":1}`, `{"` + Mark + `":1}`},
		{"a number", `4711\d+`, `{"a":471122,"b":2}`, `{"a":0,"b":2}`},
		{"half an escape", `nfoobar`, `{"a":"x\nfoobar"}`, `{"a":"` + Mark + `"}`},
		{"across values", `one","b":"two`, `{"a":"one","b":"two","c":"three"}`, `{"a":"` + Mark + `","` + Mark + `":"` + Mark + `","c":"three"}`},
		{"lines", `hunter\d+`, "{\"a\":\"hunter22\"}\nhunter22 {\n{}\n", "{\"a\":\"" + Mark + "\"}\n" + Mark + " {\n{}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := Match(test.pattern)
			gittest.Must(t, err)
			if got := string(f.ReplaceJSON([]byte(test.in))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFound(t *testing.T) {
	f, err := Match(`sk-[a-z]{8}`)
	gittest.Must(t, err)
	got := f.Found([]byte("sk-abcdefgh, c2stYWJjZGVmZ2g= and sk\\u002dijklmnop"))
	if want := "sk-abcdefgh sk-ijklmnop"; string(bytes.Join(got, []byte(" "))) != want {
		t.Errorf("%q, want %s", got, want)
	}
}

func TestBadPatterns(t *testing.T) {
	for _, pattern := range []string{"", "a*", "(", "x|", "^"} {
		if _, err := Match(pattern); err == nil || pattern == "(" && strings.Contains(err.Error(), "(") {
			t.Errorf("Match(%q): %v", pattern, err)
		}
	}
	if _, err := Fixed([]byte("short")); err == nil {
		t.Error("a short text is taken")
	}
}

func TestLearn(t *testing.T) {
	for _, test := range []struct {
		old, redacted, want string
		ok                  bool
	}{
		{"a secret1 b", "a " + Mark + " b", "secret1", true},
		{"a secret1 b secret2", "a " + Mark + " b " + Mark, "secret1,secret2", true},
		{"same", "same", "", true},
		{"same", "other", "", false},
		{"a secret1 b", "a " + Mark + " c", "", false},
		{"a secret1 b", "x " + Mark + " b", "", false},
		{`{"a":"p\"asswor"}`, `{"a":"` + Mark + `"}`, `p\"asswor,p"asswor`, true},
		{"a " + Mark + " b secret2 c", "a " + Mark + " b " + Mark + " c", "secret2", true},
		{"a b", "a " + Mark + " b", "", false},
	} {
		taken, ok := Learn([]byte(test.old), []byte(test.redacted))
		if got := string(bytes.Join(taken, []byte(","))); ok != test.ok || ok && got != test.want {
			t.Errorf("Learn(%q, %q) = %q, %v; want %q, %v", test.old, test.redacted, got, ok, test.want, test.ok)
		}
	}
}

func TestMemory(t *testing.T) {
	dir := statedir.In(t.TempDir(), "agent")
	if m, err := ReadMemory(dir); m != nil || err != nil {
		t.Fatalf("%v, %v without a memory", m, err)
	}
	m := new(Memory)
	m.Add([]byte("correct horse"), []byte("battery staple"), []byte("correct horse"))
	gittest.Must(t, dir.Make())
	gittest.Must(t, m.Write(dir))
	m, err := ReadMemory(dir)
	if err != nil || len(m.Texts) != 2 {
		t.Fatalf("%v, %v", m, err)
	}
	got := string(m.Finder().Replace([]byte("the correct horse, and a battery\\u0020staple")))
	if want := "the " + Mark + ", and a " + Mark; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzFinder checks that what is found can be taken out, and that valid JSON stays valid.
func FuzzFinder(f *testing.F) {
	for _, spell := range spellings {
		f.Add([]byte(spell(before + `hunter22 "x" \` + after)))
	}
	f.Add([]byte(`{"a":"hunter22 \"x\" \\","b":[{"hunter22":-1.5e3}]}`))
	finder := Or(fixed(f, `hunter22 "x" \`), remembers("went on, 12"))
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		for _, s := range finder.Spans(text) {
			if s.From < last || s.To <= s.From || s.To > len(text) {
				t.Fatalf("span %v", s)
			}
			last = s.To
		}
		clean := finder.Replace(text)
		if _, ok := Learn(text, clean); !ok && !bytes.Contains(text, []byte("[redacted")) {
			t.Fatalf("%q can't be learned from %q", clean, text)
		}
		if valid := json.Valid(text); valid != json.Valid(finder.ReplaceJSON(text)) && valid {
			t.Fatalf("%q became %q", text, finder.ReplaceJSON(text))
		}
	})
}

// BenchmarkNoise searches what is no text, and what is such in base64.
func BenchmarkNoise(b *testing.B) {
	r := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 1<<20)
	_, _ = r.Read(noise)
	for name, text := range map[string][]byte{"binary": noise, "base64": []byte(wrap(base64.StdEncoding.EncodeToString(noise), "\n"))} {
		b.Run(name, func(b *testing.B) {
			f := fixed(b, "hunter22hunter22")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f.Spans(text)
			}
		})
	}
}

func BenchmarkSpans(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	var text bytes.Buffer
	for text.Len() < 1<<20 {
		fmt.Fprintf(&text, `{"type":"user","message":{"content":"line %d\n     1→func main() {\n     2→\tfmt.Println(\"%x\")\n"}}`+"\n", r.IntN(1000), r.Uint64())
	}
	f := fixed(b, "hunter22hunter22")
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		for line := range bytes.Lines(text.Bytes()) {
			f.Spans(line)
		}
	}
}

// TestPossible: what is passed over at a glance has nothing, in all spellings within each other, in listings too.
func TestPossible(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	listed := func(s string) string {
		var b strings.Builder
		for i, line := range strings.Split(s, "\n") {
			fmt.Fprintf(&b, "%6d→%s\n", i+1, line)
		}
		return b.String()
	}
	names := slices.Sorted(maps.Keys(spellings))
	for range gittest.Size(1000, 300) {
		s := secretOf(r)
		if r.IntN(3) == 0 {
			s += secretOf(r) + secretOf(r)
		}
		may := possible([]byte(s))
		if may == nil {
			continue
		}
		text := s
		var how []string
		for range r.IntN(4) {
			name := names[r.IntN(len(names))]
			how = append(how, name)
			if text = before + spellings[name](text) + after; r.IntN(4) == 0 {
				text, how = listed(text), append(how, "listed")
			}
		}
		all := fixed(t, s)
		for i := range all.matchers {
			all.matchers[i].may = nil
		}
		spans := all.Spans([]byte(text))
		if len(spans) > 0 && !may([]byte(text), false) {
			t.Fatalf("%q, %q, is passed over in %q", s, how, text)
		}
		if got := fixed(t, s).Spans([]byte(text)); !slices.Equal(got, spans) {
			t.Fatalf("%q, %q, is found at %v in %q, at a glance at %v", s, how, spans, text, got)
		}
		m := new(Memory)
		m.Add([]byte(s))
		if got, want := m.Finder([]byte(s)).Spans([]byte(text)), m.Finder().Spans([]byte(text)); !slices.Equal(got, want) {
			t.Fatalf("%q, %q, is remembered at %v in %q, at a glance at %v", s, how, want, text, got)
		}
	}
}

// TestGlance: what can't have a text, and what is searched for it.
func TestGlance(t *testing.T) {
	t.Parallel()
	const plain, long, binary = "hunter22-hunter23", "hunter22-hunter23-hunter24-hunter25", "hunter22-\x01-hunter23"
	of := func(name, s string) string { return spellings[name](s) }
	for _, tt := range []struct {
		name, text, in string
		want           bool
	}{
		{"another text", plain, "something else, of 12 words", false},
		{"nothing", plain, "", false},
		{"as it is", plain, before + plain + after, true},
		{"four letters of it", plain, "the hunt is over", true},
		{"three letters of it", plain, "hun and ter", false},
		{"what was cut", plain, "hu…", true},
		{"wide", plain, of("UTF-16", plain), true},
		{"a zero among letters", plain, "some\x00thing", false},
		{"base64", plain, before + of("base64", plain) + after, true},
		{"base64, at another place", plain, before + of("base64, at 2", plain) + after, true},
		{"base64 of base64", plain, before + of("base64", of("base64", before+plain+after)) + after, true},
		{"base64 of something else", plain, before + of("base64", "something else, of 12 words") + after, false},
		{"base64 of base64 of base64", plain, of("base64", of("base64", of("base64", "something else, of 12 words"))), true}, // whatever it says
		{"what may be base64 with escapes of another kind", plain, strings.Repeat("ab%", 10), true},
		{"base64 with escapes", plain, strings.Join(strings.Split(of("base64", plain), ""), "\\"), true},
		{"base64 in lines, escaped", plain, strings.Join(strings.Split(of("base64", plain), "a"), `a\n`), true},
		{"base64 in lines, escaped twice", plain, strings.Join(strings.Split(of("base64", plain), "a"), `a\\n`), true},
		{"base64 with lines in lines", plain, `something\nelse\\nthatcouldbebase64 is to be read`, true}, // whatever it says
		{"lines that are escaped", plain, `something else\nto be read\nby somebody`, false},
		{"digits", plain, before + of("hex", plain) + after, true},
		{"digits of something else", plain, before + of("hex", "something else, of 12 words") + after, false},
		{"escapes", plain, before + of("JSON, all", plain) + after, true},
		{"colours", plain, "a text \x1b[0min colours", true}, // whatever it says
		{"a sign between what is not text", plain, "\x01\x02\\u00\x03" + strings.Repeat("\x01", 100), false},
		{"escapes in fewer bytes than the text has, amid noise", plain, "\x01\\u0068un\\u0074er\x01", false},
		{"escapes in as many, amid noise", plain, "\x01\\u0068un\\u0074er2\x01", true},
		{"escapes in as many as a line of a listing encodes, amid noise", long, "\x01\\u0068un\\u0074er\\u0032\\u0032\x01", true},
		{"escapes in fewer than that, amid noise", long, "\x01\\u0068un\\u0074er\\u0032\x01", false},
		{"base64 of as much as a line of a listing has", long, of("base64", "a part is: hunt, or more"), true},
		{"base64 of less", long, of("base64", "a part is: hunt, no more")[:30], false},
		{"eight letters, and another text", "hunter22", "something else", false},
		{"eight letters, and four of them", "hunter22", "a letter22", true},
		// What has bytes that are not text is not one part of text anywhere.
		{"escapes of few bytes, amid noise, of what is not all text", binary, "\x01\\u0068un\\u0074\x01", true},
		{"escapes of fewer still, of what is not all text", binary, "\x01\\u00\x01\x01", false},
	} {
		may := possible([]byte(tt.text))
		if may == nil {
			t.Errorf("%s: every text is searched for %q", tt.name, tt.text)
		} else if got := may([]byte(tt.in), false); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
	for _, text := range []string{"hunter", "hun-ter-hun-ter", "hunter-22", "ééééééééé", "hunt-er2-\x01\x02"} { // too few letters in a row, or too few such rows
		if possible([]byte(text)) != nil {
			t.Errorf("not every text is searched for %q", text)
		}
	}
}
