package codex

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
)

// read returns the entries of a segment, with what their line begins with.
func read(segment []byte) (entries []transcript.Entry) {
	r := Reader()
	at := 0
	for line := range bytes.Lines(segment) {
		entries = append(entries, r.Read(at, bytes.TrimSuffix(line, []byte{'\n'})))
		at += len(line)
	}
	return entries
}

// A told is what a segment says of a turn.
type told struct {
	Prompt, Origin, Reply, Model string
	Queued                       []string
	Tools                        map[string]int
	FailedCalls                  int
	Context, Window              int64
	Tokens                       transcript.Tokens
	Compacted                    []transcript.Compacted
	Thought, Interrupted, Failed bool
	Ended                        bool
	Cwd                          string
}

// turns puts entries together, those before the first turn with the zeroth.
func turns(segment []byte) (list []told, starts []int) {
	list = []told{{}}
	spent := map[string]transcript.Tokens{}
	for _, e := range read(segment) {
		if e.Opens != nil {
			list = append(list, told{Prompt: e.Opens.Prompt, Origin: e.Opens.Origin, Cwd: e.Opens.Cwd})
			starts = append(starts, e.Opens.Start)
		}
		t := &list[len(list)-1]
		for _, p := range e.Parts {
			switch p.Kind {
			case transcript.Asked:
				t.Prompt = p.Text
			case transcript.Queued:
				t.Queued = append(t.Queued, p.Text)
			case transcript.Said:
				t.Reply = p.Text
			case transcript.Thought:
				t.Thought = true
			case transcript.Call:
				if t.Tools == nil {
					t.Tools = map[string]int{}
				}
				t.Tools[p.Name]++
			case transcript.Answer:
				if p.Failed {
					t.FailedCalls++
				}
			}
		}
		if e.Tokens != (transcript.Tokens{}) {
			add(&t.Tokens, e.Tokens, 1)
			add(&t.Tokens, spent[e.Message], -1)
			spent[e.Message] = e.Tokens
		}
		if e.Compacted != nil {
			t.Compacted = append(t.Compacted, *e.Compacted)
		}
		t.Model, t.Cwd = cmp.Or(e.Model, t.Model), cmp.Or(e.Cwd, t.Cwd)
		t.Context, t.Window = cmp.Or(e.Context, t.Context), cmp.Or(e.Window, t.Window)
		t.Interrupted = t.Interrupted || e.Interrupted
		t.Failed = t.Failed || e.Failed
		t.Ended = t.Ended || e.Ended
	}
	return list, starts
}

func add(sum *transcript.Tokens, t transcript.Tokens, times int64) {
	sum.Input, sum.CacheRead = sum.Input+times*t.Input, sum.CacheRead+times*t.CacheRead
	sum.CacheWrite, sum.Output = sum.CacheWrite+times*t.CacheWrite, sum.Output+times*t.Output
}

