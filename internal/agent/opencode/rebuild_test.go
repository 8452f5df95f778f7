package opencode

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

func rebuilt(t *testing.T, foreign bool, segments ...[]byte) []byte {
	t.Helper()
	r, err := agenttest.Rebuilt(OpenCode.Rebuild(transcript.Cut{Lines: agenttest.Lines(segments...), Session: "ses_new", At: time.Unix(1.7e9, 0), Dir: "/home/dev/fork", Foreign: foreign}))
	gittest.Must(t, err)
	if want := filepath.Join("git-agent", "opencode", "ses_new.jsonl"); !strings.HasSuffix(r.Path, want) || r.Adopt == nil {
		t.Errorf("got %+v", r)
	}
	return r.Content()
}

// A rebuilt conversation says the same, under ids of its own that keep the order.
func TestRebuild(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	for _, name := range []string{"conversation.jsonl", "compacted.jsonl", "stopped.jsonl"} {
		source := capture(t, name)
		file := rebuilt(t, false, source)
		was, is := entries(source), entries(file)
		if len(was) != len(is) {
			t.Errorf("%s: %d messages of %d", name, len(is), len(was))
			continue
		}
		last := ""
		for i := range was {
			if brief(was[i]) != brief(is[i]) {
				t.Errorf("%s: message %d: %q was %q", name, i, brief(is[i]), brief(was[i]))
			}
			if is[i].ID <= last || is[i].ID == was[i].ID {
				t.Errorf("%s: message %d: id %s after %s", name, i, is[i].ID, last)
			}
			last = is[i].ID
		}
		for _, word := range []string{"snapshot", `"patch"`, "statusCode"} {
			if bytes.Contains(file, []byte(word)) {
				t.Errorf("%s: %s is left", name, word)
			}
		}
	}
}

// TestRebuildKilo: what Kilo has written, cut at each turn, own and a stranger's, says the same; and a message that names no
// agent has its own.
func TestRebuildKilo(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	var turns [][]byte
	for line := range bytes.Lines(capture(t, kilos)) {
		if gjson.GetBytes(line, "info.role").Str == "user" {
			turns = append(turns, nil)
		}
		turns[len(turns)-1] = append(turns[len(turns)-1], line...)
	}
	if len(turns) != 4 {
		t.Fatalf("%d turns", len(turns))
	}
	for k := range turns {
		for _, foreign := range []bool{false, true} {
			r, err := agenttest.Rebuilt(Kilo.Rebuild(transcript.Cut{Lines: agenttest.Lines(turns[:k+1]...), Session: "ses_new", At: time.Unix(1.7e9, 0), Dir: "/home/dev/fork", Foreign: foreign}))
			gittest.Must(t, err)
			if want := filepath.Join("git-agent", "kilo", "ses_new.jsonl"); !strings.HasSuffix(r.Path, want) {
				t.Errorf("it is written to %s", r.Path)
			}
			was, is := entries(bytes.Join(turns[:k+1], nil)), entries(r.Content())
			if len(was) != len(is) {
				t.Fatalf("at %d: %d messages of %d", k+1, len(is), len(was))
			}
			for i := range was {
				if brief(was[i]) != brief(is[i]) {
					t.Errorf("at %d: message %d: %q was %q", k+1, i, brief(is[i]), brief(was[i]))
				}
			}
		}
	}
	nameless := bytes.ReplaceAll(turns[0], []byte(`"agent":"code",`), nil)
	r, err := agenttest.Rebuilt(Kilo.Rebuild(transcript.Cut{Lines: agenttest.Lines(nameless), Session: "ses_new", At: time.Unix(1.7e9, 0), Dir: "/home/dev/fork"}))
	gittest.Must(t, err)
	if got := gjson.GetBytes(r.Lines[0], "info.agent").Str; got != "code" {
		t.Errorf("the agent is %q", got)
	}
}

// Of a stranger's conversation, what the client says in the user's place is left out, and what the
// service is to be told beside the text: neither is shown to anybody. Nor are there counts of tokens.
func TestRebuildForeign(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	source := []byte(`{"info":{"id":"msg_1","role":"user","time":{"created":1},"model":{"providerID":"p","modelID":"m"}},"parts":[` +
		`{"type":"text","text":"hello"},{"type":"text","text":"HIDDEN","synthetic":true}]}
{"info":{"id":"msg_2","role":"assistant","time":{"created":1},"modelID":"m","providerID":"p","tokens":{"input":900000}},"parts":[` +
		`{"type":"text","text":"hi","metadata":{"p":{"x":"HIDDEN"}}}]}
`)
	for foreign, want := range map[bool]int{false: 3, true: 0} {
		file := rebuilt(t, foreign, source)
		if got := bytes.Count(file, []byte("HIDDEN")) + bytes.Count(file, []byte("900000")); got != want || !bytes.Contains(file, []byte("hello")) {
			t.Errorf("foreign %t: %s", foreign, file)
		}
	}
}

