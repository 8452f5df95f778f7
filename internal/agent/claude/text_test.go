package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

func TestText(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "transcripts", "five-turns.jsonl"))
	gittest.Must(t, err)
	all := transcript.Text(new(reader), data, 1000)
	for _, want := range [][]string{
		{"> T2 please go on", "", "-- thinking, 6 words --", "* Turn two: bash, two tools in one message.", "", "+ Bash(echo two > two.txt && cat two.txt)", "  | two", "+ Bash(ls)", "  | README.md"},
		{"> T4 please go on", "", "+ Bash(echo failing >&2; exit 3)", "  ! Exit code 3", "  ! failing", "+ Read(/home/dev/lab/repo/one.txt)"},
	} {
		i := slices.Index(all, want[0])
		if i < 0 || !slices.Equal(all[i:min(len(all), i+len(want))], want) {
			t.Errorf("no lines\n%s\nin\n%s", strings.Join(want, "\n"), strings.Join(all, "\n"))
		}
	}
	if len(all) == 0 || all[0] != "> T1 please write a file" || all[len(all)-1] != "* A5 done: wrote sub/five.txt" {
		t.Errorf("the conversation is\n%s", strings.Join(all, "\n"))
	}
	if last := transcript.Text(new(reader), data, 3); !slices.Equal(last, all[len(all)-3:]) {
		t.Errorf("the last 3 lines are %q", last)
	}
}

func TestTextOfMuch(t *testing.T) {
	t.Parallel()
	var result strings.Builder
	for i := range 100 {
		fmt.Fprintf(&result, `line %d\n`, i)
	}
	data := []byte(`{"type":"user","uuid":"1","promptId":"p","turnOrigin":"human","message":{"content":"two\nlines"}}
{"type":"assistant","uuid":"2","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"mcp__x","input":{"a":1}}]}}
{"type":"assistant","uuid":"2","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"mcp__x","input":{"a":1}}]}}
{"type":"assistant","uuid":"3","isSidechain":true,"message":{"id":"n","content":[{"type":"text","text":"of a sub-agent"}]}}
{"type":"user","uuid":"4","promptId":"p","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` + result.String() + `"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"5"}
torn {"type":"assistant"
{"type":"user","uuid":"6","promptId":"p","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}
`)
	want := []string{"> two", "> lines", "", "-- a sub-agent, 1 record --", "", "+ mcp__x(a: 1)"}
	for i := range resultLines {
		want = append(want, fmt.Sprintf("  | line %d", i))
	}
	want = append(want, "  | ... 80 more lines", "", "-- the conversation was compacted --", "-- interrupted --")
	if got := transcript.Text(new(reader), data, 100); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTodos(t *testing.T) {
	t.Parallel()
	call := func(id, name, input string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"u-%s","message":{"id":"m","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}]}}`+"\n", id, id, name, input)
	}
	result := func(id, task string) string {
		return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"ok"}]},"toolUseResult":{"task":{"id":"%s"}}}`+"\n", id, task)
	}
	for name, tt := range map[string]struct {
		lines string
		want  []transcript.Todo
	}{
		"none": {`{"type":"user","message":{"content":"TodoWrite"}}` + "\n", nil},
		"the last list counts": {
			call("a", "TodoWrite", `{"todos":[{"content":"old","status":"pending"}]}`) +
				call("b", "TodoWrite", `{"todos":[{"content":"read","status":"completed","activeForm":"reading"},{"content":"write","status":"in_progress"}]}`),
			[]transcript.Todo{{Text: "read", Status: "completed"}, {Text: "write", Status: "in_progress"}},
		},
		"tasks": {
			call("a", "TaskCreate", `{"subject":"read","description":"all"}`) + result("a", "7") +
				call("b", "TaskCreate", `{"subject":"write"}`) + result("b", "8") + call("c", "TaskCreate", `{"subject":"sing"}`) + result("c", "9") +
				call("d", "TaskUpdate", `{"taskId":"7","status":"completed"}`) + call("e", "TaskUpdate", `{"taskId":"8","subject":"write it","status":"in_progress"}`) +
				call("f", "TaskUpdate", `{"taskId":"9","status":"deleted"}`),
			[]transcript.Todo{{Text: "read", Status: "completed"}, {Text: "write it", Status: "in_progress"}},
		},
		"a record that is there twice": {
			call("a", "TaskCreate", `{"subject":"read"}`) + call("a", "TaskCreate", `{"subject":"read"}`),
			[]transcript.Todo{{Text: "read", Status: "pending"}},
		},
		"of a sub-agent": {`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"x"}}]}}` + "\n", nil},
		"of wrong types": {call("a", "TodoWrite", `{"todos":[7,{"content":8}]}`) + call("b", "TaskUpdate", `"x"`), nil},
	} {
		if got := transcript.Todos(new(reader), []byte(tt.lines)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func FuzzTodos(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"x"}}]}}`))
	f.Add([]byte(`{"type":"user","message":{"content":[{"tool_use_id":"a"}]},"toolUseResult":{"task":{"id":7}}}`))
	f.Fuzz(func(t *testing.T, segment []byte) {
		for _, todo := range transcript.Todos(new(reader), segment) {
			if todo.Text == "" {
				t.Error("an item without a text")
			}
		}
		if n := len(transcript.Text(new(reader), segment, 10)); n > 10 {
			t.Errorf("%d lines, want at most 10", n)
		}
	})
}