// TestReader reads what the real client wrote: with several turns, those of several clients.
func TestReader(t *testing.T) {
	t.Parallel()
	const window = 258400
	tokens := func(requests, input int64) transcript.Tokens {
		return transcript.Tokens{Input: input - 400*requests, CacheRead: 400 * requests, Output: 20 * requests}
	}
	turn := func(origin, prompt, reply string, requests, input, last int64) told {
		done := told{Origin: origin, Prompt: prompt, Reply: reply, Model: "gpt-mock", Window: window, Context: last, Ended: true, Cwd: "/home/dev/cx"}
		done.Tokens = tokens(requests, input)
		return done
	}
	with := func(t told, change func(*told)) told { change(&t); return t }
	shell := func(t *told) { t.Tools = map[string]int{"exec_command": 1} }
	for _, tt := range []struct {
		name string
		want []told
	}{
		{"three-turns", []told{
			with(turn("sdk", "hello RUN:echo cx1 > b.txt", "codex mock answer 4", 2, 2007, 1004), shell),
			with(turn("sdk", "second prompt RUN:echo two >> b.txt", "codex mock answer 6", 2, 2011, 1006), shell),
			turn("sdk", "third prompt", "codex mock answer 7", 1, 1007, 1007),
		}},
		{"tools", []told{
			with(turn("sdk", "first RUN:echo one >> b.txt", "codex mock answer 4", 2, 2007, 1004), shell),
			with(turn("sdk", "second THINK TWO: please", "codex mock answer 6", 2, 2011, 1006), func(t *told) {
				t.Tools, t.FailedCalls, t.Thought = map[string]int{"exec_command": 2}, 1, true
			}),
			with(turn("sdk", "third PATCH:new", "codex mock answer 8", 2, 2015, 1008), func(t *told) { t.Tools = map[string]int{"apply_patch": 1} }),
			with(turn("sdk", "fourth WEB:cats", "codex mock answer 9", 1, 1009, 1009), func(t *told) { t.Tools = map[string]int{"web_search": 1} }),
			with(turn("sdk", "fifth FAIL:500", "We’re currently experiencing high demand, which may cause temporary errors.", 0, 0, 0), func(t *told) { t.Failed = true }),
			with(turn("sdk", "sixth SLOW:6000 x", "", 0, 0, 0), func(t *told) { t.Interrupted = true }),
			turn("sdk", "seventh SAY:bye", "bye", 1, 1015, 1015),
		}},
		{"tui", []told{ // with a command of the user's own after one, and a compaction on request after three
			turn("human", "one SAY:first", "first", 1, 1017, 1017),
			with(turn("human", "two RUN:echo a >>b.txt", "codex mock answer 21", 2, 2040, 1021), shell),
			with(turn("human", "three SLOW:4000 wait", "queued", 2, 2049, 6422), func(t *told) {
				t.Queued, t.Compacted = []string{"SAY:queued"}, []transcript.Compacted{{Tokens: 1025}}
			}),
			turn("human", "four SAY:aftercompact", "aftercompact", 1, 1026, 1026),
			with(turn("human", "five SLOW:8000 esc", "", 0, 0, 0), func(t *told) { t.Interrupted = true }),
			turn("human", "six SAY:six", "six", 1, 1030, 1030),
		}},
		{"auto-compact", []told{
			with(turn("sdk", "TOK:6000 RUN:echo auto >> b.txt", "codex mock answer 4", 3, 18009, 6004), func(t *told) {
				shell(t)
				t.Compacted = []transcript.Compacted{{Auto: true, Tokens: 6003}}
			}),
			with(turn("sdk", "SAY:next", "next", 2, 12011, 6006), func(t *told) {
				t.Compacted = []transcript.Compacted{{Auto: true, Tokens: 6005}}
			}),
		}},
		{"failed-turn", []told{with(turn("sdk", "FAIL:400 x", "mock failure 400", 0, 0, 0), func(t *told) { t.Failed = true })}},
		{"interrupted", []told{
			turn("human", "SAY:tui hello", "tui hello", 1, 1004, 1004),
			with(turn("human", "RUN:echo tui >> b.txt", "codex mock answer 8", 2, 2014, 1008), shell),
			with(turn("human", "SLOW:8000 please wait", "", 0, 0, 0), func(t *told) { t.Interrupted = true }),
			with(turn("human", "SLOW:9000 RUN:echo late >> b.txt", "codex mock answer 18", 2, 2035, 1018), shell),
		}},
		{"rewound", []told{
			turn("human", "after SAY:rewound", "rewound", 1, 1031, 1031),
			turn("human", "more SAY:more", "more", 1, 1033, 1033),
		}},
		{"exec-fork", []told{turn("sdk", "forked prompt", "codex mock answer 18", 1, 1018, 1018)}},
		{"thread-fork", []told{with(turn("", "native fork at turn 1", "codex mock answer 19", 1, 1019, 1019), func(t *told) {
			t.Cwd = "/home/dev/fork1"
		})}},
		{"image", []told{turn("sdk", "look at it SAY:seen", "seen", 1, 1055, 1055)}},
		{"review", []told{{Prompt: "Review the current code changes (staged, unstaged, and untracked files) and provide prioritized findings.", Reply: "codex mock answer 16", Model: "gpt-mock", Ended: true, Cwd: "/home/dev/cx"}}},
		{"parent", []told{with(turn("sdk", `CALL:multi_agent_v1/spawn_agent:{"message":"you are the child RUN:echo child >> b.txt"}END`, "codex mock answer 57", 2, 2113, 1057), func(t *told) {
			t.Tools = map[string]int{"spawn_agent": 1}
		})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := turns(agenttest.Capture(t, tt.name))
			if got = got[1:]; len(got) != len(tt.want) {
				t.Fatalf("%d turns, want %d: %+v", len(got), len(tt.want), got)
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], tt.want[i]) {
					t.Errorf("turn %d:\n got %+v\nwant %+v", i+1, got[i], tt.want[i])
				}
			}
		})
	}
}

