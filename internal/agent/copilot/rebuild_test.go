package copilot

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

const newID = "01a20fff-0000-4000-8000-000000000001"

func cut(foreign bool, segments ...[]byte) transcript.Cut {
	at := time.Date(2026, 11, 24, 9, 8, 7, 6e6, time.FixedZone("", 3600))
	return transcript.Cut{Lines: agenttest.Lines(segments...), Foreign: foreign, Session: newID, At: at, Config: "/home/dev/.copilot", Dir: "/home/dev/wt"}
}

// said is what a file's conversation says, a word for each event.
func said(file []byte) (list []string) {
	for line := range bytes.Lines(file) {
		data := gjson.GetBytes(line, "data")
		switch kind := gjson.GetBytes(line, "type").Str; kind {
		case "user.message", "assistant.message":
			for _, call := range data.Get("toolRequests").Array() {
				list = append(list, "call "+call.Get("name").Str)
			}
			if text := data.Get("content").Str; text != "" {
				list = append(list, text)
			}
		case "tool.execution_complete":
			list = append(list, "result")
		case "session.compaction_complete":
			list = append(list, "compacted: "+data.Get("summaryContent").Str)
		case "abort", "system.notification":
			list = append(list, kind)
		}
	}
	return list
}

// TestRebuild cuts conversations at every turn. The file is a session of its own, whose events are a chain.
func TestRebuild(t *testing.T) {
	t.Parallel()
	four := []string{"tui four RUN:sleep 60", "call bash", "result", "tui five FAIL:400", "system.notification", "call read_bash", "result", "tui six SAY:tui-answer-six", "tui-answer-six"}
	for name, turns := range map[string][][]string{
		"three-turns": {
			{"turn one SAY:answer one", "answer one"},
			{"turn two RUN:env | sort > env.txt", "call bash", "result", "mock answer 3"},
			{"turn three SAY:answer three", "answer three"},
		},
		"auto-compact": {
			{"auto one TOK:126000 RUN:echo x", "call bash", "result", "mock answer 25", "compacted: mock answer 24"},
			{"auto two SAY:after auto", "after auto"},
		},
		"interrupted": {{"inted SLOW:63000", "abort"}},
		"steering": {
			{"tui one SAY:tui-answer-one", "tui-answer-one"},
			{"tui two SLOW:61001", "mock answer 28"},
			{"tui three SAY:tui-answer-three", "tui-answer-three"},
			four,
			{"second client on a live session", "mock answer 33"},
		},
		"tui": {
			{"tui one RUN:echo tuione > t1.txt", "call bash", "result", "mock answer 34"},
			{"tui two SAY:answer-two", "answer-two", "compacted: mock answer 36"},
			{"tui four SAY:answer-four", "answer-four"},
			{"tui six SAY:six", "six"},
		},
	} {
		data := agenttest.Capture(t, name)
		source := gjson.GetBytes(data, "data.sessionId").Str
		var want []string
		for i, turn := range transcript.Turns(Reader(), data) {
			want = append(want, turns[i]...)
			for _, foreign := range []bool{false, true} {
				got, err := agenttest.Rebuilt(Rebuild(cut(foreign, data[:turn.Start], data[turn.Start:turn.End])))
				gittest.Must(t, err)
				file := got.Content()
				own := want
				if foreign {
					own = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "system.notification" })
				}
				if list := said(file); !slices.Equal(list, own) {
					t.Errorf("%s cut at %d, foreign %t:\ngot  %q\nwant %q", name, i+1, foreign, list, own)
				}
				if got.Path != filepath.FromSlash("/home/dev/.copilot/session-state/"+newID+"/events.jsonl") || got.Adopt != nil {
					t.Errorf("%s cut at %d goes to %s", name, i+1, got.Path)
				}
				for _, gone := range []string{source, "/home/dev/cop", `"hook.`, "permission", "usage_record", "agentId", "system.message"} {
					if bytes.Contains(file, []byte(gone)) {
						t.Errorf("%s cut at %d has %s of its source: %s", name, i+1, gone, file)
					}
				}
				if foreign && bytes.Contains(file, []byte("transformedContent")) {
					t.Errorf("%s cut at %d says what a stranger has put around prompts", name, i+1)
				}
				chained(t, file)
			}
		}
	}
}

