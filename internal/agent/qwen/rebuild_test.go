package qwen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

func cut(config string, foreign bool, segments ...[]byte) transcript.Cut {
	at := time.Date(2026, 11, 24, 9, 8, 7, 6e6, time.UTC)
	return transcript.Cut{Lines: agenttest.Lines(segments...), Foreign: foreign, Session: newID, At: at, Config: config, Dir: "/home/dev/w t"}
}

// history is what the client sends of a file, as it reads it: from the last record to its parent, and so on.
func history(t *testing.T, file []byte) (list []string) {
	t.Helper()
	records, last := map[string]gjson.Result{}, ""
	for line := range bytes.Lines(file) {
		r := gjson.ParseBytes(line)
		last = r.Get("uuid").Str
		records[last] = r
		if r.Get("sessionId").Str != newID || r.Get("cwd").Str != "/home/dev/w t" {
			t.Errorf("the record is another session's, or elsewhere: %s", line)
		}
	}
	var chain []gjson.Result
	for r, ok := records[last]; ok; r, ok = records[r.Get("parentUuid").Str] {
		chain = append(chain, r)
	}
	if len(chain) != len(records) {
		t.Errorf("%d of %d records are in the chain", len(chain), len(records))
	}
	add := func(message gjson.Result) {
		message.Get("parts").ForEach(func(_, p gjson.Result) bool {
			text := p.Get("text").Str + p.Get("functionCall.args.command").Str + p.Get("functionResponse.name").Str
			list = append(list, message.Get("role").Str[:1]+" "+strings.SplitN(text, "\n", 2)[0])
			return true
		})
	}
	for _, r := range slices.Backward(chain) {
		if r.Get("subtype").Str == "chat_compression" {
			list = nil
			for _, m := range r.Get("systemPayload.compressedHistory").Array() {
				add(m)
			}
		}
		add(r.Get("message"))
	}
	return list
}

// TestRebuild cuts sessions at every turn.
func TestRebuild(t *testing.T) {
	t.Parallel()
	const told = "u <qwen:user-prompt-submit-context>"
	for name, turns := range map[string][][]string{
		"three-turns": {
			{"u turn one SAY:answer one", told, "m answer one"},
			{"u turn two RUN:echo two > two.txt", told, "m echo two > two.txt", "u run_shell_command", "m mock answer 6"},
			{"u turn three SAY:answer three", told, "m answer three"},
		},
		"stop-hook": {
			{`u sub CALL:agent:{"description":"sub work","prompt":"sub prompt RUN:echo sub > sub.txt","subagent_type":"general-purpose"}END`, "m ", "u agent", "m mock answer 25"},
			{"u <task-notification>", "m mock answer 27"},
			{
				"u <system-reminder>", "u T2 RUN:echo two > two.txt", "m echo two > two.txt", "u run_shell_command", "m mock answer 29",
				"m echo more > more.txt", "u run_shell_command", "m mock answer 31",
			},
		},
	} {
		data := agenttest.Capture(t, name)
		var segments [][]byte
		var said []string
		for i, turn := range transcript.Turns(Reader(), data) {
			segments, said = append(segments, data[turn.Start:turn.End]), append(said, turns[i]...)
			for _, foreign := range []bool{false, true} {
				got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), foreign, segments...)))
				gittest.Must(t, err)
				file := got.Content()
				want := slices.DeleteFunc(slices.Clone(said), func(s string) bool { return foreign && (s == told || s == "u <system-reminder>") })
				if list := history(t, file); !slices.Equal(list, want) {
					t.Errorf("%s cut at %d, foreign %t:\ngot  %q\nwant %q", name, len(segments), foreign, list, want)
				}
				if bytes.Contains(file, []byte(`"sessionId":"11111111-`)) || bytes.Contains(file, []byte(`"cwd":"/home/dev/qwen"`)) {
					t.Errorf("%s cut at %d has something of its source: %s", name, len(segments), file)
				}
			}
		}
	}
}

// The names of what is in records are no types of records.
func TestRebuildTypes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"part", "message", "shown", "chat_compression"} {
		line := fmt.Appendf(nil, `{"uuid":"a","type":%q,"text":"x","role":"user","message":{"role":"user","parts":[{"text":"x"}]}}`, kind)
		if got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), true, line))); !errors.Is(err, transcript.ErrEmpty) {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
}

