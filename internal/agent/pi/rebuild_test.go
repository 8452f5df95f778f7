package pi

import (
	"bytes"
	"errors"
	"fmt"
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

var now = time.Date(2026, 11, 24, 9, 8, 7, 6e6, time.FixedZone("", 3600))

func cut(config string, foreign bool, segments ...[]byte) transcript.Cut {
	return transcript.Cut{Lines: agenttest.Lines(segments...), Foreign: foreign, Session: newID, At: now, Config: config, Dir: "/home/dev/wt"}
}

// said are the texts of a session's entries and the calls of tools, and fails the test unless each entry goes on from
// the one before.
func said(t *testing.T, file []byte) (list []string) {
	t.Helper()
	before := ""
	for i, line := range bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n")) {
		e := gjson.ParseBytes(line)
		if !gjson.ValidBytes(line) || i > 0 && e.Get("parentId").Str != before {
			t.Errorf("line %d does not go on from %q: %s", i+1, before, line)
		}
		if i > 0 {
			before = e.Get("id").Str
		}
		m := e.Get("message")
		switch kind := e.Get("type").Str + " " + m.Get("role").Str; kind {
		case "session ", "model_change ", "thinking_level_change ", "message system":
			continue
		case "compaction ", "custom_message ":
			list = append(list, strings.TrimSpace(kind))
			continue
		}
		if s := text(m.Get("content")); s != "" {
			list = append(list, s)
		}
		each(m.Get("content"), func(p gjson.Result) {
			if p.Get("type").Str == "toolCall" {
				list = append(list, p.Get("name").Str+" "+p.Get("arguments.command").Str)
			}
		})
	}
	return list
}

// TestRebuild cuts sessions with everything in them at every turn: what is on a branch that was left is not in it.
func TestRebuild(t *testing.T) {
	t.Parallel()
	tui := []string{"tui one SAY:tui-answer-one", "tui-answer-one"}
	two := append(slices.Clone(tui), "tui two SLOW:61000")
	three := append(slices.Clone(two), "tui three RUN:touch three.txt; sleep 0", "bash touch three.txt; sleep 0", "(no output)", "mock answer 12")
	const half = "bash echo half > half.txt; sleep 6"
	queued := []string{"TSLOW hello", half, "(no output)", "steer me", "mock: ok"}
	followed := append(slices.Clone(queued), "TSLOW two", half, "(no output)", "slow done", "follow up", "mock: ok")
	halted := append(slices.Clone(followed), "TSLOW three", half, "Command aborted")
	compacted := append(slices.Clone(halted), "TBIGT go", "bash echo big > big.txt", "(no output)", "compaction", "mock: ok", "compaction")
	for name, wants := range map[string][][]string{
		"tree": {
			tui, two, three,
			append(slices.Clone(three), "tui four SAY:tui-answer-four", "tui-answer-four"),
			append(slices.Clone(three), "tui five SAY:tui-answer-five", "tui-answer-five"),
		},
		"queued": {queued, followed, halted, compacted, append(slices.Clone(compacted), "T1 again", "custom_message", "bash echo one > one.txt", "(no output)", "A1 done")},
	} {
		data := agenttest.Capture(t, name)
		begun := transcript.Turns(Reader(), data)
		for i, want := range wants {
			var segments [][]byte
			from := 0
			for _, turn := range begun[:i+1] {
				segments = append(segments, data[from:turn.End])
				from = turn.End
			}
			for _, foreign := range []bool{false, true} {
				config := t.TempDir()
				got, err := agenttest.Rebuilt(Rebuild(cut(config, foreign, segments...)))
				gittest.Must(t, err)
				if path := filepath.Join(config, "sessions", "--home-dev-wt--", "2026-11-24T08-08-07-006Z_"+newID+".jsonl"); got.Path != path {
					t.Errorf("the file is %s, want %s", got.Path, path)
				}
				file := got.Content()
				want := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return foreign && s == "custom_message" })
				if list := said(t, file); !slices.Equal(list, want) {
					t.Errorf("%s, cut at %d, foreign %t:\ngot  %q\nwant %q", name, i+1, foreign, list, want)
				}
				if !bytes.HasPrefix(file, []byte(`{"type":"session","version":3,"id":"`+newID+`","timestamp":"2026-11-24T08:08:07.006Z","cwd":"/home/dev/wt"}`+"\n")) || bytes.Contains(file, []byte("33333333-")) {
					t.Errorf("%s, cut at %d: %.300s", name, i+1, file)
				}
				if foreign && (bytes.Contains(file, []byte(`"system"`)) || bytes.Contains(file, []byte("mock-model")) || bytes.Contains(file, []byte("gpt-mock"))) {
					t.Errorf("%s, cut at %d has a stranger's settings: %s", name, i+1, file)
				}
			}
		}
	}
}

