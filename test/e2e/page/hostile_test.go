//go:build e2e

package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// evils are texts that run something, load something, or end what they stand in, where somebody takes them for HTML, for a
// script, for Markdown that may do everything, or for a terminal's words.
var evils = []string{
	`<script>globalThis.hacked = 1</script>`,
	`</script><script>globalThis.hacked = 1</script>`,
	`</title></style></textarea></noscript></template><img src=x onerror="globalThis.hacked=1">`,
	`<!--<script>`,
	`--!><svg/onload=globalThis.hacked=1>`,
	`]]><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
	`<img src="http://127.0.0.1:9/x.png">`,
	`<a href="javascript:globalThis.hacked=1">click</a>`,
	`<base href="http://127.0.0.1:9/"><meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">`,
	`<link rel=stylesheet href=http://127.0.0.1:9/x.css><style>@import "http://127.0.0.1:9/y.css"</style>`,
	`<form action="javascript:hacked=1"><button autofocus onfocus=hacked=1>x</button></form>`,
	`<details open ontoggle=globalThis.hacked=1>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=hacked=1&gt;">`,
	`[click](javascript:globalThis.hacked=1) [data](data:text/html,<script>hacked=1</script>) [tab](java	script:hacked=1)`,
	`[entity](&#106;avascript:globalThis.hacked=1) <javascript:globalThis.hacked=1> [vb](vbscript:x) [file](file:///etc/passwd)`,
	`![picture](http://127.0.0.1:9/p.png) ![js](javascript:hacked=1) [![in](http://127.0.0.1:9/q.png)](http://127.0.0.1:9/)`,
	"[ref]: javascript:globalThis.hacked=1\n\n[ref] and ![ref]",
	"```html\n<script>globalThis.hacked=1</script>\n```\n\n    <img src=x onerror=hacked=1>\n",
	"<div onclick=hacked=1>\n\n**bold** <img src=x onerror=hacked=1>\n\n</div>",
	"| a | b |\n| - | - |\n| <img src=x onerror=hacked=1> | `</td></table><script>hacked=1</script>` |",
	strings.Repeat("> ", 3000) + "deep", strings.Repeat("- ", 3000) + "deep", strings.Repeat("*_", 4000) + "x", strings.Repeat("[", 20_000), strings.Repeat("![", 10_000) + "x",
	"`" + strings.Repeat("a`", 5000),
	"\x1b[2J\x1b]0;title\x07\b\x1b]8;;http://127.0.0.1:9/\x1b\\link\x1b]8;;\x1b\\",
	"abc\u202egnp.exe\u2066 \u200b\u200d\ufeff\u2028\u2029 \u0085\u009b31m",
	"__proto__ constructor hasOwnProperty toString", `${globalThis.hacked=1} {{constructor.constructor('hacked=1')()}}`,
	`\u003cscript\u003eglobalThis.hacked=1\u003c/script\u003e &lt;script&gt;hacked=1&lt;/script&gt;`,
	"@@ -1,1 +1,1 @@\n-a\n+b\ndiff --git a/x b/x\nindex 0000000..1111111\n\\ No newline at end of file",
}

// TestPageHostile: a stranger has all of these in the prompts, replies, tools, results, names, files and titles of missions,
// which are fetched and shown beside one's own. Nothing runs, and nothing is loaded.
func TestPageHostile(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	w := newWorld(t)
	w.Write("file", "first\n")
	w.Commit("init")
	c := w.client(w.Dir)
	for i, evil := range evils {
		c.Prompt(evil)
		c.Say(evil)
		c.Use(evil, map[string]any{"command": evil, evil: []any{evil}}, evil, i%2 == 0)
		if i%4 == 0 {
			c.Delegate(evil, evil)
		}
		w.Write("file", evil+"\n")
		w.Write(named(evil), evil)
		c.Stop(evil)
		w.Write("between", evil)
	}
	w.run("git", "agent-turn", "start", "--title", strings.Join(evils[:12], " "))
	host := filepath.Join(filepath.Dir(w.Dir), "host.git")
	w.Git("init", "-q", "--bare", host)
	w.Git("push", "-q", host, "refs/heads/main", "refs/agent/missions/*:refs/agent/missions/*", "refs/notes/agent/*:refs/notes/agent/*")

	mine := newWorld(t)
	home := filepath.Dir(mine.Dir)
	if err := os.Remove(filepath.Join(home, ".config", "git-agent", "key")); err != nil {
		t.Fatal(err)
	}
	gittest.Key(home, "somebody")
	mine.Git("fetch", "-q", host, "refs/agent/missions/*:refs/agent/missions/*", "refs/notes/agent/*:refs/notes/agent/*")
	for _, shown := range []struct {
		by   string
		from *world
	}{{"who made it", w}, {"somebody else", mine}} {
		t.Run(shown.by, func(t *testing.T) {
			file := filepath.Join(place(t), "page.html")
			shown.from.run("git", "agent-turn", "page", "--all", "--out", file)
			measured := drive(t, file, map[string]any{"scenarios": scenarios("hostile"), "word": "first", "foreign": shown.from == mine})
			if measured["looked"] != float64(len(evils)) {
				t.Errorf("looked at %v turns of %d", measured["looked"], len(evils))
			}
		})
	}
}

// named is a text as a file's name.
func named(text string) string {
	name := strings.NewReplacer("/", "\u2215", "\x00", "").Replace(text)
	return "names/" + strings.ToValidUTF8(name[:min(len(name), 200)], "")
}
