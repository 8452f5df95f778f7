package claude

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// These tests use the clock of synctest: it advances when every goroutine waits, so times are exact
// and cost nothing.

const (
	prompt1  = `{"type":"user","promptId":"p1","turnOrigin":"human","message":{"content":"go"}}` + "\n"
	prompt2  = `{"type":"user","promptId":"p2","turnOrigin":"human","message":{"content":"go on"}}` + "\n"
	done     = `{"type":"assistant","message":{"id":"m9","content":[{"type":"text","text":"done\n"}],"stop_reason":"end_turn"}}` + "\n"
	step1    = `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"done"}],"stop_reason":"tool_use"}}` + "\n"
	call1    = `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"Bash"}],"stop_reason":"tool_use"}}` + "\n"
	result1  = result + "\n"
	opening  = `{"type":"assistant","message":{"id":"m9","content":[{"type":"text","text":"First."}],"stop_reason":"end_turn"}}` + "\n"
	feedback = `{"type":"user","promptId":"p1","isMeta":true,"message":{"content":"Stop hook feedback:\nno"}}` + "\n"
	notes    = `{"type":"system","subtype":"stop_hook_summary"}` + "\n" + `{"type":"cost-state"}` + "\n"
)

// A chunk is appended to the file some time after Wait began; at 0 it is there from the start.
type chunk struct {
	at   time.Duration
	text string
}

func TestWait(t *testing.T) {
	const ms, limit = time.Millisecond, 2 * time.Second // which a turn that is not complete takes
	first := transcript.Want{PromptID: "p1", Reply: "done"}
	for _, tt := range []struct {
		name string
		want transcript.Want
		took time.Duration
		file []chunk
	}{
		{"already there", first, 0, []chunk{{0, prompt1 + step1 + call1 + result1 + done}}},
		{"already there, with the client's notes after it", first, 0, []chunk{{0, prompt1 + done + notes}}},
		{"already there, the next turn too", first, 0, []chunk{{0, prompt1 + done + prompt2}}},
		{
			"in pieces, torn within lines", first, 70 * ms,
			[]chunk{{0, prompt1[:20]}, {15 * ms, prompt1[20:] + call1[:50]}, {35 * ms, call1[50:] + result1 + done[:30]}, {65 * ms, done[30:]}},
		},
		{
			"the equal answer of an earlier turn does not count",
			transcript.Want{PromptID: "p2", Reply: "done"},
			310 * ms,
			[]chunk{{0, prompt1 + done}, {95 * ms, prompt2}, {305 * ms, done}},
		},
		{
			"an equal text before a tool call is not the answer", first, 90 * ms,
			[]chunk{{0, prompt1 + step1 + call1 + result1}, {85 * ms, done}},
		},
		{
			"an equal text before the rest of a batch of tool calls", first, 170 * ms,
			[]chunk{{0, prompt1 + step1}, {85 * ms, call1 + result1}, {165 * ms, done}},
		},
		{
			"the client does not say why the message stopped", first, 120 * ms,
			[]chunk{{0, prompt1 + `{"type":"assistant","message":{"id":"m9","content":[{"type":"text","text":"done"}],"stop_reason":null}}` + "\n"}},
		},
		{
			"the text is followed by a block without text", first, 120 * ms,
			[]chunk{{0, prompt1 + done + `{"type":"assistant","message":{"id":"m9","content":[{"type":"thinking"}],"stop_reason":"end_turn"}}` + "\n"}},
		},
		{"the last of two text blocks", first, 20 * ms, []chunk{{0, prompt1 + opening}, {15 * ms, done}}},
		{
			"two text blocks that the payload joins",
			transcript.Want{PromptID: "p1", Reply: "First.\n\ndone"},
			140 * ms,
			[]chunk{{0, prompt1 + opening}, {15 * ms, done}},
		},
		{
			"a text that the payload cut",
			transcript.Want{PromptID: "p1", Reply: "do"},
			180 * ms,
			[]chunk{{0, prompt1 + done}, {55 * ms, notes}},
		},
		{
			"an answer after the feedback of a Stop hook, equal to the one before", first, 100 * ms,
			[]chunk{{0, ""}, {75 * ms, feedback}, {95 * ms, done}},
		},
		{
			"an answer that was followed by feedback is not the last", first, 50 * ms,
			[]chunk{{0, prompt1 + done + feedback}, {45 * ms, done}},
		},
		{
			"an answer that was taken when the turn ended the first time",
			transcript.Want{PromptID: "p1", Reply: "done", After: int64(len(prompt1 + done))},
			310 * ms,
			[]chunk{{0, prompt1 + done}, {285 * ms, feedback}, {305 * ms, done}},
		},
		{
			"no answer after the one that was taken",
			transcript.Want{PromptID: "p1", Reply: "done", After: int64(len(prompt1 + done))},
			limit,
			[]chunk{{0, prompt1 + done + notes}},
		},
		{"the cursor lies within the turn, after its prompt", first, 140 * ms, []chunk{{0, notes}, {15 * ms, done}}},
		{
			"the answer of a sub-agent is not the turn's", first, 200 * ms,
			[]chunk{{0, prompt1 + `{"type":"assistant","isSidechain":true,"message":{"id":"m9","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}}` + "\n"}, {195 * ms, done}},
		},
		{
			"an error of the service",
			transcript.Want{PromptID: "p1", Reply: "API Error: 400"},
			10 * ms,
			[]chunk{{0, prompt1}, {5 * ms, `{"type":"assistant","isApiErrorMessage":true,"message":{"id":"s","model":"<synthetic>","content":[{"type":"text","text":"API Error: 400"}],"stop_reason":"stop_sequence"}}` + "\n"}},
		},
		{
			"a turn without text ends when nothing more comes",
			transcript.Want{PromptID: "p1", Reply: ""},
			220 * ms,
			[]chunk{{0, prompt1}, {95 * ms, call1 + result1}},
		},
		{
			"a turn without text of which nothing is there",
			transcript.Want{PromptID: "p2", Reply: ""},
			limit,
			[]chunk{{0, prompt1 + done}},
		},
		{
			"no prompt to look for, as when the cursor lies within the turn",
			transcript.Want{PromptID: "", Reply: "done"},
			20 * ms,
			[]chunk{{0, call1 + result1}, {15 * ms, done}},
		},
		{"nothing to look for at all", transcript.Want{}, 120 * ms, []chunk{{0, "{}\n"}}},
		{
			"never comes: what there is, without the torn line", first, limit,
			[]chunk{{0, prompt1 + call1}, {515 * ms, result1 + done[:40]}},
		},
		{
			"another prompt's answer never counts",
			transcript.Want{PromptID: "p3", Reply: "done"},
			limit,
			[]chunk{{0, prompt1 + done + prompt2 + done}},
		},
		{"file comes late", first, 100 * ms, []chunk{{95 * ms, prompt1 + done}}},
		{"garbage", first, 10 * ms, []chunk{{0, "\x00\n{\n[]\n" + prompt1 + "{\"type\":\"assistant\"\n"}, {5 * ms, done}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.jsonl")
			synctest.Test(t, func(t *testing.T) {
				var all []byte
				for _, c := range tt.file {
					all = append(all, c.text...)
					if c.at == 0 {
						add(t, path, c.text)
					} else {
						time.AfterFunc(c.at, func() { add(t, path, c.text) })
					}
				}
				all = all[:bytes.LastIndexByte(all, '\n')+1] // without a torn line
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				began := time.Now()
				s, err := transcript.Wait(ctx, Reader, path, transcript.Cursor{}, tt.want)
				gittest.Must(t, err)
				if took := time.Since(began); took != tt.took || s.Complete != (took < limit) {
					t.Errorf("complete %v after %v, want %v after %v", s.Complete, took, tt.took < limit, tt.took)
				}
				if !bytes.Equal(s.Bytes, all) || s.Restarted {
					t.Errorf("got %q, restarted %v; want %q", s.Bytes, s.Restarted, all)
				}
				add(t, path, "\n"+prompt2)
				if rest := readSegment(t, path, s.Cursor); rest.Restarted || !bytes.HasSuffix(rest.Bytes, []byte(prompt2)) {
					t.Errorf("the next segment: %q, restarted %v", rest.Bytes, rest.Restarted)
				}
			})
		})
	}
}

