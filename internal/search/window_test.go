package search

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestShape: what a pattern's matches have at least, with a dot for a place where more is possible than is shown.
func TestShape(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, want string }{
		{`[xyz]{9}`, "[xyz][xyz][xyz][xyz][xyz][xyz][xyz][xyz][xyz]"},
		{`[0-2]{2}-[0-2]+x`, "[012][012][-][012]"},
		{`a(b|c)d`, "[a][bc][d]"},
		{`(one|two)s?`, "[ot][nw][eo]"},
		{`(ab|c)d`, "[ac]"},
		{`\ba\b-$`, "[a][-]"},
		{`a?b*(c{0,2})`, ""},
		{`a{2,3}b`, "[a][a][b]"},
		{`a{2,3}`, "[a][a]"},
		{`(a.b|cc)`, "[ac]"},
		{`a.bc`, "[b][c]"},
		{`[a\x{e9}]b`, "[a+][b]"},
		{`(?i)k`, "[Kk+]"},
		{`a{40}`, strings.Repeat("[a]", maxWindow)},
		{`x|`, ""},
	} {
		re, err := syntax.Parse(tt.pattern, syntax.Perl)
		gittest.Must(t, err)
		var got strings.Builder
		for _, c := range shapeOf(re).best {
			got.WriteByte('[')
			for r, is := range c.ascii {
				if is {
					got.WriteByte(byte(r))
				}
			}
			if c.more {
				got.WriteByte('+')
			}
			got.WriteByte(']')
		}
		if got.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.pattern, &got, tt.want)
		}
	}
}

// randomPattern makes a pattern of characters that texts have.
func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		c := regexp.QuoteMeta(string(letters[r.IntN(len(letters))]))
		return []string{c, c, `[a-z]`, `[^kS]`, `[sA-Z/]`, `\w`, `.`, `\b`, `[é<\x{3c3}]`}[r.IntN(9)]
	}
	one, other := randomPattern(r, depth-1), randomPattern(r, depth-1)
	switch r.IntN(8) {
	case 0:
		return "(" + one + "|" + other + ")"
	case 1:
		return "(?:" + one + ")" + []string{"*", "+", "?", "{2}", "{1,3}", "{0}", "{2,}"}[r.IntN(7)]
	case 2:
		return "^" + one
	}
	return one + other
}

// TestModelOfPatterns compares what patterns find in random texts, and which lines of JSON are not passed over, with
// what the pattern matches line by line.
func TestModelOfPatterns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := rand.New(rand.NewPCG(19, 7))
	hits, sieved := 0, 0
	for range 20_000 {
		pattern := randomPattern(r, 3)
		q, err := Patterns([]string{pattern})
		if err != nil {
			continue
		}
		if q.terms[0].raw.sieve != nil {
			sieved++
		}
		parsed := pattern
		if !strings.ContainsFunc(regexp.MustCompile(notLetters).ReplaceAllString(pattern, ""), func(c rune) bool { return strings.ToLower(string(c)) != string(c) }) {
			parsed = "(?i)" + pattern
		}
		re := regexp.MustCompile(parsed)
		text := randomText(r, r.IntN(40))
		coded := encode(r, text)
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" && re.MatchString(line) {
				want = append(want, line)
			}
		}
		lines := func(m *Matches) (list []string) {
			for _, l := range m.Lines {
				if l.Text != "" {
					list = append(list, l.Text)
				}
			}
			return list
		}
		m, quoted := q.Matches(), q.Matches()
		m.Add("", text)
		if got := lines(m); !slices.Equal(got, want) {
			t.Fatalf("%s in %q: %q, want %q", pattern, text, got, want)
		}
		quoted.AddJSON("", []byte(coded[1:len(coded)-1]), plain(q, coded))
		if len(quoted.Lines) != len(m.Lines) || !slices.Equal(lines(quoted), want) {
			t.Fatalf("%s in %s: %q, want %q", pattern, coded, lines(quoted), want)
		}
		hits += len(want)
		passed := false
		for line := range q.Lines([]byte("{}\n" + coded + "\n[]")) {
			passed = passed || string(line) == coded
		}
		if len(want) > 0 && !passed {
			t.Fatalf("%s: the line %s is passed over", pattern, coded)
		}
	}
	if hits < 5000 || sieved < 2000 {
		t.Errorf("only %d hits, %d windows", hits, sieved)
	}
}
