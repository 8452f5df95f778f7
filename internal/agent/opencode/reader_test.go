package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// capture is a conversation that the plugin has written.
func capture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	gittest.Must(t, err)
	return data
}

// kilos is a conversation of Kilo's.
const kilos = "../../kilo/testdata/sub-agents.jsonl"

// entries reads a conversation.
func entries(data []byte) (all []transcript.Entry) {
	r := Reader()
	at := 0
	for line := range bytes.Lines(data) {
		all = append(all, r.Read(at, bytes.TrimSuffix(line, []byte("\n"))))
		at += len(line)
	}
	return all
}

// brief is what an entry says, in short.
func brief(e transcript.Entry) string {
	var b strings.Builder
	for _, p := range e.Parts {
		b.WriteString([]string{"?", "asked", "queued", "added", "said", "thought", "call", "answer", "shell", "task", "gist", "told", "other"}[p.Kind])
		if p.Name != "" {
			b.WriteString(" " + p.Name)
		}
		if p.Failed {
			b.WriteString(" failed")
		}
		b.WriteString(" " + p.Text + ";")
	}
	for name, is := range map[string]bool{"opens": e.Opens != nil} {
		if is {
			b.WriteString(" " + name)
		}
	}
	for _, f := range []struct {
		is   bool
		name string
	}{{e.Answers, "answers"}, {e.Failed, "failed"}, {e.Interrupted, "interrupted"}, {e.Compacted != nil, "compacted"}} {
		if f.is {
			b.WriteString(" " + f.name)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestReader(t *testing.T) {
	t.Parallel()
	const (
		user      = `{"id":"msg_1","info":{"id":"msg_1","role":"user"},"parts":[`
		assistant = `{"id":"msg_2","info":{"id":"msg_2","role":"assistant","modelID":"m"`
	)
	for _, tt := range []struct {
		name        string
		lines, want []string
	}{
		{"nothing", []string{"", "x", "null", "[]", `{"info":{"role":"user"`, `{"info":5}`, `{"id":"msg_1"}`, `{"continues":"msg_1","after":"msg_2"}`}, []string{"", "", "", "", "", "", "", ""}},
		{"a prompt", []string{user + `{"type":"text","text":"go on"},{"type":"text","text":"by the way","synthetic":true}]}`}, []string{"asked go on;told by the way; opens"}},
		{"while a turn ran", []string{`{"queued":true,` + user[1:] + `{"type":"text","text":"and this"}]}`}, []string{"queued and this;"}},
		{"said by the client alone", []string{user + `{"type":"text","text":"by the way","synthetic":true}]}`}, []string{"told by the way;"}},
		{
			"a tool's call",
			[]string{
				assistant + `,"finish":"tool-calls"},"parts":[{"type":"reasoning","text":"hm"},{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a"}}]}`,
				assistant + `,"finish":"tool-calls"},"parts":[{"type":"tool","tool":"read","callID":"d","state":{"status":"error","input":{},"error":"none"}},{"type":"tool","tool":"edit","callID":"e","state":{"status":"running","input":{}}}]}`,
				assistant + `,"finish":"stop"},"parts":[{"type":"step-start"},{"type":"text","text":"done"},{"type":"patch"}]}`,
			},
			[]string{"thought hm;call bash ;answer a;", "call read ;answer failed none;call edit ;", "said done; answers"},
		},
		{"a failure", []string{assistant + `,"error":{"name":"APIError","data":{"message":"overloaded"}}},"parts":[]}`}, []string{"said overloaded; failed"}},
		{"an interruption", []string{assistant + `,"error":{"name":"MessageAbortedError","data":{"message":"aborted"}}},"parts":[{"type":"text","text":"I"}]}`}, []string{"said I; interrupted"}},
		{
			"a compaction that repeats the prompt",
			[]string{
				user + `{"type":"compaction","auto":true,"overflow":true}]}`,
				assistant + `,"summary":true,"finish":"stop"},"parts":[{"type":"text","text":"so far"}]}`,
				user + `{"type":"text","text":"go on"}]}`,
				user + `{"type":"text","text":"next"}]}`,
			},
			[]string{"", "gist so far; compacted", "told go on;", "asked next; opens"},
		},
		{"hostile", []string{user + `5,null,{"type":7,"text":{}},{"type":"text","text":["x"]},{"type":"file","mime":5,"url":{}}],"queued":"x"}`}, []string{"asked ; opens"}},
	} {
		var got []string
		for _, e := range entries([]byte(strings.Join(tt.lines, "\n"))) {
			got = append(got, brief(e))
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What the client reads and writes, and when it is done.
func TestReaderFigures(t *testing.T) {
	t.Parallel()
	var turns, answers int
	for _, e := range entries(capture(t, "conversation.jsonl")) {
		if e.Opens != nil {
			turns++
		}
		if e.Answers {
			answers++
			if e.Model != "mock-1" || e.Window != 200000 || e.Context < 1000 || e.Tokens.Output != 20 || e.Cwd != "/home/dev/repo" || e.At.IsZero() {
				t.Errorf("got %+v", e)
			}
		}
	}
	if turns != 3 || answers != 2 {
		t.Errorf("%d turns and %d answers", turns, answers)
	}
}

// Whatever the lines are, reading and rebuilding them ends, and a rebuilt conversation has as many turns.
func FuzzReader(f *testing.F) {
	f.Add(capture(f, "conversation.jsonl"))
	f.Add(capture(f, "compacted.jsonl"))
	f.Add(capture(f, "stopped.jsonl"))
	f.Add(capture(f, kilos))
	f.Add([]byte(`{"info":{"id":"m","role":"user","time":{},"model":{}},"parts":[null,{"type":"tool","state":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries(data)
		b := builder{Cut: transcript.Cut{Session: "ses_x", At: time.Unix(1e9, 0), Dir: "/home/dev/repo"}, ids: idsAt(time.Unix(1e9, 0)), renamed: map[string]string{}}
		for line := range bytes.Lines(data) {
			b.add(line)
		}
		b.trim()
		for _, m := range b.list {
			if m.Info.SessionID != "ses_x" || m.ID != m.Info.ID || m.Parts == nil {
				t.Errorf("a message of another session: %+v", m)
			}
			for _, p := range m.Parts {
				if p.MessageID != m.ID || p.SessionID != "ses_x" || p.URL != "" && !strings.HasPrefix(p.URL, "data:") {
					t.Errorf("a part of another message: %+v", p)
				}
			}
		}
	})
}
