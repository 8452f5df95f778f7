package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"gitagent/test/gittest"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words string // separated by ,
		text  string
		want  string // lines that match, with what matches in [], separated by /; empty if a word is missing
	}{
		{"login", "Fix the Login form", "Fix the [Login] form"},
		{"Login", "Fix the login form", ""},
		{"Login", "a login\nthe Login", "the [Login]"},
		{"logIn", "login logIn Login", "login [logIn] Login"},
		{"form,fix", "Fix\nthe\nFORM", "[Fix]/[FORM]"},
		{"form,fix", "the form alone", ""},
		{"the form", "the form\nthe  form\nThe Form", "[the form]/[The Form]"},
		{"log,login,in", "logins", "[login]s"},
		{"aa", "aaaaa", "[aaaa]a"},
		{"a", "bab\r\nb\r\na", "b[a]b/[a]"},
		{"ask", "aſK", "[aſK]"}, // long s, Kelvin sign
		{"aſ", "as AS aS", "[as] [AS] [aS]"},
		{"straße", "STRAßE STRASSE", "[STRAßE] STRASSE"},
		{"όσος", "ΌΣΟΣ", "[ΌΣΟΣ]"},
		{"größe", "GRÖßE grosse", "[GRÖßE] grosse"},
		{"Größe", "GRÖßE größe Größe", "GRÖßE größe [Größe]"},
		{"日本", "日本語", "[日本]語"},
		{"\U0001F600", "so \U0001F600!", "so [\U0001F600]!"},
		{"\uFFFD", "bad \xff, good \uFFFD", "bad \xff, good [\uFFFD]"},
		{`a"b`, `x A"B y`, `x [A"B] y`},
		{`c:\dir`, `C:\DIR\x`, `[C:\DIR]\x`},
		{"ab,\t", "ab", "[ab]"},
	} {
		q, err := Words(strings.Split(tt.words, ","))
		gittest.Must(t, err)
		if got := shown(q, tt.text); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.words, tt.text, got, tt.want)
		}
	}
	for _, words := range [][]string{nil, {""}, {" ", "\t\n"}, slices.Repeat([]string{"x"}, maxTerms+1)} {
		if _, err := Words(words); err == nil {
			t.Errorf("%q can be looked for", words)
		}
	}
	if q, err := Words(slices.Repeat([]string{"x"}, maxTerms)); err != nil || shown(q, "x") != "[x]" {
		t.Errorf("%d words: %v", maxTerms, err)
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, text, want string }{
		{`func \w+Error`, "func myError()\nfunc MyERROR()", "[func myError]()"},
		{`func \w+error`, "func myError()\nfunc MyERROR()", "[func myError]()/[func MyERROR]()"},
		{`\S+\.go`, "see A.GO", "see [A.GO]"},
		{`\p{Lu}x`, "aX", "[aX]"},
		{`(?P<Name>ab)c`, "ABC", "[ABC]"},
		{`(?U)a+`, "AA", "[AA]"},
		{`^a`, "aa\nba\na", "[a]a/[a]"},
		{`a$`, "aa\r\nab", "a[a]"},
		{`a|B`, "A\nB\nb", "[B]"},
		{`[A-C]x`, "ax\nAx", "[Ax]"},
		{`x*`, "a\nxx", "a/[xx]"},
		{`(ab){2}`, "ABAB ab", "[ABAB] ab"},
		{`(ab){0,2}c`, "c", "[c]"},
		{`kelvin`, "\u212Aelvin", "[\u212Aelvin]"},
		{`a.c`, "a\nc\na c", "[a c]"},
	} {
		q, err := Patterns([]string{tt.pattern})
		gittest.Must(t, err)
		if got := shown(q, tt.text); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.pattern, tt.text, got, tt.want)
		}
	}
	for _, wrong := range []string{"(", "[", "a{2,1}", "", `\8`} {
		if _, err := Patterns([]string{wrong}); err == nil {
			t.Errorf("%q is a pattern", wrong)
		}
	}
}

// shown are the lines that match, with what matches in brackets; empty if not all is there.
func shown(q *Query, text string) string {
	m := q.Matches()
	m.Add("place", text)
	if !m.Complete() {
		return ""
	}
	var lines []string
	for _, l := range m.Lines {
		var b strings.Builder
		at := 0
		for _, s := range l.Spans {
			b.WriteString(l.Text[at:s[0]] + "[" + l.Text[s[0]:s[1]] + "]")
			at = s[1]
		}
		lines = append(lines, b.String()+l.Text[at:])
	}
	return strings.Join(lines, "/")
}

// naive tells which lines of a text have one of the words, and whether all are somewhere.
func naive(words []string, text string) (lines []string, all bool) {
	missing := map[string]bool{}
	for _, w := range words {
		missing[w] = true
	}
	for line := range strings.SplitSeq(text, "\n") {
		any := false
		for _, w := range words {
			if naivelyHas(line, w) {
				any = true
				delete(missing, w)
			}
		}
		if any {
			lines = append(lines, line)
		}
	}
	return lines, len(missing) == 0
}