// TestRebuildEntries: what is kept of each, for the user's own conversation and a stranger's; "" for nothing.
func TestRebuildEntries(t *testing.T) {
	t.Parallel()
	const zero = `"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	for _, tt := range []struct{ entry, own, foreign string }{
		{
			`"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"text","text":"","textSignature":"s"},{"type":"toolCall","id":"c","name":"n","arguments":{"a":{"b":1}},"x":1}],"api":"a","provider":"p","model":"m","stopReason":"toolUse","responseId":"r","timestamp":5}`,
			`"message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"text","text":"","textSignature":"s"},{"type":"toolCall","id":"c","name":"n","arguments":{"a":{"b":1}}}],"timestamp":5,"api":"a","provider":"p","model":"m",` + zero + `,"stopReason":"toolUse"}`,
			`"message":{"role":"assistant","content":[{"type":"text","text":""},{"type":"toolCall","id":"c","name":"n","arguments":{"a":{"b":1}}}],"timestamp":5,"api":"unknown","provider":"unknown","model":"unknown",` + zero + `,"stopReason":"toolUse"}`,
		},
		{`"type":"message","message":{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"deferred","deferred":{"id":"x"}}`, "", ""},
		{`"type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"n","content":"x","details":{"a":1}}`, `"message":{"role":"toolResult","content":[{"type":"text","text":"x"}],"toolCallId":"c","toolName":"n","isError":false}`, "own"},
		{`"type":"message","message":{"role":"system","content":"","sections":{"a":"b"},"toolsAdded":[{"name":"n"}]}`, `"message":{"role":"system","content":"","sections":{"a":"b"},"toolsAdded":[{"name":"n"}]}`, ""},
		{`"type":"message","message":{"role":"custom","content":"x"}`, "", ""},
		{`"type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":0,"fullOutputPath":"/x"}`, `"message":{"role":"bashExecution","content":[],"command":"ls","output":"a","exitCode":0}`, "own"},
		{`"type":"custom_message","customType":"t","content":"x","display":false,"details":1`, `"customType":"t","content":"x","display":false`, ""},
		{`"type":"compaction","summary":"s","firstKeptEntryId":"u","systemMessage":{"role":"system","content":"x"},"usage":{}`, `"summary":"s","firstKeptEntryId":"u","tokensBefore":0,"systemMessage":{"role":"system","content":"x"}`, `"summary":"s","firstKeptEntryId":"u","tokensBefore":0`},
		{`"type":"branch_summary","summary":"s","fromId":"z"`, `"summary":"s","fromId":"root"`, "own"},
		{`"type":"context_edit","targetId":"u","replacement":null`, `"targetId":"u","replacement":null`, "own"},
		{`"type":"context_edit","targetId":"u","replacement":{"content":[{"type":"text","text":"x"},{"type":"evil"}],"y":1}`, `"targetId":"u","replacement":{"content":[{"type":"text","text":"x"}]}`, "own"},
		{`"type":"model_change","provider":"p","modelId":"m"`, `"provider":"p","modelId":"m"`, ""},
		{`"type":"thinking_level_change","thinkingLevel":"high"`, `"thinkingLevel":"high"`, ""},
		{`"type":"custom","customType":"pi.virtual-model-state","data":{}`, "", ""},
		{`"type":"label","targetId":"u","label":"x"`, "", ""},
		{`"type":"session_info","name":"x"`, "", ""},
	} {
		const asked = `{"type":"message","id":"u","parentId":null,"timestamp":"2026-11-27T02:07:17.487Z","message":{"role":"user","content":"x"}}` + "\n"
		kind := tt.entry[:strings.Index(tt.entry, `",`)+1]
		for foreign, want := range map[bool]string{false: tt.own, true: tt.foreign} {
			if want == "own" {
				want = tt.own
			}
			if want != "" {
				want = fmt.Sprintf(`{%s,"id":"e","parentId":"u","timestamp":"2026-11-24T08:08:07.006Z",%s}`, kind, want)
			}
			got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), foreign, []byte(asked+`{"id":"e","parentId":"u",`+tt.entry+"}\n"))))
			gittest.Must(t, err)
			if file := strings.TrimSpace(string(bytes.Join(got.Lines[2:], nil))); file != want {
				t.Errorf("foreign %t:\ngot  %s\nwant %s", foreign, file, want)
			}
		}
	}
}

// TestRebuildKept: a compaction that keeps an entry that is left out keeps from the next one on.
func TestRebuildKept(t *testing.T) {
	t.Parallel()
	const lines = `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"label","id":"b","parentId":"a","targetId":"a","label":"x"}
{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"two"}}
{"type":"compaction","id":"d","parentId":"c","summary":"s","firstKeptEntryId":"b","tokensBefore":1}
`
	got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), false, []byte(lines))))
	gittest.Must(t, err)
	if file := string(got.Content()); !strings.Contains(file, `"parentId":"a"`) || !strings.Contains(file, `"firstKeptEntryId":"c"`) {
		t.Errorf("got %s", file)
	}
}

func TestRebuildNothing(t *testing.T) {
	t.Parallel()
	for _, lines := range []string{"", "{}\n", `{"type":"model_change","id":"a","parentId":null,"provider":"p","modelId":"m"}` + "\n"} {
		if _, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), false, []byte(lines)))); !errors.Is(err, transcript.ErrEmpty) {
			t.Errorf("%q: %v", lines, err)
		}
	}
}
