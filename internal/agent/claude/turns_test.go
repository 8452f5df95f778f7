package claude

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// sessions are files of the real client, by the names that the tests use.
var sessions = map[string]string{
	"five turns":       "../../../testdata/transcripts/five-turns.jsonl",
	"compaction":       "../../../testdata/transcripts/compaction-manual.jsonl",
	"sub-agent":        "../../../testdata/transcripts/subagent.jsonl",
	"sub-agent's own":  "../../../testdata/transcripts/subagent.dir/subagents/agent-ad9d878ba001a9465.jsonl",
	"after clear":      "../../../testdata/transcripts/interactive-after-clear.jsonl",
	"fork by client":   "../../../testdata/transcripts/fork-by-client.jsonl",
	"command and esc":  "testdata/interactive-command-queued-esc-shell.jsonl",
	"blocks and queue": "testdata/interactive-blocks-esc-queued.jsonl",
	"autocompaction":   "testdata/headless-autocompact-blocked.jsonl",
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(sessions[name]))
	gittest.Must(t, err)
	return b
}

func TestTurnsOfRealSessions(t *testing.T) {
	type turn struct {
		start  int
		prompt string // its beginning
		uuid   string // its beginning
		origin string
		source string
	}
	for name, want := range map[string][]turn{
		"five turns": {
			{313, "T1 please write a file", "42c45c68", "sdk", "sdk"},
			{21472, "T2 please go on", "e1601156", "sdk", "sdk"},
			{36380, "T3 please go on", "7e48c88b", "sdk", "sdk"},
			{42398, "T4 please go on", "a5402e9f", "sdk", "sdk"},
			{61052, "T5 please go on", "7b0a4f35", "sdk", "sdk"},
		},
		"compaction": {
			{313, "T1 please write a file", "42c45c68", "sdk", "sdk"},
			{21472, "T2 please go on", "e1601156", "sdk", "sdk"},
			{36380, "T3 please go on", "7e48c88b", "sdk", "sdk"},
			{42398, "T4 please go on", "a5402e9f", "sdk", "sdk"},
			{61052, "T5 please go on", "7b0a4f35", "sdk", "sdk"},
			{85475, "next please", "afcd687d", "sdk", "sdk"},
		},
		"sub-agent": {
			{311, "TSUB please delegate", "ed9715fd", "sdk", "sdk"},
			{21473, "<task-notification>\n<task-id>ad9d878ba001a9465", "cd2d144c", "task_notification", "system"},
		},
		"sub-agent's own": nil,
		"after clear": {
			{2099, "T3 after clear", "cc040a3d", "human", "typed"},
		},
		"fork by client": { // the old turns share one promptId
			{781, "T1 please write a file", "42c45c68", "sdk", "sdk"},
			{16665, "T2 please go on", "e1601156", "sdk", "sdk"},
			{27453, "T3 please go on", "7e48c88b", "sdk", "sdk"},
			{29911, "next please", "d67d36dc", "sdk", "sdk"},
		},
		"command and esc": {
			{517, "/greet bob", "cb6704ee", "human", ""},
			{11074, "TBUSY go", "09764007", "human", "typed"},
			{20409, "TSLOW stream", "74c3310f", "human", "typed"},
			{24189, "TTOOL go", "e8872892", "human", "typed"},
			{28375, "TERR go", "7965f06f", "human", "typed"},
			{31427, "TMULTI go", "d8573d3b", "human", "typed"},
			{34053, "TSAME go", "69c7bb75", "human", "typed"},
			{36678, "TTHINK go", "f98666fc", "human", "typed"},
			{39304, "TSLOW again", "9329853f", "human", "typed"},
			{43515, "TQ2 queued while streaming", "c6a99e3d", "human", "typed"},
			{47217, "!echo bashmode", "67edc889", "human", ""}, // from the command line on
		},
		"blocks and queue": {
			{517, "TMULTI go", "fa217436", "human", "typed"},
			{13165, "TTHT go", "ac03d2d1", "human", "typed"},
			{19377, "TSAME go", "3376512b", "human", "typed"},
			{27128, "TTHINK go", "96e7ecf2", "human", "typed"},
			{32818, "TSLOW stream", "e1e21c88", "human", "typed"},
			{36003, "TSLOW again", "fa867ebd", "human", "typed"},
			{41110, "TQ2 queued while streaming", "5ea7972b", "human", "queued"},
		},
		"autocompaction": { // its summary repeats promptId, turnOrigin and turnPosition
			{299, "TAUTO go", "38674c26", "sdk", "sdk"},
			{22624, "TBLOCK go", "dd11d87e", "sdk", "sdk"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := recorded(t, name)
			turns := transcript.Turns(new(reader), b)
			checkRanges(t, b, turns)
			if len(turns) != len(want) {
				t.Fatalf("got %d turns, want %d: %+v", len(turns), len(want), turns)
			}
			for i, got := range turns {
				want := want[i]
				if got.Start != want.start || !strings.HasPrefix(got.Prompt, want.prompt) || !strings.HasPrefix(got.UUID, want.uuid) ||
					got.Origin != want.origin || got.Source != want.source {
					t.Errorf("turn %d:\n got %+v\nwant %+v", i+1, got, want)
				}
				if got.PromptID == "" || got.At.Year() != 2026 {
					t.Errorf("turn %d: promptId %q, at %v", i+1, got.PromptID, got.At)
				}
			}
		})
	}
}

