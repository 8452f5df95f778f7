package page

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"gitagent/test/gittest"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, source, want string }{
		{"nothing", "", `null`},
		{"a text", "It is *done*, **all** of ~~it~~ `x < y`.", `[["p","It is ",["em","done"],", ",["st","all"]," of ",["de","it"]," ",["c","x < y"],"."]]`},
		{"headings", "# One\n\n### Three\n", `[["h",1,"One"],["h",3,"Three"]]`},
		{"lists", "- a\n- [x] b\n\n3. c\n", `[["ul",["li","a\n"],["li",["x",true],"b\n"]],["ol",3,["li","c\n"]]]`},
		{"code", "```go\nif x {\n```\n\n    y\n", `[["pre","go","if x {\n"],["pre","","y\n"]]`},
		{"a table", "| a | b |\n| - | - |\n| 1 | 2 |\n", `[["tb",["tr",["th","a"],["th","b"]],["tr",["td","1"],["td","2"]]]]`},
		{"links", "[a](https://example.invalid/) <https://example.invalid/b> ![c](d.png)", `[["p",["a","https://example.invalid/","a"]," ",["a","https://example.invalid/b","https://example.invalid/b"]," ",["a","d.png","image: ","c"]]]`},
		{"a script's link stays a target", "[a](javascript:x)", `[["p",["a","javascript:x","a"]]]`},
		{"HTML is a text", "a <b onclick=x>c</b>\n\n<script>\nx\n</script>\n", `[["p","a <b onclick=x>c</b>"],["pre","html","<script>\nx\n</script>\n"]]`},
		{"entities", "&lt;b&gt; \\* &#x41;", `[["p","<b> * A"]]`},
		{"a quote, and lines", "> a\n> b\\\nc", `[["q",["p","a\nb",["br"],"c"]]]`},
	} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		gittest.Must(t, e.Encode(markdown(tt.source)))
		if got := strings.TrimSuffix(b.String(), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestMarkdownLong: what is longer than is parsed is there as a text.
func TestMarkdownLong(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	long := strings.Repeat("a line of words\n", maxMarkdown/10)
	if got := texts(markdown(long)); strings.Count(got, "words") != strings.Count(long, "words") {
		t.Errorf("%d words are left of %d", strings.Count(got, "words"), strings.Count(long, "words"))
	}
}

// texts are all strings of a tree.
func texts(n any) string {
	switch n := n.(type) {
	case string:
		return n
	case []node:
		var b strings.Builder
		for _, c := range n {
			b.WriteString(texts(c))
		}
		return b.String()
	}
	return ""
}

// FuzzMarkdown: any text becomes a tree of known tags that JSON takes, no deeper than a page's scripts follow.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n- b\n> c\n", "| a |\n| - |\n", "[a]: b\n[a]", "<!--", "```", strings.Repeat("> ", 200) + "x", strings.Repeat("- ", 200) + "x", strings.Repeat("*_", 200)} {
		f.Add(s)
	}
	tags := map[string]bool{}
	for _, tag := range strings.Fields("p h ul ol li q pre hr br c em st de a x tb tr th td") {
		tags[tag] = true
	}
	f.Fuzz(func(t *testing.T, source string) {
		if !utf8.ValidString(source) {
			return
		}
		tree := markdown(source)
		if _, err := json.Marshal(tree); err != nil {
			t.Fatal(err)
		}
		var walk func(list []node, depth int)
		walk = func(list []node, depth int) {
			if depth > maxDepth+4 {
				t.Fatalf("%d deep", depth)
			}
			for _, n := range list {
				if n, ok := n.([]node); ok {
					if tag, ok := n[0].(string); !ok || !tags[tag] {
						t.Fatalf("the tag %v", n[0])
					}
					walk(n[1:], depth+1)
				}
			}
		}
		walk(tree, 0)
	})
}
