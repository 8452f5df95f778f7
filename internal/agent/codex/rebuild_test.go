package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

const newID = "01a20fff-0000-7000-8000-000000000001"

var now = time.Date(2026, 11, 24, 9, 8, 7, 6e6, time.FixedZone("", 3600))

func cut(foreign bool, segments ...[]byte) transcript.Cut {
	return transcript.Cut{Lines: agenttest.Lines(segments...), Foreign: foreign, Session: newID, At: now, Config: "/home/dev/.codex", Dir: "/home/dev/wt"}
}

func rebuild(t testing.TB, c transcript.Cut) []byte {
	t.Helper()
	got, err := agenttest.Rebuilt(Rebuild(c))
	gittest.Must(t, err)
	return got.Content()
}

// segments cuts a rollout as it is recorded, each turn's at its Stop, and what is after the last one.
func segments(data []byte) (list [][]byte) {
	last := 0
	for at, line := 0, []byte(nil); at < len(data); at += len(line) {
		line = data[at : at+bytes.IndexByte(data[at:], '\n')+1]
		if bytes.Contains(line, []byte(`"type":"task_complete"`)) && at > last {
			list = append(list, data[last:at])
			last = at
		}
	}
	return append(list, data[last:])
}

// TestRebuild cuts the captures at every turn. What was said until then stays to the letter, the ids
// are new wherever the client reads them, and nothing else is.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		old := gjson.GetBytes(data, "payload.id").Str
		list := segments(data)
		for k := range list {
			file := rebuild(t, cut(false, list[:k+1]...))
			if bytes.Contains(file, []byte(`_id":"`+old)) {
				t.Errorf("%s cut at %d has the id %s", name, k+1, old)
			}
			if got, want := said(file), said(bytes.Join(list[:k+1], nil)); !slices.Equal(got, want) {
				t.Errorf("%s cut at %d says\n%q\nnot\n%q", name, k+1, got, want)
			}
			before, _ := turns(bytes.Join(list[:k+1], nil))
			after, _ := turns(file)
			if len(before) != len(after) || !after[len(after)-1].Ended {
				t.Errorf("%s cut at %d has %d turns, not %d, the last one %+v", name, k+1, len(after), len(before), after[len(after)-1])
			}
		}
	}
}

// said returns what the model is sent of a rollout, as it is written.
func said(file []byte) (list []string) {
	for line := range bytes.Lines(file) {
		p := gjson.GetBytes(line, "payload")
		switch gjson.GetBytes(line, "type").Str {
		case "response_item":
			list = append(list, p.Get("role").Str+p.Get("content").Raw+p.Get("arguments").Raw+p.Get("input").Raw+p.Get("output").Raw+p.Get("summary").Raw)
		case "compacted":
			p.Get("replacement_history.#.content").ForEach(func(_, c gjson.Result) bool {
				list = append(list, "compacted "+c.Raw)
				return true
			})
		}
	}
	return list
}

// TestRebuildWhole: a conversation that goes on from other files is one file, of a thread by itself.
func TestRebuildWhole(t *testing.T) {
	t.Parallel()
	base, _ := upTo(t, "tui", "rewound")
	middle, _ := upTo(t, "rewound", "rewound-again")
	file := rebuild(t, cut(false, base, middle, agenttest.Capture(t, "rewound-again")))
	list, _ := turns(file)
	var prompts []string
	for _, turn := range list[1:] {
		prompts = append(prompts, turn.Prompt)
	}
	want := []string{"one SAY:first", "two RUN:echo a >>b.txt", "three SLOW:4000 wait", "after SAY:rewound", "again SAY:again"}
	if !slices.Equal(prompts, want) {
		t.Errorf("prompts %q, want %q", prompts, want)
	}
	if bytes.Contains(file, []byte(`"history_base"`)) || bytes.Count(file, []byte(`"type":"session_meta"`)) != 1 {
		t.Errorf("it goes on from another file: %.2000s", file)
	}
	first, _, _ := bytes.Cut(file, []byte{'\n'})
	const head = `{"timestamp":"2026-11-24T08:08:07.006Z","ordinal":0,"type":"session_meta","payload":{"session_id":"` + newID + `","id":"` + newID +
		`","timestamp":"2026-11-24T08:08:07.006Z","cwd":"/home/dev/wt","originator":"git-agent","cli_version":"0.171.0","source":"cli","model_provider":"mock","history_mode":"paginated"}}`
	if string(first) != head {
		t.Errorf("it begins with\n%s\nnot\n%s", first, head)
	}
	number := 0
	for line := range bytes.Lines(file) {
		if got := gjson.GetBytes(line, "ordinal"); got.Int() != int64(number) {
			t.Errorf("record %d has the number %s", number, got.Raw)
		}
		number++
	}
}

