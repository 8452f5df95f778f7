package cmdline

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"longer", 1, "…"},
		{"longer", 0, ""},
		{"longer", -1, ""},
		{"", 0, ""},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		{"e\u0301te\u0301s", 3, "e\u0301t…"},
		{"\U0001f468\u200d\U0001f469\u200d\U0001f467xyz", 4, "\U0001f468\u200d\U0001f469\u200d\U0001f467x…"},
	} {
		got := Truncate(tt.text, tt.columns)
		if got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
		}
		if w := Width(got); w > max(tt.columns, 0) {
			t.Errorf("Truncate(%q, %d) is %d wide", tt.text, tt.columns, w)
		}
	}
}

// turnTable is a small version of what git agent-turn list prints.
func turnTable() *Table {
	table := NewTable(Column{Right: true, Style: Yellow}, Column{Right: true}, Column{Right: true, Style: Green}, Column{Style: Cyan}, Column{})
	table.Row("9", "2 days", "+0", "", "nothing to do")
	table.Row("10", "5 min", "+47", "a.go b.go", "fix the login that fails for users without a name")
	table.Row("11", "1 min", "+3", "日本.txt", "evil \x1b[2J\nprompt")
	return table
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		columns int
		colour  bool
		want    string
	}{
		{0, false, `
 9  2 days   +0             nothing to do
10   5 min  +47  a.go b.go  fix the login that fails for users without a name
11   1 min   +3  日本.txt   evil \x1b[2J\nprompt
`},
		{50, false, `
 9  2 days   +0             nothing to do
10   5 min  +47  a.go b.go  fix the login that fa…
11   1 min   +3  日本.txt   evil \x1b[2J\nprompt
`},
		{30, false, `
 9  2 days   +0          noth…
10   5 min  +47  a.go …  fix …
11   1 min   +3  日本.…  evil…
`},
		{50, true, `
 <33>9<>  2 days   <32>+0<>             nothing to do
<33>10<>   5 min  <32>+47<>  <36>a.go b.go<>  fix the login that fa…
<33>11<>   1 min   <32>+3<>  <36>日本.txt<>   evil \x1b[2J\nprompt
`},
	} {
		var b strings.Builder
		if err := turnTable().print(&b, tt.columns, tt.colour); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("<>", "\x1b[m", "<", "\x1b[", ">", "m").Replace(strings.TrimPrefix(tt.want, "\n"))
		if got := b.String(); got != want {
			t.Errorf("at %d columns:\ngot\n%s\nwant\n%s", tt.columns, got, want)
		}
	}
}

// TestTableWidth checks that no line is wider than its terminal.
func TestTableWidth(t *testing.T) {
	t.Parallel()
	for columns := 13; columns < 100; columns++ { // five columns of one and four gaps
		var b strings.Builder
		if err := turnTable().print(&b, columns, false); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if w := Width(line); w > columns {
				t.Errorf("at %d columns a line is %d wide: %q", columns, w, line)
			}
			if strings.HasSuffix(line, " ") {
				t.Errorf("at %d columns a line ends in a space: %q", columns, line)
			}
		}
	}
}

func TestNotATerminal(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if got := Columns(&b); got != 0 {
		t.Errorf("Columns of a builder = %d, want 0", got)
	}
	if Colour(&b) {
		t.Error("Colour of a builder = true, want false")
	}
	if err := turnTable().Print(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "…") {
		t.Errorf("a table for a pipe is cut or coloured:\n%s", b.String())
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		table := NewTable(Column{Right: true}, Column{Right: true}, Column{}, Column{})
		for i := range 10000 {
			table.Row(fmt.Sprint(i), "5 minutes", "internal/cmdline/table.go", "fix the login that fails for users without a name, größer")
		}
		var out strings.Builder
		if err := table.print(&out, 100, true); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTableInParts: a long table is printed while rows are added, and no column becomes narrower.
func TestTableInParts(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	table := NewTable(Column{}, Column{Right: true})
	for n := range 2*part + 1 {
		if err := table.Add(&out, fmt.Sprint(n), strings.Repeat("x", n/part)); err != nil {
			t.Fatal(err)
		}
		if printed := strings.Count(out.String(), "\n"); printed != (n+1)/part*part {
			t.Fatalf("after %d rows %d are printed", n+1, printed)
		}
	}
	if err := table.Print(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for n, want := range map[int]string{0: "0", part: "1000  x", 2 * part: "2000  xx", 2*part + 1: ""} {
		if lines[n] != want {
			t.Errorf("line %d is %q, want %q", n, lines[n], want)
		}
	}
	out.Reset()
	table.Row("", strings.Repeat("\u202e", 1000))
	if err := table.Print(&out); err != nil || utf8.RuneCountInString(out.String()) > maxCell+10 {
		t.Errorf("a cell of %d runes, %v", utf8.RuneCountInString(out.String()), err)
	}
}