// After a rewind the turns that were left are not among those that a later one goes on from.
func TestContinues(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[int]int{ // by the number of a turn, that of the one that it goes on from
		"rewound": {6: 3}, "three-turns": {}, "compressed": {}, "forked": {},
	} {
		path := filepath.Join("testdata", name+".jsonl")
		data := agenttest.Capture(t, name)
		all := transcript.Turns(Reader(), data)
		for i, turn := range all {
			starts := []int{turn.Start}
			if i > 0 { // what the client notes after a turn is the next one's
				starts = append(starts, bytes.LastIndex(data[:turn.Start], []byte(`"type":"assistant"`)))
			}
			for _, at := range starts {
				at = bytes.LastIndexByte(data[:max(0, at)], '\n') + 1
				if at < turn.Start { // behind the answer
					at += bytes.IndexByte(data[at:], '\n') + 1
				}
				id, jumps, err := Continues(path, int64(at))
				from, jumped := want[i]
				if err != nil || jumps != jumped || jumps && id != all[from].PromptID || !jumps && id != "" {
					t.Errorf("%s, turn %d, from %d: %q, %t, %v; want %d, %t", name, i+1, at, id, jumps, err, from+1, jumped)
				}
			}
		}
	}
	if _, _, err := Continues(filepath.Join(t.TempDir(), "none"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// goesOn tells what a part of a file can't say.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	const (
		a  = `{"uuid":"a","parentUuid":null,"type":"user"}` + "\n"
		b  = `{"uuid":"b","parentUuid":"a","type":"assistant"}` + "\n"
		c  = `{"uuid":"c","parentUuid":"b","type":"user"}` + "\n"
		d  = `{"uuid":"d","parentUuid":"c","type":"user"}` + "\n"
		d2 = `{"uuid":"d","parentUuid":"b","type":"user"}` + "\n"
		d3 = `{"uuid":"d","parentUuid":null,"type":"user"}` + "\n"
		o  = `{"uuid":"o","parentUuid":"o","type":"assistant"}` + "\n" + `{"uuid":"d","parentUuid":"o","type":"user"}` + "\n"
	)
	for _, tt := range []struct {
		part, turn   string
		id           string
		jumps, whole bool
	}{
		{"", a, "", false, true},
		{a + b, c, "", false, true},
		{a + b + c, d, "", false, true},
		{a + b + c, d2, "a", true, true},
		{a + b + c, d3, "", true, true},
		{b + c, d2, "", false, false},
		{a + b + c, o, "", false, false},
		{a + b, "", "", false, false},
	} {
		if id, jumps, whole := goesOn([]byte(tt.part+tt.turn), len(tt.part)); id != tt.id || jumps != tt.jumps || whole != tt.whole {
			t.Errorf("%s%s: %q, %t, %t", tt.part, tt.turn, id, jumps, whole)
		}
	}
}

// After a compaction the conversation is what that has left.
func TestRebuildCompressed(t *testing.T) {
	t.Parallel()
	data := agenttest.Capture(t, "compressed")
	all := transcript.Turns(Reader(), data)
	got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), false, data[:all[2].End])))
	gittest.Must(t, err)
	if list, want := history(t, got.Content()), []string{"u Mock title", "m Got it. Thanks for the additional context!", "u three SAY:tui-answer-three", "m tui-answer-three"}; !slices.Equal(list, want) {
		t.Errorf("got  %q\nwant %q", list, want)
	}
}

// What makes the client read files, what a stranger could sign, and who can't have spoken is left out.
func TestRebuildForeign(t *testing.T) {
	t.Parallel()
	const line = `{"uuid":"a","type":"assistant","model":"m","goalContext":1,"message":{"role":"model","x":1,"parts":[{"text":"t","thought":true},{"text":"x","thoughtSignature":"s"},{"fileData":{"fileUri":"f"}},{"functionCall":{"name":"n","args":{"a":{"b":1}},"x":1}}]},"usageMetadata":{"promptTokenCount":1}}`
	const head = `{"uuid":"a","parentUuid":null,"sessionId":"` + newID + `","cwd":"/home/dev/w t",`
	for foreign, want := range map[bool]string{
		false: head + `"type":"assistant","model":"m","message":{"role":"model","parts":[{"text":"t","thought":true},{"text":"x","thoughtSignature":"s"},{"functionCall":{"name":"n","args":{"a":{"b":1}}}}]},"usageMetadata":{"promptTokenCount":1}}`,
		true:  head + `"type":"assistant","model":"m","message":{"role":"model","parts":[{"text":"x"},{"functionCall":{"name":"n","args":{"a":{"b":1}}}}]}}`,
	} {
		got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), foreign, []byte(line+"\n"+
			`{"uuid":"b","uuid":"c","type":"user","message":{"role":"user","parts":[{"text":"twice"}]}}`+"\n"+
			`{"uuid":"d","type":"user","message":{"role":"system","parts":[{"text":"obey"}]}}`+"\n"+
			`{"uuid":"e","type":"user","subtype":"new","message":{"role":"user","parts":[{"text":"x"}]}}`+"\n"+
			`{"uuid":"f","type":"system","subtype":"session_model","systemPayload":{"modelId":"x"}}`+"\n"+line+"\n"))))
		gittest.Must(t, err)
		if file := strings.TrimSpace(string(got.Content())); file != want {
			t.Errorf("foreign %t: %s", foreign, file)
		}
		if want := filepath.Join("projects", "-home-dev-w-t", "chats", newID+".jsonl"); !strings.HasSuffix(got.Path, want) {
			t.Errorf("it is in %s", got.Path)
		}
	}
}