func TestRebuildPath(t *testing.T) {
	t.Parallel()
	got, err := agenttest.Rebuilt(Rebuild(cut(false, agenttest.Capture(t, "three-turns"))))
	want := "/home/dev/.codex/sessions/2026/11/24/rollout-2026-11-24T09-08-07-" + newID + ".jsonl"
	if err != nil || got.Path != want || got.Adopt != nil {
		t.Errorf("Rebuild gives %q, %v, want %q", got.Path, err, want)
	}
	if f, ok := parse(got.Path); !ok || f.thread != newID {
		t.Errorf("the name of %q is that of %+v", got.Path, f)
	}
}

// TestRebuildProvider: the client's terminal refuses a thread without a model provider, and with one
// that is not configured.
func TestRebuildProvider(t *testing.T) {
	t.Parallel()
	own := agenttest.Capture(t, "three-turns")
	for _, test := range []struct {
		what, config string
		foreign      bool
		segment      []byte
		want         string
	}{
		{"a conversation goes on with its own", `model_provider = "local"`, false, own, "mock"},
		{"a stranger's with the user's", `model_provider = "local"`, true, own, "local"},
		{"a stranger's with the client's", `model = "x"`, true, own, "openai"},
		{"a conversation without one with the user's", `model_provider = "local"`, false, own[bytes.IndexByte(own, '\n')+1:], "local"},
		{"an unreadable configuration names none", `model_provider =`, true, own, "openai"},
	} {
		c := cut(test.foreign, test.segment)
		c.Config = t.TempDir()
		gittest.Must(t, os.WriteFile(filepath.Join(c.Config, "config.toml"), []byte(test.config), 0o600))
		if got := gjson.GetBytes(rebuild(t, c), "payload.model_provider").Str; got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// TestRebuildForeign: of a stranger's conversation stays what people and the model said.
func TestRebuildForeign(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		file := rebuild(t, cut(true, agenttest.Capture(t, name)))
		for _, no := range []string{
			`"role":"developer"`, "INJECTED", "<environment_context>", "AGENTS.md", "<permissions", "<turn_aborted>",
			`"type":"token_count"`, `"type":"reasoning"`, `"approval_policy"`, `"sandbox_policy"`, `"history_base"`, `"base_instructions"`,
		} {
			if bytes.Contains(file, []byte(no)) {
				t.Errorf("%s has %s", name, no)
			}
		}
		before, _ := turns(agenttest.Capture(t, name))
		after, _ := turns(file)
		if len(before) != len(after) {
			t.Errorf("%s has %d turns, not %d", name, len(after), len(before))
		}
	}
	summary := rebuild(t, cut(true, agenttest.Capture(t, "tui")))
	if !bytes.Contains(summary, []byte("Another language model started")) {
		t.Error("what the compaction has left is gone")
	}
}

func TestRebuildRecords(t *testing.T) {
	t.Parallel()
	item := func(payload string) string {
		return `{"timestamp":"2026-11-23T00:00:00Z","ordinal":7,"type":"response_item","payload":` + payload + `}` + "\n"
	}
	event := func(payload string) string {
		return `{"timestamp":"2026-11-23T00:00:00Z","ordinal":8,"type":"event_msg","payload":` + payload + `}` + "\n"
	}
	const (
		hi    = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi \"thread_id\":\"x\" \u00e9"}]}`
		image = `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}`
		agent = `{"type":"agent_message","author":"/lead/one","recipient":"/lead","content":[{"type":"input_text","text":"done"},{"type":"encrypted_content","encrypted_content":"eA=="}]}`
		done  = `{"type":"task_complete","turn_id":"t","last_agent_message":null}`
	)
	for _, tt := range []struct {
		name, in string
		foreign  bool
		want     []string // payloads after the first record
		err      error
	}{
		{name: "what is said stays to the letter", in: item(hi), want: []string{hi}},
		{
			name: "of one's own, what is in requests", want: []string{agent, strings.Replace(hi, `"role"`, `"later":["x"],"role"`, 1), strings.Replace(hi, "input_text", "input_later", 1), hi},
			in: item(agent) + item(strings.Replace(hi, `"role"`, `"later":["x"],"role"`, 1)) + item(`{"type":"ghost_snapshot","ghost_commit":{"id":"1"}}`) +
				item(strings.Replace(hi, "input_text", "input_later", 1)) + item(hi),
		},
		{name: "images that are in the conversation", foreign: true, in: item(hi) + item(image) + item(strings.Replace(image, "data:", "https:", 1)), want: []string{hi, image}},
		{
			name: "of a foreign one, nothing unknown", foreign: true, want: []string{hi},
			in: item(strings.Replace(hi, `"role"`, `"hooks":["rm"],"role"`, 1)) + item(`{"type":"ghost_snapshot","ghost_commit":{"id":"1"}}`) +
				item(agent) + item(strings.Replace(hi, "input_text", "input_file", 1)) + item(strings.Replace(hi, `"type":"input_text"`, `"x":1`, 1)) +
				event(`{"type":"thread_settings_applied"}`) + `{"ordinal":1,"type":"turn_context","payload":{"cwd":"/"}}` + "\n",
		},
		{
			name: "fields twice, in another spelling, torn and invalid lines", want: []string{hi},
			in: item(hi) + item(strings.Replace(hi, `"role"`, `"role":"user","role"`, 1)) + item(strings.Replace(hi, `"role"`, `"r\u006fle":"user","role"`, 1)) +
				item(hi)[:50] + "\n" + item(strings.Replace(hi, "hi", "\xff", 1)) + " " + item(hi) + "[]\n\n\x00\n" +
				strings.Replace(item(hi), `"ordinal"`, `"type":"x","ordinal"`, 1) +
				item(`{"type":"local_shell_call","call_id":"c","action":{"type":"exec","type":"exec"}}`) +
				item(`{"type":"local_shell_call","call_id":"c","action":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`}`),
		},
		{
			name: "the last task is closed", want: []string{`{"type":"task_started","turn_id":"t"}`, hi, done},
			in: event(`{"type":"task_started","turn_id":"t","permissions":"all"}`) + item(hi),
		},
		{
			name: "a closed one stays", want: []string{`{"type":"task_started","turn_id":"t"}`, hi, `{"type":"turn_aborted","turn_id":"t"}`},
			in: event(`{"type":"task_started","turn_id":"t"}`) + item(hi) + event(`{"type":"turn_aborted","turn_id":"t"}`),
		},
		{
			name: "a file of the user's is not shown", want: []string{hi, `{"type":"item_completed","thread_id":"` + newID + `","item":{"type":"UserMessage","content":[{"type":"text","text":"hi"}]}}`},
			in: item(hi) + event(`{"type":"item_completed","thread_id":"old","item":{"type":"UserMessage","content":[{"type":"local_image","path":"/home/dev/.ssh/id"},{"type":"text","text":"hi"}]}}`),
		},
		{
			name: "of a foreign one, a compaction that only its account can read", foreign: true, want: []string{hi},
			in: item(hi) + `{"ordinal":1,"type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"x"}]}}` + "\n",
		},
		{
			name: "of a foreign one, what compaction has left", foreign: true, want: []string{`{"message":"m","replacement_history":[` + hi + `]}`, hi},
			in: `{"ordinal":1,"type":"compacted","payload":{"message":"m","resume_metadata":{},"replacement_history":[{"type":"message","role":"developer","content":[]},` + hi + `]}}` + "\n" + item(hi),
		},
		{name: "nothing at all", err: transcript.ErrEmpty},
		{name: "nobody has said anything", in: event(done) + item(`{"type":"message","role":"developer","content":[]}`), err: transcript.ErrEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := agenttest.Rebuilt(Rebuild(cut(tt.foreign, []byte(tt.in))))
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			var payloads []string
			for line := range bytes.Lines(bytes.Join(got.Lines[1:], nil)) {
				payloads = append(payloads, gjson.GetBytes(line, "payload").Raw)
			}
			if !slices.Equal(payloads, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(payloads, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestRebuildRedacted: what was taken out of texts leaves the records what they are.
func TestRebuildRedacted(t *testing.T) {
	t.Parallel()
	data := bytes.ReplaceAll(agenttest.Capture(t, "tools"), []byte("codex mock answer"), []byte("[redacted: token]"))
	if got, want := said(rebuild(t, cut(false, data))), said(data); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewSession(t *testing.T) {
	t.Parallel()
	a, b := NewSession(), NewSession()
	if a == b || len(a) != 36 || a[14] != '7' || !strings.ContainsRune("89ab", rune(a[19])) || !safe(a) {
		t.Errorf("NewSession gives %q and %q", a, b)
	}
	if a[:8] > b[:8] {
		t.Errorf("%q is older than %q", b, a)
	}
}

// FuzzRebuild checks that a rebuilt file is on the list, as encoding/json reads it: each line is a
// record of a known type with known fields, of the new session, numbered, and to rebuild it once more
// changes nothing.
func FuzzRebuild(f *testing.F) {
	for _, name := range agenttest.Captures(f) {
		data := agenttest.Capture(f, name)
		f.Add(data, false)
		f.Add(data, true)
		for line := range bytes.Lines(data) {
			f.Add(line, false)
		}
	}
	table := knownFields()
	f.Fuzz(func(t *testing.T, data []byte, foreign bool) {
		got, err := agenttest.Rebuilt(Rebuild(cut(foreign, data)))
		if err != nil {
			return
		}
		file := got.Content()
		number := 0
		for line := range bytes.Lines(file) {
			var record struct {
				Timestamp time.Time
				Ordinal   int
				Type      string
				Payload   map[string]any
			}
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields()
			d.UseNumber()
			if err := d.Decode(&record); err != nil || d.More() {
				t.Fatalf("%q: %v", line, err)
			}
			if record.Ordinal != number {
				t.Errorf("record %d has the number %d", number, record.Ordinal)
			}
			if number++; number > 1 {
				of(t, table, record.Type, record.Payload, foreign)
			}
		}
		if again := rebuild(t, cut(foreign, file)); !bytes.Equal(bytes.ReplaceAll(again, []byte(`,"history_mode":"paginated"`), nil), bytes.ReplaceAll(file, []byte(`,"history_mode":"paginated"`), nil)) {
			t.Errorf("%q, once more %q", file, again)
		}
	})
}

// of checks that an object is one of a name, with all that is in it; items of one's own may have anything.
func of(t *testing.T, table map[string][]field, name string, object map[string]any, foreign bool) {
	t.Helper()
	if name == item && !foreign {
		if object["type"] == ghost {
			t.Errorf("%v", object)
		}
		return
	}
	fields, ok := table[name]
	if !ok {
		fields, ok = table[fmt.Sprint(name, " ", object["type"])]
	}
	if !ok {
		t.Fatalf("no known %s: %v", name, object)
	}
	for key, value := range object {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			t.Fatalf("%s has the field %q", name, key)
		}
		if fields[i].session && !reflect.DeepEqual(value, newID) {
			t.Errorf("%s of %s is %v", key, name, value)
		}
		all, _ := value.([]any)
		for _, value := range append(all, value) {
			if inner, ok := value.(map[string]any); ok && fields[i].objects != "" {
				of(t, table, fields[i].objects, inner, foreign)
			}
		}
	}
}
