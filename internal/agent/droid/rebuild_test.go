package droid

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

const newID = "01a20fff-0000-4000-8000-000000000001"

func cut(foreign bool, segments ...[]byte) transcript.Cut {
	return transcript.Cut{Lines: agenttest.Lines(segments...), Foreign: foreign, Session: newID, Config: "/home/dev/.factory", Dir: "/home/dev/a wt.x"}
}

// said is what a file's conversation says, a word for each part.
func said(file []byte) (list []string) {
	for line := range bytes.Lines(file) {
		if summary := gjson.GetBytes(line, "summaryText").Str; summary != "" {
			list = append(list, "compacted: "+summary)
		}
		each(gjson.GetBytes(line, "message.content"), func(part gjson.Result) {
			switch kind := part.Get("type").Str; {
			case kind != "text":
				list = append(list, kind)
			case strings.HasPrefix(part.Get("text").Str, reminder):
				list = append(list, "reminder")
			default:
				list = append(list, part.Get("text").Str)
			}
		})
	}
	return list
}

// TestRebuild cuts conversations at every turn. The file is a session of its own, whose messages are a chain.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for name, turns := range map[string][][]string{
		"three-turns": {
			{"reminder", "turn one SAY:answer one", "answer one"},
			{"turn two RUN:env | sort > env.txt", "tool_use", "tool_result", "mock answer 8"},
			{"turn three SAY:answer three", "answer three"},
		},
		"failed":      {{"reminder", "turn FAIL:400"}},
		"interrupted": {{"reminder", "inted SLOW:61009"}},
		"compacted": {
			{"reminder", "T1 hello", "A1 done"},
			{"T2 hello", "tool_use", "tool_result", "mock: ok"},
			{"TFULL", "tool_use", "tool_result", "compacted: MOCK SUMMARY", "mock: ok"},
		},
	} {
		data := agenttest.Capture(t, name)
		source := gjson.GetBytes(data, "id").Str
		var want []string
		for i, turn := range transcript.Turns(Reader(), data) {
			want = append(want, turns[i]...)
			for _, foreign := range []bool{false, true} {
				got, err := agenttest.Rebuilt(Rebuild(cut(foreign, data[:turn.Start], data[turn.Start:turn.End])))
				gittest.Must(t, err)
				file, own := got.Content(), want
				if foreign {
					own = want[1:]
				}
				if list := said(file); !slices.Equal(list, own) {
					t.Errorf("%s cut at %d, foreign %t:\ngot  %q\nwant %q", name, i+1, foreign, list, own)
				}
				if want := filepath.FromSlash("/home/dev/.factory/sessions/-home-dev-a wt.x/" + newID + ".jsonl"); got.Path != want || got.Adopt != nil {
					t.Errorf("%s cut at %d goes to %s", name, i+1, got.Path)
				}
				for _, gone := range []string{source, "/home/dev/droid", "hook", "user_only", "hostId", "interactionMode", "agent_turn_outcome", "systemInfo"} {
					if bytes.Contains(file, []byte(gone)) {
						t.Errorf("%s cut at %d has %s of its source: %s", name, i+1, gone, file)
					}
				}
				chained(t, file)
			}
		}
	}
}

// chained fails the test unless each message of a file names the one before it, and the first line the session.
func chained(t *testing.T, file []byte) {
	t.Helper()
	parent := ""
	for line := range bytes.Lines(file) {
		switch gjson.GetBytes(line, "type").Str {
		case "session_start":
			if want := `{"type":"session_start","id":"` + newID + `","title":"New Session","owner":"unknown","version":2,"cwd":"/home/dev/a wt.x"}` + "\n"; string(line) != want {
				t.Errorf("it begins with %s", line)
			}
		case "message":
			if !gjson.ValidBytes(line) || gjson.GetBytes(line, "parentId").Str != parent {
				t.Errorf("after %s comes %s", parent, line)
			}
			parent = gjson.GetBytes(line, "id").Str
		}
	}
}

// TestRebuildForeign: what a stranger could sign, and what nobody knows, is left out.
func TestRebuildForeign(t *testing.T) {
	t.Parallel()
	const (
		at    = `"timestamp":"2026-11-27T02:04:05.765Z",`
		head  = `{"type":"message","id":"a",` + at
		input = head + `"parentId":"z","x":1,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"y","x":1}],"openaiEncryptedContent":"e","interactionMode":"auto"}}` + "\n" +
			`{"type":"message","id":"b","message":{"role":"user","content":"no time"}}` + "\n" +
			`{"type":"message","id":"b",` + at + `"message":{"role":"user","role":"user","content":"twice"}}` + "\n" +
			`{"type":".part","id":"c",` + at + `"text":"x"}` + "\n" +
			`{"type":"todo_state","id":"d",` + at + `"todos":[]}`
	)
	for foreign, want := range map[bool]string{
		false: head + `"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"y"}],"openaiEncryptedContent":"e"}}`,
		true:  head + `"message":{"role":"assistant","content":[{"type":"text","text":"y"}]}}`,
	} {
		got, err := agenttest.Rebuilt(Rebuild(cut(foreign, []byte(input))))
		gittest.Must(t, err)
		if file := strings.TrimSpace(string(bytes.Join(got.Lines[1:], nil))); file != want {
			t.Errorf("foreign %t:\ngot  %s\nwant %s", foreign, file, want)
		}
	}
	for _, empty := range []string{"", head + `"message":{"role":"user","visibility":"llm_only","content":"x"}}`} {
		if _, err := agenttest.Rebuilt(Rebuild(cut(false, []byte(empty)))); !errors.Is(err, transcript.ErrEmpty) {
			t.Errorf("nothing said: %v", err)
		}
	}
}
