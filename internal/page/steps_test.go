package page

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"gitagent/test/worst"
)

// TestInputWorst: what a tool was given is indented where a person would read it, and takes little memory anywhere.
func TestInputWorst(t *testing.T) {
	if got, want := input(gjson.Parse(`{"a":[1,{"b":2}]}`)), "a:\n[\n  1,\n  {\n    \"b\": 2\n  }\n]"; got != want {
		t.Errorf("indented: %q, want %q", got, want)
	}
	nested := func(depth int, inner string) string {
		return strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
	}
	wide := strings.Repeat("1,", maxText/2) + "1"
	for name, value := range map[string]string{
		"deep":          nested(9000, ""),
		"deep and wide": nested(9000, wide[:maxText-20_001]),
		"wide":          nested(15, strings.Repeat(wide+",", 32)+"1"),
		"too deep":      nested(maxText/2, ""),
	} {
		var text string
		worst.Try(t, name, func() { text = input(gjson.Parse(`{"a":` + value + `}`)) })
		if len(text) > maxText+100 {
			t.Errorf("%s: a text of %d KB", name, len(text)>>10)
		}
	}
}

// TestProseWorst: however much is said in a turn, and in whatever form, its trees take little memory, and all of it is there.
func TestProseWorst(t *testing.T) {
	table := strings.Repeat("|a", 100) + "|\n" + strings.Repeat("|-", 100) + "|\n"
	table += strings.Repeat(strings.Repeat("|a ", 100)+"|\n", (maxMarkdown-len(table))/302)
	p, size := new(prose), 0
	worst.Try(t, "64 tables", func() {
		for range 64 {
			size += len(texts(p.tree(table)))
		}
	})
	if size < 64*len(table)/4 {
		t.Errorf("%d bytes of text are left of %d", size, 64*len(table))
	}
	if got := texts((&prose{made: maxProse}).tree("*a*")); got != "pre*a*" {
		t.Errorf("what is beyond is %q", got)
	}
}
