package cmdline

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"gitagent/test/gittest"
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

func TestTruncateStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"a/b.go", 6, "a/b.go"},
		{"src/a.go +1", 8, "…a.go +1"},
		{"longer", 1, "…"},
		{"longer", 0, ""},
		{"日本/語.go", 10, "日本/語.go"},
		{"日本/語.go", 8, "…/語.go"},
		{"日本/語.go", 7, "…/語.go"},
		{"日本/語.go", 6, "…語.go"},
		{"日本/語.go", 5, "….go"},
	} {
		got := TruncateStart(tt.text, tt.columns)
		if strings.TrimRight(got, " ") != tt.want {
			t.Errorf("TruncateStart(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
		}
		if w := Width(got); w > tt.columns {
			t.Errorf("TruncateStart(%q, %d) is %d wide", tt.text, tt.columns, w)
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
		gittest.Must(t, turnTable().print(&b, tt.columns, tt.colour))
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
		gittest.Must(t, turnTable().print(&b, columns, false))
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

// TestLocale: in a Chinese, Japanese or Korean locale the library's own condition has two columns for "…"
// and many others. Not parallel, as that is the library's variable.
func TestLocale(t *testing.T) {
	defer func(was bool) { runewidth.DefaultCondition.EastAsianWidth = was }(runewidth.DefaultCondition.EastAsianWidth)
	runewidth.DefaultCondition.EastAsianWidth = true
	if w := Width("…á×日"); w != 5 {
		t.Errorf("%d columns, want 5", w)
	}
	for columns := range 8 {
		for _, text := range []string{"longer than that", "größer “als” das"} {
			if got := Truncate(text, columns); utf8.RuneCountInString(got) != columns {
				t.Errorf("Truncate(%q, %d) = %q", text, columns, got)
			}
			if got := TruncateStart(text, columns); utf8.RuneCountInString(got) != columns {
				t.Errorf("TruncateStart(%q, %d) = %q", text, columns, got)
			}
		}
	}
	if got := strings.Join(slices.Collect(Wrap("größer—als—das", 7)), "\n"); got != "größer—\nals—das" {
		t.Errorf("wrapped: %q", got)
	}
	for columns := 13; columns < 100; columns++ {
		if err := turnTable().print(io.Discard, columns, false); err != nil { // it panicked
			t.Fatal(err)
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
	gittest.Must(t, turnTable().Print(&b))
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
		gittest.Must(b, table.print(&out, 100, true))
	}
}

// TestTableInParts: a long table is printed while rows are added, and no column becomes narrower.
func TestTableInParts(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	table := NewTable(Column{}, Column{Right: true})
	const parts = firstPart + 2*part
	for n := range parts + 1 {
		gittest.Must(t, table.Add(&out, fmt.Sprint(n), strings.Repeat("x", (n+part-firstPart)/part)))
		want := (n+1+part-firstPart)/part*part - part + firstPart
		if n+1 < firstPart {
			want = 0
		}
		if printed := strings.Count(out.String(), "\n"); printed != want {
			t.Fatalf("after %d rows %d are printed", n+1, printed)
		}
	}
	gittest.Must(t, table.Print(&out))
	lines := strings.Split(out.String(), "\n")
	for n, want := range map[int]string{0: "0", firstPart: "100   x", firstPart + part: "1100  xx", parts: "2100  xxx", parts + 1: ""} {
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

// TestTableColumns: headings, columns that keep their width, and columns that may be left out.
func TestTableColumns(t *testing.T) {
	t.Parallel()
	look := func(cell string) Style {
		if cell == "!" {
			return Red
		}
		return Plain
	}
	columns := []Column{
		{Name: "TURN", Right: true, Style: Yellow, Min: 8},
		{Styles: look},
		{Name: "PROMPT", Min: 20},
		{Name: "PATHS", Style: Cyan, Min: 8, Spare: true, Path: true},
		{Name: "BRANCH", Min: 8, Spare: true},
	}
	long, wide := "fix the login that fails for users", "日本語日本語日本語日本語"
	for _, tt := range []struct {
		columns int
		colour  bool
		rows    [][]string
		want    string
	}{
		{0, false, [][]string{{"1", "!", long, "src/a.go", "main"}, {"2", "", wide, "", ""}}, `
1  !  fix the login that fails for users  src/a.go  main
2     日本語日本語日本語日本語
`},
		{80, false, [][]string{{"1", "!", long, "src/a.go", "main"}, {"2", "", wide, "", ""}}, `
TURN     PROMPT                              PATHS     BRANCH
   1  !  fix the login that fails for users  src/a.go  main
   2     日本語日本語日本語日本語
`},
		{50, false, [][]string{{"1", "!", long, "src/module/a.go", "main"}, {"2", "", wide, "", ""}}, `
TURN     PROMPT                PATHS        BRANCH
   1  !  fix the login that …  …odule/a.go  main
   2     日本語日本語日本語…
`},
		{40, false, [][]string{{"1", "!", long, "src/module/a.go", "main"}}, `
TURN     PROMPT                PATHS
   1  !  fix the login that …  …ule/a.go
`},
		{38, false, [][]string{{"1", "!", long, "src/module/a.go", "main"}}, `
TURN     PROMPT
   1  !  fix the login that fails for…
`},
		{20, false, [][]string{{"1", "!", long, "src/module/a.go", "main"}}, `
TURN     PROMPT
   1  !  fix the lo…
`},
		{80, false, [][]string{{"1", "!", long, "", ""}}, `
TURN     PROMPT
   1  !  fix the login that fails for users
`},
		{80, true, [][]string{{"1", "!", "a", "b", ""}}, `
<2>TURN<>     <2>PROMPT<>  <2>PATHS<>
   <33>1<>  <31>!<>  a       <36>b<>
`},
		{80, true, nil, ``},
	} {
		table := NewTable(columns...)
		for _, row := range tt.rows {
			table.Row(row...)
		}
		var b strings.Builder
		gittest.Must(t, table.print(&b, tt.columns, tt.colour))
		want := strings.NewReplacer("<>", "\x1b[m", "<", "\x1b[", ">", "m").Replace(strings.TrimPrefix(tt.want, "\n"))
		if got := b.String(); got != want {
			t.Errorf("at %d columns:\ngot\n%s\nwant\n%s", tt.columns, got, want)
		}
	}
}

// TestTableMins: at any width no line is too wide, no column narrower than its Min while another has more
// than its own, and no name cut while anything else can be.
func TestTableMins(t *testing.T) {
	t.Parallel()
	for columns := 10; columns < 120; columns++ {
		table := NewTable(
			Column{Name: "NAME", Key: true}, Column{Name: "AGE", Right: true}, Column{Name: "PROMPT", Min: 40}, Column{Name: "PATHS", Min: 12, Spare: true},
		)
		table.Row("a1b2c3d4/12", "2026-11-20 12:00:00 +0100", strings.Repeat("prompt ", 20), "src/module/a.go +17")
		var b strings.Builder
		gittest.Must(t, table.print(&b, columns, false))
		for line := range strings.Lines(b.String()) {
			if w := Width(strings.TrimSuffix(line, "\n")); w > columns {
				t.Errorf("at %d columns a line is %d wide: %q", columns, w, line)
			}
		}
		row := strings.Split(b.String(), "\n")[1]
		if !strings.HasPrefix(row, "a1b2c3d4/12 ") && columns >= len("a1b2c3d4/12")+2*(len(gap)+1) {
			t.Errorf("at %d columns:\n%s", columns, b.String())
		}
		if _, prompt, ok := strings.Cut(row, "prompt "); columns >= 56 && (!ok || Width(prompt) < 40-len("prompt ")) {
			t.Errorf("at %d columns:\n%s", columns, b.String())
		}
	}
}

// A second part goes on below the headings.
func TestTableHeadingsOnce(t *testing.T) {
	t.Parallel()
	table := NewTable(Column{Name: "TURN"})
	var b strings.Builder
	for range 2 {
		table.Row("1")
		gittest.Must(t, table.print(&b, 80, false))
		table.rows = nil
	}
	if got := b.String(); got != "TURN\n1\n1\n" {
		t.Errorf("got\n%s", got)
	}
}