// TestSummarise: what is the same for all agents is right for what the reader says.
func TestSummarise(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		list, starts := turns(data)
		found := transcript.Turns(Reader(), data)
		if len(found) != len(starts) {
			t.Fatalf("%s: %d turns, want %d", name, len(found), len(starts))
		}
		for i, turn := range found {
			end := len(data)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			want, got := list[i+1], transcript.Summarise(Reader(), data[turn.Start:turn.End])
			if turn.Start != starts[i] || turn.End != end || turn.Prompt != want.Prompt || turn.PromptID == "" || turn.At.IsZero() {
				t.Errorf("%s: turn %d is %+v, want %q in [%d:%d]", name, i+1, turn, want.Prompt, starts[i], end)
			}
			if got.Ended.Before(got.Started) || got.Started.IsZero() {
				t.Errorf("%s: turn %d is from %v to %v", name, i+1, got.Started, got.Ended)
			}
			for model, tokens := range got.Tokens {
				if model != want.Model || tokens != want.Tokens {
					t.Errorf("%s: turn %d has %+v of %s", name, i+1, tokens, model)
				}
			}
			got.Started, got.Ended, got.Tokens = time.Time{}, time.Time{}, nil
			if w := (transcript.Summary{
				Prompt: want.Prompt, Queued: want.Queued, Reply: want.Reply, Model: want.Model, Tools: want.Tools, Context: want.Context,
				Output: want.Tokens.Output, Compactions: len(want.Compacted), Interrupted: want.Interrupted, APIError: want.Failed,
				Answered: !want.Interrupted && !want.Failed, Cwd: want.Cwd,
			}); !reflect.DeepEqual(got, w) {
				t.Errorf("%s: turn %d is\n%+v, want\n%+v", name, i+1, got, w)
			}
		}
	}
}

// TestUsage: how full the context is, with one reader for each line, and when it was compacted.
func TestUsage(t *testing.T) {
	t.Parallel()
	compacted := bytes.SplitAfter(agenttest.Capture(t, "tui"), []byte(`"type":"ContextCompaction"`))[0]
	for _, tt := range []struct {
		name string
		data []byte
		want int64
	}{
		{"three-turns", agenttest.Capture(t, "three-turns"), 1007},
		{"tui", agenttest.Capture(t, "tui"), 1030},
		{"after a compaction", compacted[:bytes.LastIndexByte(compacted, '\n')+1], 6422},
	} {
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		put(t, path, tt.data)
		u, err := transcript.LastUsage(Reader, path)
		if want := (transcript.ContextUse{Tokens: tt.want, Model: "gpt-mock", Window: 258400}); u != want || err != nil {
			t.Errorf("%s: LastUsage gives %+v, %v, want %+v", tt.name, u, err, want)
		}
	}
	for name, want := range map[string][]bool{"tui": {false}, "auto-compact": {true, true}, "tools": nil} {
		all, err := transcript.Compactions(Reader, filepath.Join("testdata", name+".jsonl"), 0)
		var got []bool
		for _, c := range all {
			got = append(got, c.Auto)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: by the client itself %v, %v, want %v", name, got, err, want)
		}
	}
}

func TestTodos(t *testing.T) {
	t.Parallel()
	const call = `{"type":"response_item","payload":{"type":"function_call","name":"update_plan","call_id":"c","arguments":"{\"plan\":[{\"step\":\"a\",\"status\":\"completed\"},{\"step\":\"b\",\"status\":\"pending\"}]}"}}`
	want := []transcript.Todo{{Text: "a", Status: "completed"}, {Text: "b", Status: "pending"}}
	if got := transcript.Todos(Reader(), []byte(call)); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReaderBounds: turns lie where tasks start, and one taken alone says what it says among others.
func TestReaderBounds(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		list, starts := turns(data)
		for i, start := range starts {
			first, rest, _ := bytes.Cut(data[start:], []byte{'\n'})
			for bytes.Contains(first, []byte(`"type":"thread_settings_applied"`)) {
				first, rest, _ = bytes.Cut(rest, []byte{'\n'})
			}
			if !bytes.Contains(first, []byte(`"type":"task_started"`)) {
				t.Errorf("%s: turn %d begins at %.200s", name, i+1, data[start:])
			}
			end := len(data)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			alone, _ := turns(data[start:end])
			got, want := alone[len(alone)-1], list[i+1]
			if alone = alone[1:]; len(alone) != 1 {
				t.Fatalf("%s: turn %d alone is %d", name, i+1, len(alone))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: turn %d alone is\n%+v, not\n%+v", name, i+1, got, want)
			}
		}
	}
}

