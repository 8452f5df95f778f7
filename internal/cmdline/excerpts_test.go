package cmdline

import (
	"bytes"
	"strings"
	"testing"
)

func TestExcerpts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long way to it ", 10)
	for _, tt := range []struct {
		name    string
		columns int
		text    string
		find    []string
		want    string // with what was found in []
	}{
		{"no terminal", 0, long + "here" + long, []string{"here"}, long + "[here]" + strings.TrimRight(long, " ")},
		{"it fits", 80, "\tit is here, and here\t", []string{"here"}, "it is [here], and [here]"},
		{"at the beginning", 40, "here " + long, []string{"here"}, "[here] a long way to it a l…"},
		{"in the middle", 40, long + "here " + long, []string{"here"}, "…o it [here] a long way to …"},
		{"at the end", 40, long + "here", []string{"here"}, "… it a long way to it [here]"},
		{"long itself", 40, "x" + strings.Repeat("y", 100) + "x", []string{strings.Repeat("y", 100)}, "x[yyyyyyyyyyyyyyyyyyyyyyyy…]"},
		{"several", 40, long + "here and " + long + "here", []string{"here"}, "…o it [here] and a long way…"},
		{"wide", 40, strings.Repeat("日本", 20) + "here", []string{"here"}, "…日本日本日本日本日本[here]"},
		{"hostile", 80, "\x1b[31mhere\r\x1b]0;x\a", []string{"here"}, `\x1b[31m[here]\r\x1b]0;x\x07`},
		{"found in what is hostile", 80, "a\x1bb", []string{"\x1b"}, `a[\x1b]b`},
		{"narrow", 5, long, nil, "a long way to it a …"},
		{"empty", 40, "", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var spans [][2]int
			for _, f := range tt.find {
				for at := 0; ; {
					i := strings.Index(tt.text[at:], f)
					if i < 0 {
						break
					}
					spans = append(spans, [2]int{at + i, at + i + len(f)})
					at += i + len(f)
				}
			}
			var b bytes.Buffer
			NewExcerpts(&b, tt.columns, true).Line("reply", tt.text, spans)
			line := strings.TrimSuffix(b.String(), "\n")
			got := strings.NewReplacer("\x1b[1;31m", "[", "\x1b[m", "]").Replace(strings.TrimPrefix(line, "    \x1b[36mreply\x1b[m     "))
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if strings.Contains(b.String(), "\r") || strings.Count(b.String(), "\n") != 1 {
				t.Errorf("%q is not a line", b.String())
			}
		})
	}
}

func TestExcerptsTitle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		columns int
		colour  bool
		want    string
	}{
		{0, false, "a1b2c3d4/12  3d  Fix the \\x1b form of the login, all of it\n"},
		{40, false, "a1b2c3d4/12  3d  Fix the \\x1b form of t…\n"},
		{40, true, "\x1b[33ma1b2c3d4/12\x1b[m  \x1b[2m3d\x1b[m  Fix the \\x1b form of t…\n"},
	} {
		var b bytes.Buffer
		NewExcerpts(&b, tt.columns, tt.colour).Title("a1b2c3d4/12", "3d", "Fix the \x1b form of the login, all of it")
		if got := b.String(); got != tt.want {
			t.Errorf("%d columns: %q, want %q", tt.columns, got, tt.want)
		}
	}
	var b bytes.Buffer
	e := NewExcerpts(&b, 0, false)
	e.More(1)
	e.More(12)
	if got := b.String(); got != "    and 1 more line\n    and 12 more lines\n" {
		t.Errorf("%q", got)
	}
}
