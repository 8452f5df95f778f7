package scrub

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	var got strings.Builder
	text := []byte(` {"a" : [1, "x\"y", {"b":null,"c":{}}], "d":"", "e":[[],[-2.5e3]]} `)
	Tokens(text, func(v Token) {
		got.WriteString(string(v.Kind) + " " + v.Name() + " " + string(text[v.From:v.To]) + "\n")
	})
	want := `n a "a"
0 a 1
" a "x\"y"
n a.b "b"
0 a.b null
n a.c "c"
n d "d"
" d ""
n e "e"
0 e -2.5e3
`
	if got.String() != want {
		t.Errorf("tokens are\n%s\nwant\n%s", &got, want)
	}
	Tokens([]byte(`"alone"`), func(v Token) {
		if v.Key() != "" || v.Kind != '"' {
			t.Errorf("a text alone is %+v", v)
		}
	})
}

// TestUnquoted: only what a client notes as the last prompt goes, and only if it was purged.
func TestUnquoted(t *testing.T) {
	const m = `"` + Mark + `"`
	isPrompt := func(text string) bool { return text == "log \"in\"" }
	for _, test := range [][2]string{
		{"", ""},
		{`{"prompt":"log \"in\""}`, `{"prompt":"log \"in\""}`},
		{
			`{"lastPrompt":"go on"}` + "\n" + `{"a":[1,{"lastPrompt" : "log \u0022in\""}], "log \"in\"":"log \"in\""}` + "\n\n" + `{"lastPrompt":null}`,
			`{"lastPrompt":"go on"}` + "\n" + `{"a":[1,{"lastPrompt" : ` + m + `}], "log \"in\"":"log \"in\""}` + "\n\n" + `{"lastPrompt":null}`,
		},
		{`{"lastPrompt":"log \"in\""`, `{"lastPrompt":"log \"in\""`}, // torn
	} {
		if got := string(Unquoted([]byte(test[0]), isPrompt)); got != test[1] {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", test[0], got, test[1])
		}
	}
}
