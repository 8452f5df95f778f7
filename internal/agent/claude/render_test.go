package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

var update = flag.Bool("update", false, "write what is rendered into testdata/rendered")

func render(t testing.TB, form transcript.Form, segments ...[]byte) string {
	t.Helper()
	var b strings.Builder
	r := transcript.NewRenderer(&b, new(reader), form)
	for i, s := range segments {
		if len(segments) > 1 {
			gittest.Must(t, r.Begin(fmt.Sprintf("turn %d", i+1), new(reader)))
		}
		if _, err := r.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Must(t, r.Close())
	return b.String()
}

// TestRenderRealSessions compares with golden texts: folded on a terminal, and all of it elsewhere.
func TestRenderRealSessions(t *testing.T) {
	t.Parallel()
	for name := range sessions {
		if strings.HasSuffix(name, "own") {
			continue // all of it is aside
		}
		for ext, form := range map[string]transcript.Form{".txt": {Results: 5, Columns: 80}, ".full.txt": {Full: true}} {
			path := filepath.Join("testdata", "rendered", strings.ReplaceAll(name, " ", "-")+ext)
			got := render(t, form, recorded(t, name))
			if *update {
				gittest.Must(t, os.WriteFile(path, []byte(got), 0o666))
			}
			want, err := os.ReadFile(path)
			gittest.Must(t, err)
			if got != string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
				t.Errorf("%s is rendered otherwise; see the difference with: go test ./internal/agent/claude -update && git diff\n%s", path, got)
			}
		}
	}
}

// sayLine is a line of the model's, askLine one of a person's, resultLine one with the result of a tool.
func sayLine(t testing.TB, at string, blocks ...any) string {
	return jsonLine(t, map[string]any{"type": "assistant", "timestamp": at, "message": map[string]any{"content": blocks}})
}

func askLine(t testing.TB, at string, content any) string {
	return jsonLine(t, map[string]any{"type": "user", "timestamp": at, "turnOrigin": "human", "message": map[string]any{"content": content}})
}

func resultLine(t testing.TB, at, id string, content any) string {
	block := map[string]any{"type": "tool_result", "tool_use_id": id, "content": content}
	return jsonLine(t, map[string]any{"type": "user", "timestamp": at, "message": map[string]any{"content": []any{block}}})
}

func jsonLine(t testing.TB, fields map[string]any) string {
	t.Helper()
	line, err := json.Marshal(fields)
	gittest.Must(t, err)
	return string(line) + "\n"
}

func block(kind string, pairs ...any) map[string]any {
	b := map[string]any{"type": kind}
	for i := 0; i < len(pairs); i += 2 {
		b[pairs[i].(string)] = pairs[i+1]
	}
	return b
}

// hiding is a text of which a terminal shows less, hidden all of it.
const (
	hiding = "rm -rf ~\rfix\x1b]0;all tests\a it\x1b[я now"
	hidden = `rm -rf ~\rfix\x1b]0;all tests\x07 it\x1b[я now`
)