// TestWaitForChangingFile changes the file's content, not only its length, while Wait waits.
func TestWaitForChangingFile(t *testing.T) {
	t.Parallel()
	const before = "{\"type\":\"mode\"}\n"
	for _, tt := range []struct {
		name      string
		change    func(t *testing.T, path string)
		want      string
		restarted bool
	}{
		{
			name: "moved away and back with more in it",
			change: func(t *testing.T, path string) {
				rename(t, path, path+".away")
				time.AfterFunc(60*time.Millisecond, func() {
					add(t, path+".away", done)
					rename(t, path+".away", path)
				})
			},
			want: prompt1 + done,
		},
		{
			name: "replaced by a rename",
			change: func(t *testing.T, path string) {
				write(t, path+".new", before+prompt1+call1+result1+done)
				rename(t, path+".new", path)
			},
			want: prompt1 + call1 + result1 + done,
		},
		{
			name:   "tail retracted and written anew",
			change: func(t *testing.T, path string) { write(t, path, before+prompt1[:len(prompt1)-1]+" \n"+done) },
			want:   prompt1[:len(prompt1)-1] + " \n" + done,
		},
		{
			name:      "written anew from the beginning",
			change:    func(t *testing.T, path string) { write(t, path, prompt1+done) },
			want:      prompt1 + done,
			restarted: true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			synctest.Test(t, func(t *testing.T) {
				write(t, path, before)
				c := readSegment(t, path, transcript.Cursor{}).Cursor
				add(t, path, prompt1)
				time.AfterFunc(25*time.Millisecond, func() { tt.change(t, path) })
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				want := transcript.Want{PromptID: "p1", Reply: "done", After: int64(len(before + prompt1))}
				s, err := transcript.Wait(ctx, Reader, path, c, want)
				gittest.Must(t, err)
				if string(s.Bytes) != tt.want || s.Restarted != tt.restarted || !s.Complete {
					t.Errorf("got %q, restarted %v, complete %v; want %q, %v, true", s.Bytes, s.Restarted, s.Complete, tt.want, tt.restarted)
				}
			})
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Error(err)
	}
}

func TestWaitWithoutFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	for limit, want := range map[time.Duration]time.Duration{
		2 * time.Second:       250 * time.Millisecond,
		55 * time.Millisecond: 55 * time.Millisecond,
		0:                     0,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			_, err := transcript.Wait(ctx, Reader, path, transcript.Cursor{}, transcript.Want{PromptID: "p1", Reply: "done"})
			if took := time.Since(began); !errors.Is(err, fs.ErrNotExist) || took != want {
				t.Errorf("limit %v: %v after %v, want fs.ErrNotExist after %v", limit, err, took, want)
			}
		})
	}
}

