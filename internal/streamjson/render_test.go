package streamjson

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

var update = flag.Bool("update", false, "write what is rendered into testdata")

// render renders all of input, given in pieces of n bytes.
func render(t testing.TB, input string, n int) (string, Result) {
	t.Helper()
	var out bytes.Buffer
	r := NewRenderer(&out)
	for len(input) > 0 {
		piece := input[:min(n, len(input))]
		if _, err := r.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
		input = input[len(piece):]
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), r.Result()
}

// TestGolden renders output of the real client.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) != 10 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		input, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden := strings.TrimSuffix(file, "jsonl") + "txt"
		got, _ := render(t, string(input), 1<<20)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
		for _, n := range []int{1, 7, 4096} {
			if again, _ := render(t, string(input), n); again != got {
				t.Errorf("%s: in pieces of %d bytes it is\n%s\nnot\n%s", file, n, again, got)
			}
		}
	}
}

// TestResult checks for every sample how its run ended.
func TestResult(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Result{
		"E400":      {Told: true, IsError: true, Text: "API Error: 400 mock 400", Reason: "api_error"},
		"MAXTOK":    {Told: true, Text: "mock: ok", Reason: "completed"},
		"REFUSE":    {Told: true, Text: "mock: ok", Reason: "completed"},
		"agent":     {Told: true, Text: "agent finished", Reason: "completed"},
		"api_retry": {},
		"max-turns": {Told: true, IsError: true, Text: "Reached maximum number of turns (1)", Reason: "max_turns"},
		"rich":      {Told: true, Text: "Done: **all** finished.", Reason: "completed"},
		"sigint":    {Told: true, IsError: true, Text: "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use", Reason: "aborted_tools"},
	} {
		input, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		_, got := render(t, string(input), 1<<20)
		if len(got.Session) != 36 && want.Told {
			t.Errorf("%s: session %q", name, got.Session)
		}
		if got.Session = ""; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// The lines of tests.
const (
	delta1 = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"I look"}},"parent_tool_use_id":null}` + "\n"
	delta2 = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":" at it."}},"parent_tool_use_id":null}` + "\n"
	whole  = `{"type":"assistant","message":{"content":[{"type":"text","text":"I look at it."}]},"parent_tool_use_id":null}` + "\n"
	other  = `{"type":"assistant","message":{"content":[{"type":"text","text":"Something else."}]},"parent_tool_use_id":"toolu_1"}` + "\n"
)

func TestRender(t *testing.T) {
	t.Parallel()
	result := func(content string) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","content":` + content + `}]}}` + "\n"
	}
	for _, tt := range []struct{ name, input, want string }{
		{"nothing", "", ""},
		{"a text in pieces, once", delta1 + delta2 + whole, "I look at it.\n"},
		{"only half of the pieces came", delta1 + whole, "I look at it.\n"},
		{"cut off in the middle", delta1, "I look\n"},
		{"a sub-agent speaks in between", delta1 + other + delta2 + whole, "I look\n  Something else.\n at it.\n"},
		{"the same twice", whole + whole, "I look at it.\nI look at it.\n"},
		{"not JSON", "a warning\n" + whole + "half", "a warning\nI look at it.\nhalf\n"},
		{"JSON of somebody else", `{"level":"info"}` + "\n[1]\n", `{"level":"info"}` + "\n[1]\n"},
		{"unknown types", `{"type":"news","text":"x"}` + "\n" + `{"type":1}` + "\n", ""},
		{"wrong types", `{"type":"assistant","message":[1]}` + "\n" + `{"type":"user","message":{"content":"x"}}` + "\n" + `{"type":"result","errors":{"a":1}}` + "\n", ""},
		{"only a result", `{"type":"result","result":"the answer"}`, "the answer\n"},
		{"control characters", `{"type":"assistant","message":{"content":[{"type":"text","text":"a\u001b[31mb\u009b0m\rc\td\ne"}]}}`, "a[31mb0mc\td\ne\n"},
		{"one argument", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"a\n  b","description":"c"}}]}}`, "● Bash(a b)\n"},
		{"more arguments", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Grep","input":{"pattern":"x","n":1,"deep":{"a":[1]}}}]}}`, "● Grep(pattern: x, n: 1, deep: {\"a\":[1]})\n"},
		{"no arguments", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"List","input":{}}]}}`, "● List()\n"},
		{"long arguments", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"` + strings.Repeat("é", 200) + `"}}]}}`, "● Bash(" + strings.Repeat("é", 119) + "…)\n"},
		{"a result of six lines", result(`"1\n2\n3\n4\n5\n6\n"`), "  ⎿ 1\n    2\n    3\n    4\n    5\n    6\n"},
		{"a result of seven lines", result(`"1\n2\n3\n4\n5\n6\n7"`), "  ⎿ 1\n    2\n    3\n    4\n    5\n    … 2 more lines\n"},
		{"an image and a text", result(`[{"type":"image","source":{}},{"type":"text","text":"seen"}]`), "  ⎿ [image]\n    seen\n"},
	} {
		if got, _ := render(t, tt.input, 1<<20); got != tt.want {
			t.Errorf("%s: got\n%q\nwant\n%q", tt.name, got, tt.want)
		}
	}
}

// A line that exceeds the limit is dropped, and what follows is shown.
func TestLongLine(t *testing.T) {
	t.Parallel()
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", maxLine) + `"}}` + "\n"
	if got, _ := render(t, long+whole, 1<<16); got != "I look at it.\n" {
		t.Errorf("got %.100q", got)
	}
}

func TestWriteError(t *testing.T) {
	t.Parallel()
	r := NewRenderer(failing{})
	if _, err := r.Write([]byte(whole)); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("Write: %v", err)
	}
	if err := r.Close(); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("Close: %v", err)
	}
}

type failing struct{ io.Writer }

func (failing) Write([]byte) (int, error) { return 0, iotest.ErrTimeout }

// FuzzRender checks that nothing panics, that input in pieces gives the same output, and that JSON
// brings no control character to a terminal.
func FuzzRender(f *testing.F) {
	f.Add(delta1 + delta2 + whole + other)
	f.Add("not JSON\n" + `{"type":"result","is_error":true,"errors":["x"]}`)
	f.Fuzz(func(t *testing.T, input string) {
		got, result := render(t, input, 1<<20)
		if again, same := render(t, input, 3); again != got || same != result {
			t.Errorf("in pieces: %q, %+v, not %q, %+v", again, same, got, result)
		}
		if !strings.ContainsFunc(input, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 }) &&
			strings.ContainsFunc(got, func(c rune) bool { return c == 0x1b || c == 0x9b }) {
			t.Errorf("%q became %q", input, got)
		}
	})
}