// What makes the client act is left out, whoever wrote it.
func TestRebuildHostile(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	file := rebuilt(t, true, []byte(`{"info":{"id":"msg_1","role":"user","agent":"root","system":"EVIL","tools":{"EVIL":true},"time":{"created":1},"model":{"providerID":"EVIL","modelID":"m2","variant":"EVIL"}},"parts":[`+
		`{"type":"text","text":"hello"},{"type":"text","text":"EVIL","synthetic":true},{"type":"agent","name":"EVIL"},{"type":"subtask","prompt":"EVIL","agent":"x"},`+
		`{"type":"file","mime":"text/plain","url":"file:///EVIL"},{"type":"snapshot","snapshot":"EVIL"},{"type":"patch","hash":"EVIL","files":["EVIL"]}]}
{"info":{"id":"msg_2","role":"assistant","agent":"root","time":{"created":1},"modelID":"m","providerID":"p","path":{"cwd":"/EVIL","root":"/EVIL"},"cost":9,"tokens":{"input":900000}},"parts":[`+
		`{"type":"text","text":"said","metadata":{"p":{"role":"EVIL"}}},{"type":"reasoning","text":"thought","metadata":{"p":{"role":"EVIL"}}},{"type":"step-finish","reason":"EVIL","cost":9,"tokens":{"input":900000}},`+
		`{"type":"tool","tool":"read","callID":"c","metadata":{"p":{"role":"EVIL"}},"state":{"status":"completed","input":{},"output":"x","metadata":{"sessionId":"EVIL","loaded":["EVIL"]},"attachments":[{"type":"file","mime":"a/b","url":"https://EVIL"}]}}]}
{"info":{"id":"msg_3","role":"user","time":{"created":2},"model":{"providerID":"p","modelID":"m"}},"parts":[{"type":"compaction","auto":true}]}
`))
	if bytes.Contains(file, []byte("EVIL")) || bytes.Contains(file, []byte("compaction")) || bytes.Contains(file, []byte("root\"}")) {
		t.Errorf("got %s", file)
	}
	if n := bytes.Count(file, []byte("\n")); n != 2 {
		t.Errorf("%d messages: %s", n, file)
	}
	if bytes.Contains(file, []byte(`"build"`)) || bytes.Contains(file, []byte(`"modelID":"m2"`)) {
		t.Errorf("it chooses an agent or a model: %s", file)
	}
	if e := entries(file); len(e) != 2 || e[1].Context != 0 || e[1].Model != "m" {
		t.Errorf("got %+v", e)
	}
	_, err := agenttest.Rebuilt(OpenCode.Rebuild(transcript.Cut{Lines: agenttest.Lines([]byte("x\n{}\n")), Session: "ses_new", At: time.Now()}))
	if !errors.Is(err, transcript.ErrEmpty) {
		t.Errorf("of nothing: %v", err)
	}
}

// TestRebuildUndone: what a person has undone within a turn is not in the conversation that goes on. The rebuilt file
// knows what prompts were called, so that one can go back in it.
func TestRebuildUndone(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	message := func(id, more string) string {
		return `{"id":"` + id + `","info":{"id":"` + id + `","time":{"created":1},` + more + `},"parts":[{"type":"text","text":"said ` + id + `"}]}` + "\n"
	}
	prompt := func(id string) string {
		return message(id, `"role":"user","model":{"providerID":"p","modelID":"m"}`)
	}
	answer := func(id string) string {
		return message(id, `"role":"assistant","providerID":"p","modelID":"m"`)
	}
	one := prompt("p1") + answer("a1") + prompt("q1") + answer("a2")
	for _, tt := range []struct {
		name, next string
		want       string
	}{
		{"the steering prompt", `{"after":"a1"}` + "\n", "p1 a1 p2 a3"},
		{"as plugins before 3 say it", `{"continues":"p1","after":"a1"}` + "\n", "p1 a1 p2 a3"},
		{"an answer", `{"after":"q1"}` + "\n", "p1 a1 q1 p2 a3"},
		{"nothing", "", "p1 a1 q1 a2 p2 a3"},
		{"what is not there", `{"after":"x"}` + "\n", "p1 a1 q1 a2 p2 a3"},
	} {
		file := rebuilt(t, false, []byte(one), []byte(tt.next+prompt("p2")+answer("a3")))
		var got, was []string
		for line := range bytes.Lines(file) {
			got = append(got, strings.TrimPrefix(gjson.GetBytes(line, "parts.0.text").Str, "said "))
			if gjson.GetBytes(line, "info.role").Str == "user" {
				was = append(was, gjson.GetBytes(line, "was").Str)
			}
		}
		if prompts := strings.Fields(strings.NewReplacer("a1", "", "a2", "", "a3", "").Replace(tt.want)); strings.Join(got, " ") != tt.want || !slices.Equal(was, prompts) {
			t.Errorf("%s: %q, of the prompts %q; want %s", tt.name, got, was, tt.want)
		}
	}
}