// A turn that went on after its Stop hook, and is read again from its beginning, far into the file.
func TestWaitAfter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	synctest.Test(t, func(t *testing.T) {
		write(t, path, strings.Repeat(notes, 100))
		c := readSegment(t, path, transcript.Cursor{}).Cursor
		add(t, path, prompt1+done)
		time.AfterFunc(45*time.Millisecond, func() { add(t, path, done) })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		s, err := transcript.Wait(ctx, Reader, path, c, transcript.Want{PromptID: "p1", Reply: "done", After: c.Offset + int64(len(prompt1+done))})
		if err != nil || !s.Complete || string(s.Bytes) != prompt1+done+done {
			t.Errorf("got %q, complete %v, %v", s.Bytes, s.Complete, err)
		}
	})
}

// A context that is done already allows one look, no more.
func TestWaitCancelled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, prompt1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := transcript.Wait(ctx, Reader, path, transcript.Cursor{}, transcript.Want{PromptID: "p1", Reply: "done"})
	if err != nil || s.Complete || string(s.Bytes) != prompt1 {
		t.Errorf("got %q, complete %v, %v", s.Bytes, s.Complete, err)
	}
	add(t, path, done)
	if s, err = transcript.Wait(ctx, Reader, path, transcript.Cursor{}, transcript.Want{PromptID: "p1", Reply: "done"}); err != nil || !s.Complete {
		t.Errorf("with all there: complete %v, %v", s.Complete, err)
	}
}

// TestWaitForRealTurns plays each turn of the real sessions as the Stop hook saw it: the last
// answer, and what the client notes after it, come 96 ms late, the longest delay ever seen. The
// turn is not complete before that, and is at the first look after it.
func TestWaitForRealTurns(t *testing.T) {
	t.Parallel()
	played := 0
	for name := range sessions {
		content := recorded(t, name)
		for _, turn := range transcript.Turns(new(reader), content) {
			sum := transcript.Summarise(new(reader), content[turn.Start:turn.End])
			reply, at := lastText(content[turn.Start:turn.End])
			if sum.Interrupted || reply == "" {
				continue // no Stop hook, or no way to recognise the turn
			}
			played++
			path := filepath.Join(t.TempDir(), "s.jsonl")
			synctest.Test(t, func(t *testing.T) {
				write(t, path, string(content[:turn.Start]))
				c := readSegment(t, path, transcript.Cursor{}).Cursor
				add(t, path, string(content[turn.Start:turn.Start+at]))
				time.AfterFunc(96*time.Millisecond, func() { add(t, path, string(content[turn.Start+at:turn.End])) })
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				began := time.Now()
				s, err := transcript.Wait(ctx, Reader, path, c, transcript.Want{PromptID: turn.PromptID, Reply: reply})
				gittest.Must(t, err)
				if took := time.Since(began); took != 100*time.Millisecond || !s.Complete || !bytes.Equal(s.Bytes, content[turn.Start:turn.End]) {
					t.Errorf("%s, %q: complete %v after %v, with %d bytes of %d", name, turn.Prompt, s.Complete, took, len(s.Bytes), turn.End-turn.Start)
				}
			})
		}
	}
	if played < 25 {
		t.Errorf("only %d turns were played", played)
	}
}

// lastText returns what the client calls last_assistant_message, the last text block, and where its
// line begins.
func lastText(turn []byte) (last string, at int) {
	for i, line := range lines(turn) {
		if r, ok := decode(line); ok && r.kind == "assistant" {
			if said, _ := parts(r.message.content, true); text(said) != "" {
				last, at = text(said), i
			}
		}
	}
	return string(bytes.TrimSpace([]byte(last))), at
}