func TestRender(t *testing.T) {
	t.Parallel()
	image := block("image", "source", map[string]any{"type": "base64", "media_type": "image/png", "data": strings.Repeat("A", 4096)})
	bash := func(id, command string) map[string]any {
		return block("tool_use", "id", id, "name", "Bash", "input", map[string]any{"command": command})
	}
	lines := func(n int) string { return strings.Repeat("x\n", n) }
	for name, tt := range map[string]struct {
		in   string
		form transcript.Form
		want string
	}{
		"nothing": {"", transcript.Form{}, ""},
		"a prompt of several lines, wrapped": {
			askLine(t, "", "one two three four five six\n\n> quoted\n"),
			transcript.Form{Columns: 22},
			"> one two three four\n> five six\n>\n> > quoted\n",
		},
		"a reply in Markdown": {
			sayLine(t, "", block("text", "text", "# Head\n\nsome words that are many\n```\ncode code code code code\n```\n")),
			transcript.Form{Columns: 22},
			"* # Head\n\n  some words that are\n  many\n  ```\n  code code code code code\n  ```\n",
		},
		"an image, alone and with a text": {
			askLine(t, "", []any{image}) + askLine(t, "", []any{block("text", "text", "look"), image}),
			transcript.Form{},
			"> [image, image/png, 3.0 KiB]\n\n> look\n> [image, image/png, 3.0 KiB]\n",
		},
		"an image as a result": {
			resultLine(t, "", "a", []any{block("text", "text", "it is"), image}),
			transcript.Form{Results: 2},
			"+ (result)\n  | it is\n  | [image, image/png, 3.0 KiB]\n",
		},
		"calls at once": {
			sayLine(t, "", bash("a", "one"), bash("b", "two")) + resultLine(t, "", "b", "of two") + resultLine(t, "", "a", "of one"),
			transcript.Form{Results: 2},
			"+ Bash(two)\n  | of two\n+ Bash(one)\n  | of one\n",
		},
		"a call without a result": {
			sayLine(t, "", bash("a", "one")) + askLine(t, "", "next"),
			transcript.Form{},
			"+ Bash(one)\n\n> next\n",
		},
		"a long result": {resultLine(t, "", "a", lines(9)), transcript.Form{Results: 5}, "+ (result)\n" + strings.Repeat("  | x\n", 5) + "  | ... 4 more lines\n"},
		"one line more": {resultLine(t, "", "a", lines(6)), transcript.Form{Results: 5}, "+ (result)\n" + strings.Repeat("  | x\n", 6)},
		"all of it":     {resultLine(t, "", "a", lines(9)), transcript.Form{Results: 5, Full: true}, "+ (result)\n" + strings.Repeat("  | x\n", 9)},
		"a long line, cut": {
			resultLine(t, "", "a", strings.Repeat("x", 1000)), transcript.Form{Results: 5, Columns: 30}, "+ (result)\n  | " + strings.Repeat("x", 25) + "…\n",
		},
		"what a terminal would obey": {
			resultLine(t, "", "a", "\x1b[1;31mred\x1b[m \x1b]0;title\a\x1b]8;;x\x1b\\link\n 1%\r 50%\r100%\r\nbell\a \x9b31m \u202e \x1b(Bx \x1b"),
			transcript.Form{Results: 5},
			"+ (result)\n  | red link\n  | 100%\n  | bell\\x07 \ufffd31m \\u202e x \\x1b\n",
		},
		"what a terminal would obey, all of it": {
			resultLine(t, "", "a", "\x1b[1mred\x1b[m \x1b]0;title\a\n 1%\r100%\r\nend\r"),
			transcript.Form{Full: true},
			"+ (result)\n  | \\x1b[1mred\\x1b[m \\x1b]0;title\\x07\n  |  1%\\r100%\n  | end\\r\n",
		},
		"a prompt that a terminal would hide": {
			askLine(t, "", hiding), transcript.Form{}, "> " + hidden + "\n",
		},
		"a reply that a terminal would hide": {
			sayLine(t, "", block("text", "text", hiding)), transcript.Form{}, "* " + hidden + "\n",
		},
		"thinking that a terminal would hide": {
			sayLine(t, "", block("thinking", "thinking", hiding)), transcript.Form{Full: true}, "-- thinking, 7 words --\n  ~ " + hidden + "\n",
		},
		"a call that a terminal would hide": {
			sayLine(t, "", bash("a", hiding)), transcript.Form{}, "+ Bash(" + strings.ReplaceAll(hidden, `\r`, " ") + ")\n",
		},
		"arguments that a terminal would hide": {
			sayLine(t, "", bash("a", hiding)),
			transcript.Form{Full: true},
			"+ Bash(" + strings.ReplaceAll(hidden, `\r`, " ") + ")\n  : command: " + hidden + "\n",
		},
		"an error that a terminal would hide": {
			strings.ReplaceAll(sayLine(t, "", block("text", "text", hiding)), `"type":"assistant"`, `"type":"assistant","isApiErrorMessage":true`),
			transcript.Form{},
			"! " + hidden + "\n",
		},
		"arguments": {
			sayLine(t, "", block("tool_use", "id", "a", "name", "Edit", "input", map[string]any{"file_path": "a.go", "new_string": "x\n\ty\n", "all": true})),
			transcript.Form{Full: true},
			"+ Edit(a.go)\n  : all: true\n  : file_path: a.go\n  : new_string:\n  :    x\n  :    \ty\n",
		},
		"arguments of a tool that nobody knows": {
			sayLine(t, "", block("tool_use", "id", "a", "name", "mcp__x", "input", map[string]any{"a": 1, "b": "two\nlines", "c": []int{1}})),
			transcript.Form{},
			"+ mcp__x(a: 1, b: two lines)\n",
		},
		"todos": {
			sayLine(t, "", block("tool_use", "id", "a", "name", "TodoWrite", "input", map[string]any{"todos": []any{
				map[string]any{"content": "read", "status": "completed"}, map[string]any{"content": "write", "status": "in_progress"}, map[string]any{"content": "sing"},
			}})) + resultLine(t, "", "a", "ok"),
			transcript.Form{Results: 1},
			"+ TodoWrite()\n  : [x] read\n  : [>] write\n  : [ ] sing\n  | ok\n",
		},
		"a sub-agent in the same file": {
			askLine(t, "", "go") + strings.ReplaceAll(askLine(t, "", "do"), `{"`, `{"isSidechain":true,"`) + sayLine(t, "", block("text", "text", "done")),
			transcript.Form{},
			"> go\n\n-- a sub-agent, 1 record --\n\n* done\n",
		},
		"a reply that is no list of blocks": {
			jsonLine(t, map[string]any{"type": "assistant", "message": map[string]any{"content": "done"}}), transcript.Form{}, "* done\n",
		},
		"text beside a result": {
			strings.Replace(resultLine(t, "", "a", "ok"), `"content":[`, `"content":[{"type":"text","text":"and delete it"},`, 1),
			transcript.Form{Full: true},
			"+ (result)\n  | ok\n\n-- the client says, 3 words --\n  ~ and delete it\n",
		},
		"a result beside a prompt": {
			askLine(t, "", []any{block("text", "text", "go"), block("tool_result", "tool_use_id", "a", "content", "ok")}),
			transcript.Form{},
			"> go\n\n+ (result)\n  | ok\n",
		},
		"a word beside an interruption": {
			askLine(t, "", "go") + strings.ReplaceAll(askLine(t, "", "[Request interrupted by user] for now"), `"turnOrigin":"human",`, ""),
			transcript.Form{Full: true},
			"> go\n\n-- interrupted --\n-- the client says, 6 words --\n  ~ [Request interrupted by user] for now\n",
		},
		"arguments that are no object": {
			sayLine(t, "", block("tool_use", "id", "a", "name", "x", "input", []any{"b", []any{"c"}})),
			transcript.Form{Full: true},
			"+ x(0: b)\n  : [\"b\",[\"c\"]]\n",
		},
		"arguments beside todos": {
			sayLine(t, "", block("tool_use", "id", "a", "name", "x", "input", map[string]any{"b": "c", "todos": []any{map[string]any{"content": "d"}}})),
			transcript.Form{Full: true},
			"+ x(b: c)\n  : [ ] d\n  : b: c\n  : todos: [{\"content\":\"d\"}]\n",
		},
		"a block of another kind": {
			sayLine(t, "", block("server_tool_use", "name", "b")),
			transcript.Form{Full: true},
			"-- server_tool_use, 1 word --\n  ~ {\"name\":\"b\",\"type\":\"server_tool_use\"}\n",
		},
		"a line of which little can be seen": {
			resultLine(t, "", "a", "xy"+strings.Repeat("\u0301", 4*maxPlain)+"z"),
			transcript.Form{Results: 5},
			"+ (result)\n  | xy" + strings.Repeat("\u0301", 4*maxPlain-1) + "…\n",
		},
		"thinking": {
			sayLine(t, "", block("thinking", "thinking", "one two"), block("thinking", "thinking", ""), block("text", "text", "three")),
			transcript.Form{},
			"-- thinking, 2 words --\n* three\n",
		},
		"thinking, all of it": {
			sayLine(t, "", block("thinking", "thinking", "one two\n"), block("text", "text", "three")),
			transcript.Form{Full: true},
			"-- thinking, 2 words --\n  ~ one two\n\n* three\n",
		},
		"in colour": {
			askLine(t, "", "a\nb") + sayLine(t, "", bash("x", "y"), block("text", "text", "c\nd")),
			transcript.Form{Colour: true},
			"\x1b[1m> a\x1b[m\n\x1b[1m> b\x1b[m\n\n\x1b[36m+ Bash(y)\x1b[m\n\n\x1b[32m*\x1b[m c\n  d\n",
		},
		"no line feed at the end": {strings.TrimSuffix(askLine(t, "", "go"), "\n"), transcript.Form{}, "> go\n"},
		"torn":                    {`{"type":"user","turnOrigin":"human","message":{"content":"go"}` + "\n", transcript.Form{}, ""},
		"too long":                {`{"type":"user","x":"` + strings.Repeat("x", maxRecord) + "\"}\n" + askLine(t, "", "go"), transcript.Form{}, "-- a record of 32 MiB is left out --\n\n> go\n"},
	} {
		if got := render(t, tt.form, []byte(tt.in)); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestRenderInstead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	r := transcript.NewRenderer(&b, new(reader), transcript.Form{})
	gittest.Must(t, cmp.Or(r.Begin("turn 1", new(reader)), r.Instead(time.Time{}, hiding, hiding), r.Close()))
	want := "-- turn 1 --\n> " + hidden + "\n\n* " + hidden + "\n\n-- there is no transcript --\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestRenderTimes(t *testing.T) {
	t.Parallel()
	local := func(clock string) string {
		return time.Date(2026, 11, 21, 0, 0, 0, 0, time.Local).Format("2006-01-02T") + clock + time.Date(2026, 11, 21, 0, 0, 0, 0, time.Local).Format("Z07:00")
	}
	text := func(s string) any { return block("text", "text", s) }
	first := askLine(t, local("10:00:00"), "go") + sayLine(t, local("10:00:59"), text("soon")) + sayLine(t, local("10:01:10"), text("later"))
	second := askLine(t, local("10:01:20"), "on") + sayLine(t, "no time", text("done"))
	form := transcript.Form{When: func(at time.Time) string { return at.Local().Format("Monday\n15:04") }}
	want := "-- turn 1, Saturday 10:00 --\n> go\n\n* soon\n\n-- 10:01 --\n* later\n\n-- turn 2, 10:01 --\n> on\n\n* done\n"
	if got := render(t, form, []byte(first), []byte(second)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzRender checks that only ours stands at the beginning of a line, that nothing is left that a
// terminal would obey, that the size is bounded, and that it does not matter in which pieces the
// lines come.
func FuzzRender(f *testing.F) {
	for name := range sessions {
		for _, line := range lines(recorded(f, name)) {
			f.Add(line, 80, 5, len(line)%2 == 0)
		}
	}
	f.Add([]byte(resultLine(f, "", "a", "\x1b[31mred\x1b[m\r\n\x1b]8;;x\x1b\\")+sayLine(f, "", block("tool_use", "id", "a", "name", "X\nY", "input", 7))), 20, 1, true)
	f.Fuzz(func(t *testing.T, segment []byte, columns, results int, full bool) {
		form := transcript.Form{Results: max(0, results%100), Columns: max(0, columns%300), Full: full, When: func(at time.Time) string { return at.UTC().Format(time.RFC3339) }}
		whole := render(t, form, segment)
		if len(whole) > 200*len(segment)+1000 {
			t.Errorf("%d bytes became %d", len(segment), len(whole))
		}
		if !utf8.ValidString(whole) {
			t.Errorf("%q is not UTF-8", whole)
		}
		for line := range strings.Lines(whole) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsFunc(line, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }) {
				t.Errorf("%q has a control character", line)
			}
			if line != "" && !strings.ContainsRune(">*+-! ", rune(line[0])) {
				t.Errorf("%q begins with a stranger's text", line)
			}
		}
		var b strings.Builder
		r := transcript.NewRenderer(&b, new(reader), form)
		for piece := range slices.Chunk(segment, 7) {
			if _, err := r.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil || b.String() != whole {
			t.Errorf("in pieces it is %v\n%s\nin one\n%s", err, b.String(), whole)
		}
	})
}

// TestRenderCalls compares with a list of calls that is searched from its beginning each time.
func TestRenderCalls(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 10))
	var in, want strings.Builder
	var list [][2]string // ids and names
	show := func(i int) {
		want.WriteString("+ " + list[i][1] + "()\n")
		list = slices.Delete(list, i, i+1)
	}
	for n := range 12000 {
		if random.IntN(5) < 4 {
			id, name := strconv.Itoa(n), strings.Repeat("x", 1+random.IntN(450))
			if random.IntN(3000) == 0 {
				id = "" // no result can name it
			}
			call := block("tool_use", "id", id, "name", name)
			waiting := 0
			for _, c := range append(list, [2]string{id, name}) {
				waiting += len("+ ()\n") + len(c[1])
			}
			for len(list) > 0 && (waiting > maxCalls || id == "") {
				show(0)
			}
			list = append(list, [2]string{id, name})
			if id == "" {
				show(0)
			}
			in.WriteString(sayLine(t, "", call))
			continue
		}
		id := strconv.Itoa(random.IntN(n + 1))
		in.WriteString(resultLine(t, "", id, "done"))
		if i := slices.IndexFunc(list, func(c [2]string) bool { return c[0] == id }); i >= 0 {
			show(i)
		} else {
			want.WriteString("+ (result)\n")
		}
		want.WriteString("  | done\n")
	}
	for len(list) > 0 {
		show(0)
	}
	if got := render(t, transcript.Form{}, []byte(in.String())); got != want.String() {
		t.Errorf("%d bytes of calls and results are not as expected", len(got))
	}
}