// checkRanges fails unless the turns are whole lines, in order, up to the end of the segment.
func checkRanges(t *testing.T, segment []byte, turns []transcript.FileTurn) {
	t.Helper()
	for i, turn := range turns {
		end := len(segment)
		if i+1 < len(turns) {
			end = turns[i+1].Start
		}
		if turn.Start < 0 || turn.Start >= turn.End || turn.End != end {
			t.Fatalf("turn %d is [%d,%d), want an end at %d", i+1, turn.Start, turn.End, end)
		}
		if turn.Start > 0 && segment[turn.Start-1] != '\n' {
			t.Fatalf("turn %d starts at %d, within a line", i+1, turn.Start)
		}
	}
}

// Lines shared by many inline sessions.
const (
	answer = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}}`
	result = `{"type":"user","promptId":"p1","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}`
)

func TestTurns(t *testing.T) {
	type turn struct {
		line   int // at which it starts, from 0
		prompt string
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  []turn
	}{
		{"what the user and the machine say within a turn starts none", []string{
			`{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}`,
			answer, result,
			`{"type":"user","promptId":"p1","isMeta":true,"message":{"content":"Stop hook feedback:\nno"}}`,
			`{"type":"user","promptId":"p1","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
			`{"type":"user","promptId":"p9","message":{"content":"<command-name>/model</command-name>"}}`,
			`{"type":"user","promptId":"p9","message":{"content":"<local-command-stdout>set</local-command-stdout>"}}`,
			`{"type":"user","promptId":"p8","message":{"content":"neither known nor a start in this version"}}`,
		}, []turn{{0, "go"}}},
		{"the summary of a compaction repeats the running turn", []string{
			`{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}`,
			`{"type":"system","subtype":"compact_boundary"}`,
			`{"type":"user","promptId":"p1","turnOrigin":"human","isCompactSummary":true,"message":{"content":"This session..."}}`,
			answer,
		}, []turn{{0, "go"}}},
		{"a segment that begins in a compaction is of a client that knows turnOrigin", []string{
			`{"type":"user","promptId":"p1","turnOrigin":"human","isCompactSummary":true,"message":{"content":"This session..."}}`,
			`{"type":"user","promptId":"p2","message":{"content":"not a turn"}}`,
		}, nil},
		{"sub-agents have no turns", []string{
			`{"type":"user","promptId":"p1","isSidechain":true,"turnOrigin":"human","message":{"content":"look around"}}`,
			`{"type":"user","promptId":"p2","isSidechain":true,"message":{"content":"look around"}}`,
		}, nil},
		{"both branches of a rewind are turns", []string{
			`{"type":"user","uuid":"a","parentUuid":"x","promptId":"p1","turnOrigin":"human","message":{"content":"one way"}}`,
			answer,
			`{"type":"user","uuid":"b","parentUuid":"x","promptId":"p2","turnOrigin":"human","message":{"content":"another way"}}`,
		}, []turn{{0, "one way"}, {2, "another way"}}},
		{"a record that is there twice starts one turn", []string{
			`{"type":"user","uuid":"a","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}`,
			answer,
			`{"type":"user","uuid":"a","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}`,
		}, []turn{{0, "go"}}},
		{"slash command, command line, task notification", []string{
			`{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"<command-message>turns</command-message>\n<command-name>/git-agent:turns</command-name>\n<command-args>m1 </command-args>"}}`,
			`{"type":"user","promptId":"p1","isMeta":true,"message":{"content":[{"type":"text","text":"expanded"}]}}`,
			answer,
			`{"type":"system","subtype":"turn_duration"}`,
			`{"type":"user","promptId":"p2","message":{"content":"<bash-input>ls -l</bash-input>"}}`,
			`{"type":"user","promptId":"p2","turnOrigin":"human","message":{"content":"<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"}}`,
			answer,
			`{"type":"user","promptId":"p3","isMeta":true,"message":{"content":"<system-reminder>"}}`,
			`{"type":"user","promptId":"p3","turnOrigin":"task_notification","message":{"content":"<task-notification>"}}`,
		}, []turn{{0, "/git-agent:turns m1"}, {4, "!ls -l"}, {7, "<task-notification>"}}},
		{"a local command before a prompt belongs to the turn before", []string{
			`{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}`,
			answer,
			`{"type":"user","promptId":"p2","message":{"content":"<bash-input>ls</bash-input>"}}`,
			`{"type":"user","promptId":"p3","turnOrigin":"human","message":{"content":"go on"}}`,
		}, []turn{{0, "go"}, {3, "go on"}}},
		{"all that leads into a turn", []string{
			answer,
			`{"type":"user","promptId":"p2","isMeta":true,"message":{"content":"<local-command-caveat>"}}`,
			`{"type":"user","promptId":"p2","isMeta":true,"message":{"content":"<system-reminder>"}}`,
			`{"type":"user","promptId":"p2","turnOrigin":"human","message":{"content":"go"}}`,
		}, []turn{{1, "go"}}},
		{"where all turns share one promptId, what has it leads into none", []string{
			result, answer,
			`{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}`,
			answer,
			`{"type":"user","promptId":"p1","isMeta":true,"message":{"content":"Stop hook feedback:\nno"}}`,
			`{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"go on"}}`,
		}, []turn{{2, "go"}, {5, "go on"}}},
		{"an unclosed tag is a prompt like any other", []string{
			`{"type":"user","turnOrigin":"human","message":{"content":"<command-message> what is this?"}}`,
			`{"type":"user","turnOrigin":"human","message":{"content":"<command-name>/x"}}`,
		}, []turn{{0, "<command-message> what is this?"}, {1, "<command-name>/x"}}},
		{"old client: a prompt is a user record with a new promptId", []string{
			`{"type":"user","promptId":"p0","isMeta":true,"message":{"content":"<local-command-caveat>"}}`,
			`{"type":"user","promptId":"p0","message":{"content":"<command-name>/clear</command-name>"}}`,
			`{"type":"user","promptId":"p0","message":{"content":"<local-command-stdout></local-command-stdout>"}}`,
			`{"type":"user","promptId":"p1","message":{"content":"go"}}`,
			answer, result,
			`{"type":"user","promptId":"p1","message":{"content":"told in the middle"}}`,
			`{"type":"user","promptId":"p1","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`,
			`{"type":"user","promptId":"p2","message":{"content":[{"type":"image","source":{}},{"type":"text","text":"what is it?"}]}}`,
			`{"type":"user","promptId":"p3","isCompactSummary":true,"message":{"content":"This session..."}}`,
			`{"type":"user","promptId":"p4","message":{"content":"<bash-input>ls</bash-input>"}}`,
			`{"type":"user","promptId":"p5"}`,
		}, []turn{{3, "go"}, {8, "what is it?"}}},
		{"old client: a segment that begins in the middle of a turn", []string{
			result,
			`{"type":"user","promptId":"p1","message":{"content":"told in the middle"}}`,
			`{"type":"user","promptId":"p2","message":{"content":"go"}}`,
		}, []turn{{2, "go"}}},
		{"older client: no promptId at all", []string{
			`{"type":"user","message":{"content":"one"}}`,
			answer,
			`{"type":"user","message":{"content":[{"type":"tool_result"}]}}`,
			`{"type":"user","message":{"content":"two"}}`,
		}, []turn{{0, "one"}, {3, "two"}}},
		{"session taken over by a client that writes turnOrigin", []string{
			`{"type":"user","promptId":"p1","message":{"content":"old"}}`,
			`{"type":"user","promptId":"p2","turnOrigin":"human","message":{"content":"new"}}`,
			`{"type":"user","promptId":"p3","message":{"content":"no turn any more"}}`,
		}, []turn{{0, "old"}, {1, "new"}}},
		{"what is no record is skipped", []string{
			``, `null`, `[]`, `"user"`, `{`, `{}`, "\x00\x00\x00", `{"type":"user"`, `{"type":["user"]}`,
			`{"type":"user","turnOrigin":"human","message":{"content":"torn`,
			`{"type":"user","turnOrigin":"human","message":{"content":"torn in the usage"},"usage":{"a":1}`,
			`{"type":"user","turnOrigin":"human","deep":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
			strings.Repeat(`{"type":`, 20000),
			`{"type":"progress","turnOrigin":"human","message":{"content":"unknown type"}}`,
			`{"type":"user","turnOrigin":"human","message":{"content":"go"}}`,
		}, []turn{{14, "go"}}},
		{"fields of the wrong type are as if absent", []string{
			`{"type":"user","uuid":1,"promptId":{},"timestamp":[],"isMeta":"yes","isSidechain":1,"isCompactSummary":null,"promptSource":2,"turnOrigin":"human","message":{"content":7}}`,
			`{"type":"user","turnOrigin":"human","message":"not an object"}`,
			`{"type":"user","turnOrigin":"human","message":{"content":["{\"type\":\"text\"}",3,null,{"type":"text","text":1},{"type":"text","text":"go"}]}}`,
		}, []turn{{0, ""}, {1, ""}, {2, "\ngo"}}},
		{"text is decoded as encoding/json does it", []string{
			`{"type":"user","turnOrigin":"human","message":{"content":"a\ud83d\u0041 \ud83d\ude00 \u0000 \"q\" \\"}}`,
			"{\"type\":\"user\",\"turnOrigin\":\"human\",\"message\":{\"content\":\"\xff\xfe\"}}",
		}, []turn{{0, "a\ufffdA 😀 \x00 \"q\" \\"}, {1, "\ufffd\ufffd"}}},
		{"spaces and the order of fields do not matter", []string{
			` { "message" : { "content" : "go" } , "turnOrigin" : "human" , "type" : "user" } `,
		}, []turn{{0, "go"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			segment := []byte(strings.Join(tt.lines, "\n") + "\n")
			turns := transcript.Turns(new(reader), segment)
			checkRanges(t, segment, turns)
			var got []turn
			for _, u := range turns {
				got = append(got, turn{strings.Count(string(segment[:u.Start]), "\n"), u.Prompt})
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestTurnFields(t *testing.T) {
	segment := []byte(`{"type":"user","uuid":"u","promptId":"p","turnOrigin":"human","promptSource":"typed",` +
		`"timestamp":"2026-11-21T00:24:47.662Z","message":{"content":"go"}}`) // no newline
	want := []transcript.FileTurn{{
		Start: 0, End: len(segment), UUID: "u", PromptID: "p", Prompt: "go", Origin: "human", Source: "typed",
		At: time.Date(2026, 11, 21, 0, 24, 47, 662e6, time.UTC),
	}}
	if got := transcript.Turns(new(reader), segment); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