func naivelyHas(line, word string) bool {
	if strings.ContainsFunc(word, unicode.IsUpper) {
		return strings.Contains(line, word)
	}
	runes, n := []rune(line), len([]rune(word))
	for i := 0; i+n <= len(runes); i++ {
		if strings.EqualFold(string(runes[i:i+n]), word) {
			return true
		}
	}
	return false
}

// letters are what texts are made of: letters with several cases of different lengths, what JSON
// escapes, and what looks like an escape.
var letters = []rune("abkKsSſ\u212AéÉßẞσςΣøåÅ\u212BЖжİıi日 \t\"\\/<u0n.\n\u2028\uFFFD\U00010400\U00010428")

func randomText(r *rand.Rand, n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
		if r.IntN(3) > 0 {
			text[i] = letters[r.IntN(12)]
		}
	}
	return string(text)
}

// encode writes a text as JSON in one of the ways that clients have.
func encode(r *rand.Rand, text string) string {
	switch r.IntN(4) {
	case 0:
		b, _ := json.Marshal(text)
		return string(b)
	case 1:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(text)
		return strings.TrimSpace(b.String())
	case 2:
		b, _ := json.Marshal(text)
		return strings.ReplaceAll(string(b), "/", `\/`)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch plain := c >= ' ' && c != '"' && c != '\\' && c < 127; {
		case plain && r.IntN(3) > 0:
			b.WriteRune(c)
		case c >= 0x10000:
			c -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04X`, c)
		}
	}
	return b.String() + `"`
}

// plain is what Lines says of a line, if it yields it.
func plain(q *Query, line string) (plain bool) {
	for _, plain = range q.Lines([]byte(line)) {
	}
	return plain
}

// TestModel compares what is found in random texts, and which lines of JSON are not passed over, with
// what a simple program finds.
func TestModel(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := rand.New(rand.NewPCG(11, 4))
	hits := 0
	for range 20_000 {
		var texts, coded []string
		for range 1 + r.IntN(4) {
			text := randomText(r, r.IntN(30))
			texts, coded = append(texts, text), append(coded, encode(r, text))
		}
		var words []string
		for range 1 + r.IntN(3) {
			from := []rune(strings.Join(texts, "\n"))
			start := r.IntN(len(from) + 1)
			w := string(from[start:min(len(from), start+1+r.IntN(4))])
			if r.IntN(2) == 0 {
				w = strings.ToLower(w)
			}
			if w = strings.ReplaceAll(w, "\n", ""); strings.TrimSpace(w) != "" {
				words = append(words, w)
			}
		}
		if len(words) == 0 {
			continue
		}
		q, err := Words(words)
		gittest.Must(t, err)
		raw := []byte(strings.Join(coded, "\n"))
		var passed []string
		for line := range q.Lines(raw) {
			passed = append(passed, string(line))
		}
		m, complete := q.Matches(), map[string]bool{}
		for i, text := range texts {
			want, _ := naive(words, text)
			one := q.Matches()
			one.Add("", text)
			var got []string
			for _, l := range one.Lines {
				got = append(got, l.Text)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q in %q: %q, want %q", words, text, got, want)
			}
			if len(want) > 0 && !slices.Contains(passed, coded[i]) {
				t.Fatalf("%q: the line %s is passed over", words, coded[i])
			}
			quoted := q.Matches()
			quoted.AddJSON("", []byte(coded[i][1:len(coded[i])-1]), plain(q, coded[i]))
			if !slices.EqualFunc(quoted.Lines, one.Lines, func(a, b Line) bool { return a.Text == b.Text && slices.Equal(a.Spans, b.Spans) }) {
				t.Fatalf("%q in %s: %+v, want %+v", words, coded[i], quoted.Lines, one.Lines)
			}
			m.Add("", text)
			hits += len(want)
			complete[text] = true
		}
		_, all := naive(words, strings.Join(texts, "\n"))
		if m.Complete() != all {
			t.Fatalf("%q in %q: complete is %v", words, texts, m.Complete())
		}
		if all && !q.Possible(raw, q.Matches()) {
			t.Fatalf("%q is not possible in %s", words, raw)
		}
	}
	if hits < 10_000 {
		t.Errorf("only %d hits", hits)
	}
}

// FuzzLines: whatever JSON says, a line is not passed over that decodes to something that matches.
func FuzzLines(f *testing.F) {
	f.Add(`"a\u0062c"`, "abc")
	f.Add(`"\u212a\/x"`, "k/x")
	f.Add(`"\\u0061"`, "a")
	f.Add("\"\xc5\xbf\"", "s")
	f.Fuzz(func(t *testing.T, line, word string) {
		q, err := Words([]string{word})
		var text string
		if err != nil || strings.Contains(line, "\n") || json.Unmarshal([]byte(line), &text) != nil {
			return
		}
		m := q.Matches()
		m.Add("", text)
		if !m.Complete() {
			return
		}
		for l := range q.Lines([]byte("{}\n" + line + "\n{}")) {
			if string(l) == line {
				return
			}
		}
		t.Errorf("%q is in %q, which is passed over", word, line)
	})
}

// TestLimits: what is kept of a turn is bounded, and the rest counted.
func TestLimits(t *testing.T) {
	t.Parallel()
	q, err := Words([]string{"x"})
	gittest.Must(t, err)
	m := q.Matches()
	m.Add("a", strings.Repeat("x\n", MaxLines+7))
	if len(m.Lines) != MaxLines || m.More != 7 {
		t.Errorf("%d lines and %d more", len(m.Lines), m.More)
	}
	m = q.Matches()
	m.Add("a", strings.Repeat("é", 100_000)+"x"+strings.Repeat("é", 100_000))
	l := m.Lines[0]
	if len(l.Text) > maxText || len(l.Spans) != 1 || l.Text[l.Spans[0][0]:l.Spans[0][1]] != "x" || strings.Trim(l.Text, "éx") != "" {
		t.Errorf("a long line is %d bytes, %v", len(l.Text), l.Spans)
	}
	m = q.Matches()
	m.Add("a", strings.Repeat("x", 10_000_000))
	if l := m.Lines[0]; len(l.Text) > maxText || len(l.Spans) > maxSpans {
		t.Errorf("%d bytes, %d spans", len(l.Text), len(l.Spans))
	}
}

// TestCounted: of what is only counted, lines of JSON are those that match as texts.
func TestCounted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := rand.New(rand.NewPCG(38, 2))
	more := 0
	for _, word := range []string{"a", "bs", "k", "K", "u0", "n", "00", "Ss", "é", "/", "ab a"} {
		q, err := Words([]string{word, "found"})
		gittest.Must(t, err)
		for range gittest.Size(200, 20) {
			text := strings.Repeat(word+"\n", MaxLines) + "found\n" + randomText(r, 2000)
			coded := encode(r, text)
			want, got := q.Matches(), q.Matches()
			want.Add("", text)
			got.AddJSON("", []byte(coded[1:len(coded)-1]), plain(q, coded))
			if got.More != want.More || len(got.Lines) != len(want.Lines) {
				t.Fatalf("%q in %s: %d lines and %d more, want %d and %d", word, coded, len(got.Lines), got.More, len(want.Lines), want.More)
			}
			more += want.More
		}
	}
	if more < 1000 {
		t.Errorf("only %d lines were counted", more)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	q, err := Words([]string{"one", "two"})
	gittest.Must(t, err)
	m, other := q.Matches(), q.Matches()
	m.Add("prompt", "one line that is here as a whole")
	other.Add("prompt", "one line that is…")
	other.Add("reply", "one line that is…\ntwo")
	if m.Complete() {
		t.Error("complete without the other")
	}
	m.Join(other)
	var got []string
	for _, l := range m.Lines {
		got = append(got, l.Place+": "+l.Text)
	}
	want := []string{"prompt: one line that is here as a whole", "reply: one line that is…", "reply: two"}
	if !slices.Equal(got, want) || !m.Complete() {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBestDiffer: what is said again is shown once.
func TestBestDiffer(t *testing.T) {
	t.Parallel()
	q, err := Words([]string{"often"})
	gittest.Must(t, err)
	m := q.Matches()
	m.Add("reply", "often\nnever\noften")
	m.Add("prompt", "often\nmore often")
	var got []string
	for _, l := range m.Best(5) {
		got = append(got, l.Place+" "+l.Text)
	}
	if want := "reply often/prompt often/prompt more often"; strings.Join(got, "/") != want {
		t.Errorf("the best are %q, want %q", got, want)
	}
}

// TestBest: every word is shown where it is first, however often another one is there.
func TestBest(t *testing.T) {
	t.Parallel()
	q, err := Words([]string{"often", "seldom", "once"})
	gittest.Must(t, err)
	m := q.Matches()
	for i := range 200 {
		m.Add("", fmt.Sprintf("often %d", i))
	}
	m.Add("", "seldom 200\noften and seldom 201\nonce 202\nseldom 203")
	if len(m.Lines) != MaxLines+2 || m.More != 100+2 {
		t.Errorf("%d lines and %d more", len(m.Lines), m.More)
	}
	for most, want := range map[int]string{
		1: "often 0", 2: "often 0/seldom 200", 3: "often 0/seldom 200/once 202", 5: "often 0/often 1/often 2/seldom 200/once 202",
	} {
		var got []string
		for _, l := range m.Best(most) {
			got = append(got, l.Text)
		}
		if strings.Join(got, "/") != want {
			t.Errorf("the best %d are %q, want %q", most, got, want)
		}
	}
	if got := m.Best(1000); len(got) != len(m.Lines) {
		t.Errorf("of 1000, %d", len(got))
	}
}