// TestReaderAtHooks: what is in the file when the client runs a hook.
func TestReaderAtHooks(t *testing.T) {
	t.Parallel()
	data := agenttest.Capture(t, "tui")
	before := func(mark string) []byte {
		i := bytes.Index(data, []byte(mark))
		return data[:bytes.LastIndexByte(data[:i], '\n')+1]
	}
	const third = "three SLOW:4000 wait"

	stopped, _ := turns(before(`"type":"task_complete"`))
	if got := stopped[len(stopped)-1]; got.Prompt != "one SAY:first" || got.Reply != "first" || got.Context != 1017 || got.Ended {
		t.Errorf("at Stop: %+v", got)
	}
	prompted := read(before(`"role":"user","content":[{"type":"input_text","text":"` + third))
	begun := ""
	for _, e := range prompted {
		if e.Opens != nil {
			begun = e.Opens.PromptID
		}
	}
	if want := "01a20995-6f16-7d00-aeca-5ac5249cbff2"; begun != want {
		t.Errorf("at UserPromptSubmit the last turn is %q, want %q", begun, want)
	}
	interrupted, _ := turns(before(`"type":"turn_aborted"`))
	if got := interrupted[len(interrupted)-1]; !got.Interrupted || got.Ended {
		t.Errorf("at Interrupt: %+v", got)
	}
	rest, starts := turns(data[len(before(`"type":"turn_aborted"`)):])
	if len(starts) != 1 || rest[0].Interrupted || !rest[0].Ended || rest[1].Interrupted || rest[1].Prompt != "six SAY:six" {
		t.Errorf("after Interrupt: %+v", rest)
	}
}

// TestReaderLines reads lines that the captures lack: of older clients, and of hostile ones.
func TestReaderLines(t *testing.T) {
	t.Parallel()
	const (
		started = `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t1","model_context_window":100}}` + "\n"
		said    = `{"type":"event_msg","payload":{"type":"user_message","message":"hi","images":["data:image/png;base64,AAAA"]}}` + "\n"
		count   = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":15},"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}}}}` + "\n"
		again   = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":30},"last_token_usage":{"input_tokens":10,"cached_input_tokens":40,"output_tokens":5}}}}` + "\n"
	)
	for _, tt := range []struct {
		name, in string
		want     told
	}{
		{
			"an older client",
			started + `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}` + "\n" +
				said + `{"type":"event_msg","payload":{"type":"agent_reasoning","text":"hm"}}` + "\n" +
				`{"type":"response_item","payload":{"type":"local_shell_call","call_id":"c1","action":{"command":["ls"]}}}` + "\n" +
				`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Exit code: 2\nOutput:\n"}}` + "\n" +
				`{"type":"event_msg","payload":{"type":"agent_message","message":"ho"}}` + "\n" + count + count + again,
			told{
				Prompt: "hi", Reply: "ho", Thought: true, Tools: map[string]int{"local_shell": 1}, FailedCalls: 1,
				Context: 10, Tokens: transcript.Tokens{Input: 6, CacheRead: 14, Output: 10},
			},
		},
		{
			"an error that is told twice",
			started + said + `{"type":"event_msg","payload":{"type":"error","message":"no"}}` + "\n" +
				`{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"no"}}}`,
			told{Prompt: "hi", Reply: "no", Failed: true, Ended: true},
		},
		{
			"what failed is known by its item",
			started + said + `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"c","status":"declined"}}}` + "\n" +
				`{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"no"}]}}` + "\n" +
				`{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"d","output":"Output:\nExit code: 1"}}`,
			told{Prompt: "hi", FailedCalls: 1},
		},
		{
			"wrong types, torn and garbage lines, fields twice",
			started + said + "\n\x00\n[]\nnull\n" + said[:60] + "\n" +
				`{"type":"event_msg","payload":[]}` + "\n" + `{"type":{},"payload":{}}` + "\n" +
				`{"type":"event_msg","payload":{"type":"item_completed","item":[{"type":"UserMessage"}]}}` + "\n" +
				`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","source":"user_shell","command":"ls"}}}` + "\n" +
				`{"type":"event_msg","payload":{"type":"token_count","info":null}}` + "\n" +
				`{"type":"token_usage_record","payload":{"usage":{"input_tokens":-1,"cached_input_tokens":1e300,"output_tokens":"9"}}}` + "\n" +
				`{"type":"turn_context","payload":{"model":7,"cwd":{"a":"b"}}}` + "\n" +
				`{"type":"response_item","payload":{"type":"message","role":["user"],"content":{"0":{"text":"<turn_aborted>"}}}}` + "\n" +
				`{"type":"event_msg","type":"compacted","payload":{"type":"x","type":"turn_aborted"}}` + "\n" +
				strings.Repeat("[", 1<<20) + "\n" +
				`{"type":"event_msg","payload":` + strings.Repeat(`{"a":`, 1<<18) + "1" + strings.Repeat("}", 1<<18) + "}\n",
			told{Prompt: "hi"},
		},
		{
			"a line of megabytes",
			started + said + `{"type":"event_msg","payload":{"type":"agent_message","message":"` + strings.Repeat("long ", 1<<21) + `"}}`,
			told{Prompt: "hi", Reply: strings.Repeat("long ", 1<<21)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := turns([]byte(tt.in))
			tt.want.Window = 0 // it is said before the turn opens
			if len(got) != 2 || !reflect.DeepEqual(got[1], tt.want) {
				t.Errorf("got %.900s, want %.900s", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", tt.want))
			}
		})
	}
}

