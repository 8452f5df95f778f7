package redact

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A vector is one line of testdata/*.txt; the files explain the format.
type vector struct {
	rule string
	pos  string   // file and line
	text string   // the text to redact
	want string   // the expected result
	gone []string // the secret, or its parts
}

func vectors(tb testing.TB) []vector {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no vectors: %v", err)
	}
	var all []vector
	for _, file := range files {
		data, err := os.ReadFile(file)
		gittest.Must(tb, err)
		rule := ""
		for i, line := range strings.Split(string(data), "\n") {
			pos := fmt.Sprintf("%s:%d", file, i+1)
			line = strings.NewReplacer("¦", "", "⏎", "\n").Replace(line)
			sign, text, _ := strings.Cut(line, " ")
			switch sign {
			case "", "#":
			case "rule:":
				rule = text
			case "+":
				v := vector{rule: rule, pos: pos}
				v.text = strings.NewReplacer("«", "", "»", "", "‹", "", "›", "").Replace(text)
				v.want = fill(text, "«", "»", mark+rule+"]", &v.gone)
				v.want = fill(v.want, "‹", "›", "", &v.gone)
				if len(v.gone) == 0 {
					tb.Fatalf("%s: no secret in it", pos)
				}
				all = append(all, v)
			case "-":
				all = append(all, vector{rule: rule, pos: pos, text: text, want: text})
			default:
				tb.Fatalf("%s: neither rule, + nor -", pos)
			}
		}
	}
	return all
}

// fill replaces the parts of s between from and to and adds them to gone.
func fill(s, from, to, with string, gone *[]string) string {
	for {
		before, rest, ok := strings.Cut(s, from)
		if !ok {
			return s
		}
		secret, after, _ := strings.Cut(rest, to)
		*gone = append(*gone, secret)
		s = before + with + after
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		if got := String(v.text); got != v.want {
			t.Errorf("%s: String(%q)\n got %q\nwant %q", v.pos, v.text, got, v.want)
		}
		if got := string(Bytes([]byte(v.text))); got != v.want {
			t.Errorf("%s: Bytes(%q)\n got %q\nwant %q", v.pos, v.text, got, v.want)
		}
	}
}

// Every rule has a secret that it finds and a look-alike that it leaves alone,
// and so has every prefix of the table.
func TestVectorsAreComplete(t *testing.T) {
	t.Parallel()
	found, spared := map[string]bool{}, map[string]bool{}
	var secrets []string
	for _, v := range vectors(t) {
		if len(v.gone) > 0 {
			found[v.rule] = true
			secrets = append(secrets, v.gone...)
		} else {
			spared[v.rule] = true
		}
	}
	for first, bucket := range prefixes {
		var second []string
		for _, r := range bucket.forms {
			for _, text := range r.texts {
				if text[0] != byte(first) {
					t.Errorf("prefix %q stands under %q", text, byte(first))
				}
				second = append(second, text[1:min(len(text), 2)])
				if !slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(s, text) }) {
					t.Errorf("no vector has a secret with %q", text)
				}
			}
			found[r.rule] = found[r.rule] || false
		}
		slices.Sort(second)
		second = slices.Compact(second)
		want := strings.Join(second, "")
		if slices.Contains(second, "") { // one byte says it all, so any may follow
			want = ""
		}
		if bucket.second != want {
			t.Errorf("below %q the second bytes are %q, but the table says %q", byte(first), want, bucket.second)
		}
	}
	for rule, ok := range found {
		if !ok {
			t.Errorf("rule %s: no vector that it finds", rule)
		}
		if !spared[rule] && rule != "heroku-key" { // any other UUID is its look-alike
			t.Errorf("rule %s: no look-alike", rule)
		}
	}
}

// place is one way for a text to reach JSONLines.
type place struct {
	name string
	wrap func(text string) string
	take func(line string) string // extracts the text from the line
}

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func unquote(s string) string {
	var out string
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		return "not a string: " + s
	}
	return out
}

// escapeAll writes every UTF-16 unit of s as \uXXXX.
func escapeAll(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r >= 0x10000 {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xD800+r>>10, 0xDC00+r&0x3ff)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')
	return b.String()
}

func places() []place {
	id := func(s string) string { return s }
	between := func(before, after string) (func(string) string, func(string) string) {
		return func(s string) string { return before + s + after },
			func(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, before), after) }
	}
	record, unrecord := between(`{"parentUuid":null,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_7e5003b5570c61dc5f","type":"tool_result","content":`,
		`}]},"uuid":"33aeb28d-e7a3-4645-9826-0afdad984d71"}`)
	inner, uninner := between(`{"output":`, `,"metadata":{"exit_code":0}}`)
	spaced, unspaced := between("\t{ \"message\" : {\r\"content\":[ \"a\", ", " , 1e5,null ] } } ")
	prose, unprose := between("Sie schrieb: „\n", "\nTschüß 😀“")
	chain := func(name string, fs ...func(string) string) place {
		half := len(fs) / 2
		return place{
			name: name,
			wrap: func(s string) string {
				for _, f := range fs[:half] {
					s = f(s)
				}
				return s
			},
			take: func(s string) string {
				for _, f := range fs[half:] {
					s = f(s)
				}
				return s
			},
		}
	}
	slashes := func(s string) string { return strings.ReplaceAll(quote(s), "/", `\/`) }
	html := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	return []place{
		chain("string", quote, unquote),
		chain("record", quote, record, unrecord, unquote),
		chain("spaced", quote, spaced, unspaced, unquote),
		chain("html", html, record, unrecord, unquote),
		chain("slashes", slashes, record, unrecord, unquote),
		chain("unicode", escapeAll, record, unrecord, unquote),
		chain("prose", prose, quote, record, unrecord, unquote, unprose),
		chain("json in json", quote, inner, quote, record, unrecord, unquote, uninner, unquote),
		chain("unicode in json", escapeAll, inner, quote, record, unrecord, unquote, uninner, unquote),
		chain("json in unicode", quote, inner, escapeAll, record, unrecord, unquote, uninner, unquote),
		chain("html in html", html, inner, html, record, unrecord, unquote, uninner, unquote),
		chain("json in json in json", quote, inner, quote, inner, quote, record, unrecord, unquote, uninner, unquote, uninner, unquote),
		chain("no wrapping at all", id, id),
	}
}

func TestVectorsInJSON(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, v := range vectors(t) {
				line := p.wrap(v.text)
				got, err := JSONLines([]byte(line + "\n" + line))
				if err != nil {
					t.Errorf("%s: JSONLines(%q): %v", v.pos, line, err)
					continue
				}
				one, two, _ := strings.Cut(string(got), "\n")
				if p.name != "no wrapping at all" && one != two {
					t.Errorf("%s: two lines that were the same differ:\n%s\n%s", v.pos, one, two)
				}
				if p.name == "no wrapping at all" {
					one = String(line)
				}
				if text := p.take(one); text != v.want {
					t.Errorf("%s: in %q\n got %q\nwant %q", v.pos, line, text, v.want)
				}
				if v.text == v.want && p.name != "no wrapping at all" && one != line {
					t.Errorf("%s: a line without secrets changed:\n got %q\nwant %q", v.pos, one, line)
				}
				// The same text read as text: a tool may print a whole JSON document.
				if text := p.take(String(line)); text != v.want {
					t.Errorf("%s: String(%q)\n got %q\nwant %q", v.pos, line, text, v.want)
				}
			}
		})
	}
}

// Every flag has a place in the corpus or the vectors, and can be found by its second byte.
func TestArgumentsAreComplete(t *testing.T) {
	t.Parallel()
	var texts strings.Builder
	for _, s := range shapes(t, "testdata/corpus/shapes.txt") {
		texts.WriteString(s.text + "\n")
	}
	for _, v := range vectors(t) {
		texts.WriteString(v.text + "\n")
	}
	for _, a := range arguments {
		if !strings.Contains(flagLetters, a.flag[1:2]) {
			t.Errorf("%s: no %q in flagLetters", a.flag, a.flag[1:2])
		}
		if !strings.Contains(texts.String(), " "+a.flag) {
			t.Errorf("%s: no vector has it", a.flag)
		}
	}
}
