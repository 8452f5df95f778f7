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