// TestRebuildSent: the client makes the same of a part in its next request, whatever has become of the tool. What is a
// person's own stays, wherever it is; what the client says in its own name a stranger could have written.
func TestRebuildSent(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	const call = `{"type":"tool","tool":"bash","callID":"c","state":{"input":{},`
	for _, tt := range []struct {
		name, part   string
		role         string
		own, foreign string // the part in a fork, by what the client makes its request from
	}{
		{
			"a tool that was stopped has said something", call + `"status":"error","error":"Tool execution aborted","metadata":{"interrupted":true,"output":"half"}}}`, "assistant",
			`{"error":"Tool execution aborted","output":"half","interrupted":true}`, `{"error":"Tool execution aborted","output":"half","interrupted":true}`,
		},
		{
			"a tool that was stopped has said nothing", call + `"status":"error","error":"Tool execution aborted","metadata":{"interrupted":true,"output":""}}}`, "assistant",
			`{"error":"Tool execution aborted","output":"","interrupted":true}`, `{"error":"Tool execution aborted","output":"","interrupted":true}`,
		},
		{
			"a tool of others", call + `"status":"completed","output":"all","metadata":{"output":{"rows":1},"exit":"none","interrupted":"no"}}}`, "assistant",
			`{"said":"all","output":""}`, `{"said":"all","output":""}`,
		},
		{
			"a tool that failed", call + `"status":"error","error":"no such file","metadata":{"output":"half"}}}`, "assistant",
			`{"error":"no such file"}`, `{"error":"no such file"}`,
		},
		{
			"a tool that never ended", call + `"status":"running"}}`, "assistant",
			`{"error":"[Tool execution was interrupted]"}`, `{"error":"[Tool execution was interrupted]"}`,
		},
		{
			"what Kilo adds to an output", call + `"status":"completed","output":"all","metadata":{"shared_agent_board_notice":"news"}}}`, "assistant",
			`{"said":"all","notice":"news"}`, `{"said":"all"}`,
		},
		{
			"a command that is a sub-agent", `{"type":"subtask","prompt":"look around","agent":"general","description":"look"}`, "user",
			`{"text":"The following tool was executed by the user"}`, ``,
		},
		{
			"a picture elsewhere", `{"type":"file","mime":"image/png","url":"https://example.invalid/p.png"}`, "user",
			`{"url":"https://example.invalid/p.png"}`, ``,
		},
	} {
		source := `{"info":{"id":"msg_1","role":"user","time":{"created":1},"model":{"providerID":"p","modelID":"m"}},"parts":[{"type":"text","text":"hello"}%s]}
{"info":{"id":"msg_2","role":"assistant","time":{"created":1},"modelID":"m","providerID":"p"},"parts":[{"type":"text","text":"hi"}%s]}
`
		places := map[string][]any{"user": {"," + tt.part, ""}, "assistant": {"", "," + tt.part}}[tt.role]
		for foreign, want := range map[bool]string{false: tt.own, true: tt.foreign} {
			var got string
			for line := range bytes.Lines(rebuilt(t, foreign, fmt.Appendf(nil, source, places...))) {
				if p := gjson.GetBytes(line, "parts.1"); p.Exists() {
					got += p.Get(`{text,url,"error":state.error,"said":state.output,"output":state.metadata.output,"interrupted":state.metadata.interrupted,"notice":state.metadata.shared_agent_board_notice}`).Raw
				}
			}
			if got != want {
				t.Errorf("%s, foreign %t: %s, want %s", tt.name, foreign, got, want)
			}
		}
	}
}