func TestReaderAttached(t *testing.T) {
	t.Parallel()
	for _, e := range read(agenttest.Capture(t, "image")) {
		for _, p := range e.Parts {
			if p.Kind != transcript.Asked {
				continue
			}
			if want := []transcript.Attached{{Kind: "image", Media: "image/png"}}; !slices.Equal(p.Files, want) {
				t.Errorf("attached: %+v, want %+v", p.Files, want)
			}
			return
		}
	}
	t.Error("no prompt")
}

// FuzzReader checks that no figure is negative, no text is invalid, turns begin where lines do and in
// order, that what isn't a record changes nothing, and that entries don't refer to their line.
func FuzzReader(f *testing.F) {
	for _, name := range agenttest.Captures(f) {
		data := agenttest.Capture(f, name)
		f.Add(data)
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, segment []byte) {
		r, noisy := Reader(), Reader()
		at, last := 0, 0
		for line := range bytes.Lines(segment) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			e := r.Read(at, line)
			noisy.Read(at, []byte(`{"type":"event_msg"`))
			noisy.Read(at, []byte(`[]`))
			own := bytes.Clone(line)
			again := noisy.Read(at, own)
			clear(own)
			if !reflect.DeepEqual(e, again) {
				t.Errorf("%q is %+v, with noise before it and its bytes gone %+v", line, e, again)
			}
			agenttest.Sound(t, &e)
			if o := e.Opens; o != nil {
				if o.Start > at || o.Start < last || o.Start > 0 && segment[o.Start-1] != '\n' {
					t.Errorf("a turn begins at %d, said at %d, the last one at %d", o.Start, at, last)
				}
				last = o.Start
			}
			at += len(line) + 1
		}
	})
}

// TestReaderTask: what agents write to each other is told to them, but for what is encrypted.
func TestReaderTask(t *testing.T) {
	t.Parallel()
	const task = `{"type":"response_item","payload":{"type":"agent_message","author":"/lead","recipient":"/lead/one","content":[{"type":"input_text","text":"Message Type: NEW_TASK"},{"type":"encrypted_content","encrypted_content":"bW9jaw=="}]}}`
	e := Reader().Read(0, []byte(task))
	if want := []transcript.Part{{Kind: transcript.Told, Text: "Message Type: NEW_TASK"}}; !reflect.DeepEqual(e.Parts, want) || e.Opens != nil {
		t.Errorf("got %+v, want %+v", e, want)
	}
}
