package page

import (
	"encoding/json"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestMarkdownBounds: what goldmark would take hundreds of megabytes for is shown as it was written.
func TestMarkdownBounds(t *testing.T) {
	fill := func(head, row string) string {
		return head + strings.Repeat(row, (maxMarkdown-len(head))/len(row))
	}
	table := func(columns int, row string) string {
		return fill(strings.Repeat("|a", columns)+"|\n"+strings.Repeat("|-", columns)+"|\n", row)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a wide table of short rows", table(500, "|\n"), `[["pre","","|a|a`},
		{"another", table(5000, "|b|\n"), `[["pre","","|a|a`},
		{"a table of escaped pipes", table(5, "`a\\|b`|\n"), `[["pre","","|a|a`},
		{"a wide table", table(500, strings.Repeat("| b", 500)+"|\n"), `[["tb",["tr",["th","a"],["th","a"],`},
		{"nested lists, then blank lines", fill(strings.Repeat("- ", 1000)+"a\n", "\n"), strings.Repeat(`["ul",["li",`, maxNested) + `"- - `},
		{"nested quotes", fill(strings.Repeat(">", 1000)+"a\n", "a\n"), strings.Repeat(`["q",`, maxNested) + `["p","\u003e\u003e`},
		{"lists ever deeper", deeper(1000), `[["ul",["li","a\n",["ul",["li","a\n",`},
		{"open brackets", fill("", "["), `[["p","[[[[`},
		{"links to one target", fill("[a]: "+strings.Repeat("b", 10_000)+"\n\n", "[a]\n\n"), `[["p",["a","bbb`},
		{"lines", fill("", "a\n"), `[["p","a\na\n`},
		{"blank lines in a list", fill("- a\n", "\n"), `[["ul",["li","a\n"]]`},
	} {
		var tree []byte
		worst.Try(t, tt.name, func() { tree, _ = json.Marshal(markdown(tt.text)) })
		if got := string(tree); !strings.Contains(got[:min(len(got), 2000)], tt.want) {
			t.Errorf("%s: %.300s, want %.300s", tt.name, got, tt.want)
		}
		if most := 12 * maxMarkdown; len(tree) > most {
			t.Errorf("%s: a tree of %d KB, want %d at most", tt.name, len(tree)>>10, most>>10)
		}
	}
}

// deeper is a list in which each item is in the one above.
func deeper(depth int) string {
	var b strings.Builder
	for n := range depth {
		b.WriteString(strings.Repeat("  ", n) + "- a\n")
	}
	return b.String()
}

// TestMarkdownWorst: no text that is parsed takes much memory.
func TestMarkdownWorst(t *testing.T) {
	gittest.Check(t)
	worst.Hold(t, maxMarkdown, append(strings.Fields("*a_ _ * **a**b ~~a~ ~~a [a [ ]( ![a]( [a](b [a](<b [a][ ] <a <a\tb=' <!-- <? <![CDATA[ </b <b> &a; ` ``a \\ www.a( http://a.b) a@b.c a_ _a. [x] | |- |a `\\|`| - > * 1. # = ~~~ ```"),
		"- ", "> ", "1. ", "- > ", "-\t", ">\t", "    ", " ", "[a]: b ", "\n", "\r", "\u00e9"), func(text string) { markdown(text) })
}