// chained fails the test unless each event of a file names the one before it, and the first one the session.
func chained(t *testing.T, file []byte) {
	t.Helper()
	parent := "null"
	for line := range bytes.Lines(file) {
		if !gjson.ValidBytes(line) || gjson.GetBytes(line, "parentId").Raw != parent {
			t.Errorf("after %s comes %s", parent, line)
		}
		parent = gjson.GetBytes(line, "id").Raw
	}
	first, _, _ := bytes.Cut(file, []byte{'\n'})
	if data := gjson.GetBytes(first, "data"); data.Get("sessionId").Str != newID || data.Get("context.cwd").Str != "/home/dev/wt" || data.Get("startTime").Str != "2026-11-24T08:08:07.006Z" {
		t.Errorf("it begins with %s", first)
	}
}

// TestRebuildSubagent: a sub-agent's own conversation stays behind, its answer does not.
func TestRebuildSubagent(t *testing.T) {
	t.Parallel()
	got, err := agenttest.Rebuilt(Rebuild(cut(false, agenttest.Capture(t, "sub-agent"))))
	gittest.Must(t, err)
	if list := said(got.Content()); len(list) != 4 || list[1] != "call task" || list[3] != "sub answer" {
		t.Errorf("it says %q", list)
	}
}

// TestRebuildForeign: what makes the client read files, what a stranger could sign, and what nobody knows is left out.
func TestRebuildForeign(t *testing.T) {
	t.Parallel()
	const (
		image = `{"type":"blob","mimeType":"image/png","assetId":"sha256:x"}`
		asked = `{"type":"user.message","data":{"content":"x","agentMode":"autopilot","attachments":[{"type":"file","path":"/etc/passwd"},` + image + `]},"id":"a","timestamp":"2026-11-27T02:04:05.765Z","parentId":"z"}`
		said  = `{"type":"assistant.message","data":{"messageId":"m","content":"y","reasoningText":"hm","reasoningOpaque":"s","toolRequests":[{"name":"n","arguments":{"a":{"b":1}},"x":1}]},"id":"b","timestamp":"x"}`
		rest  = `{"type":"session.schedule_created","data":{},"id":"c"}` + "\n" + `{"type":"abort","data":{"reason":"x","reason":"y"},"id":"d"}` + "\n" +
			`{"type":"abort","data":{"reason":"x"},"id":"d","id":"e"}` + "\n" + `{"type":"abort","data":{"reason":"x"},"id":7}` + "\n" + `{"type":".call","data":{"name":"x"},"id":"f"}`
	)
	for foreign, want := range map[bool]string{
		false: `{"type":"user.message","data":{"content":"x","attachments":[{"type":"file","path":"/etc/passwd"},` + image + `]},"id":"a","timestamp":"2026-11-27T02:04:05.765Z","parentId":P}
{"type":"assistant.message","data":{"messageId":"m","content":"y","toolRequests":[{"name":"n","arguments":{"a":{"b":1}}}],"reasoningText":"hm","reasoningOpaque":"s"},"id":"b","timestamp":"1970-01-01T00:00:00Z","parentId":"a"}`,
		true: `{"type":"user.message","data":{"content":"x","attachments":[` + image + `]},"id":"a","timestamp":"2026-11-27T02:04:05.765Z","parentId":P}
{"type":"assistant.message","data":{"messageId":"m","content":"y","toolRequests":[{"name":"n","arguments":{"a":{"b":1}}}]},"id":"b","timestamp":"1970-01-01T00:00:00Z","parentId":"a"}`,
	} {
		got, err := agenttest.Rebuilt(Rebuild(cut(foreign, []byte(asked+"\n"+said+"\n"+rest))))
		gittest.Must(t, err)
		want = strings.Replace(want, "P}", gjson.GetBytes(got.Lines[0], "id").Raw+"}", 1)
		if file := strings.TrimSpace(string(bytes.Join(got.Lines[1:], nil))); file != want {
			t.Errorf("foreign %t:\ngot  %s\nwant %s", foreign, file, want)
		}
	}
	for _, empty := range []string{"", `{"type":"session.error","data":{"message":"x"},"id":"a"}`} {
		if _, err := agenttest.Rebuilt(Rebuild(cut(false, []byte(empty)))); !errors.Is(err, transcript.ErrEmpty) {
			t.Errorf("nothing said: %v", err)
		}
	}
}