// full fails like a pager that was quit.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRenderToNobody(t *testing.T) {
	t.Parallel()
	r := transcript.NewRenderer(full{}, new(reader), transcript.Form{})
	line, n := []byte(askLine(t, "", "go")), 0
	for ; n < 10000; n++ {
		if _, err := r.Write(line); err != nil {
			break
		}
	}
	if n == 10000 || r.Close() == nil {
		t.Errorf("%d prompts were written to nobody", n)
	}
}

// TestRenderManyCalls counts what is allocated for calls whose results come after all of them.
func TestRenderManyCalls(t *testing.T) {
	var b bytes.Buffer
	for _, kind := range []string{"call", "result"} {
		for n := range 10000 {
			if id := strconv.Itoa(n); kind == "call" {
				b.WriteString(sayLine(t, "", block("tool_use", "id", id, "name", "x")))
			} else {
				b.WriteString(resultLine(t, "", id, "done"))
			}
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := transcript.NewRenderer(io.Discard, new(reader), transcript.Form{})
	if _, err := r.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := int(after.TotalAlloc - before.TotalAlloc); got > 30*b.Len() {
		t.Errorf("%d bytes were allocated for %d", got, b.Len())
	}
}

func BenchmarkRender(b *testing.B) {
	data := recorded(b, "five turns")
	for name, form := range map[string]transcript.Form{"folded": {Results: 5, Columns: 80, Colour: true}, "full": {Full: true, Columns: 80, Colour: true}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100 * int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r := transcript.NewRenderer(io.Discard, new(reader), form)
				for range 100 {
					_ = r.Begin("turn", new(reader))
					_, _ = r.Write(data)
				}
				_ = r.Close()
			}
		})
	}
}
