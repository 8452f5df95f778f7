package cmdline

import (
	"encoding/json"
	"os/exec"
	"testing"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{`{"a":"b"}`, `{"a":"b"}`},
		{`{"a":"é 日本 \u001b \\"}`, `{"a":"é 日本 \u001b \\"}`},
		{"{\"a\":\t\"b\"\r}", `{"a": "b" }`},
		{"\"\x7f\u0080\u009b\"", `"\u007f\u0080\u009b"`},
		{"\"\u202e\u2066\u200b\u200d\ufeff\u00ad\u2028\"", `"\u202e\u2066\u200b\u200d\ufeff\u00ad\u2028"`},
		{"\"\U000e0041\"", `"\udb40\udc41"`},
		{"\"\xff\ufffd\"", "\"\\ufffd\ufffd\""},
	} {
		got := JSON([]byte(tt.line))
		if string(got) != tt.want {
			t.Errorf("JSON(%q) = %q, want %q", tt.line, got, tt.want)
		}
		var before, after any
		if json.Unmarshal([]byte(tt.line), &before) != nil || json.Unmarshal(got, &after) != nil || !equal(before, after) {
			t.Errorf("%q is read as %q, and %q as %q", tt.line, before, got, after)
		}
	}
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// TestShell: what is printed shows nothing that acts on a terminal, and a shell reads what was meant.
func TestShell(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	for _, tt := range []struct{ word, want string }{
		{"claude", "claude"},
		{"", "''"},
		{"it's $HOME", `'it'\''s $HOME'`},
		{"two\nlines\tand a tab", "'two\nlines\tand a tab'"},
		{"x\x1b[2J", `'x'"$(printf '\033')"'[2J'`},
		{"a\u200bb", `'a'"$(printf '\342\200\213')"'b'`},
		{"\u202egpj.exe", `''"$(printf '\342\200\256')"'gpj.exe'`},
		{"\r\x7f\u009b", `''"$(printf '\015\177\302\233')"''`},
		{"👩\u200d👧 é", `'👩'"$(printf '\342\200\215')"'👧 é'`},
		{"\xff'", `''"$(printf '\377')"''\'''`},
		{"%s\\n", `'%s\n'`},
	} {
		got := Shell([]string{tt.word})
		if got != tt.want {
			t.Errorf("Shell(%q) = %s, want %s", tt.word, got, tt.want)
		}
		out, err := exec.Command(sh, "-c", "printf '%s' "+got).Output()
		if err != nil || string(out) != tt.word {
			t.Errorf("the shell reads %s as %q, %v; want %q", got, out, err, tt.word)
		}
		if EscapeLines(got) != got {
			t.Errorf("%q acts on the terminal", got)
		}
	}
	if got := Shell([]string{"a", "b c", "\x00"}); got != "a 'b c' ''" {
		t.Errorf("Shell = %s", got)
	}
}
