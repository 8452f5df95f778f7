package claude

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gitagent/internal/transcript"
)

// passages are those of a segment, each as its place and its text.
func passages(segment []byte) (all []string) {
	seen := make(once)
	for _, line := range lines(segment) {
		uuid, said := transcript.Passages(new(reader), line)
		if len(said) == 0 || !seen.first(uuid) {
			continue
		}
		for _, p := range said {
			all = append(all, fmt.Sprintf("%s: %s", p.Place, p.Text))
		}
	}
	return all
}

func TestPassages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want []string
	}{
		{`{"type":"user","message":{"content":"Fix it"}}`, []string{"prompt: Fix it"}},
		{`{"type":"user","message":{"content":[{"type":"text","text":"Fix"},{"type":"image"},{"type":"text","text":"it"}]}}`, []string{"prompt: Fix\nit"}},
		{`{"type":"user","isMeta":true,"message":{"content":"a reminder"}}`, nil},
		{`{"type":"user","isMeta":true,"turnOrigin":"task_notification","message":{"content":"a task"}}`, []string{"prompt: a task"}},
		{`{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}`, nil},
		{`{"type":"user","isSidechain":true,"message":{"content":"of a sub-agent"}}`, nil},
		{`{"type":"user","message":{"content":"[Request interrupted by user]"}}`, nil},
		{`{"type":"user","message":{"content":"<command-name>/review</command-name><command-args>all of it</command-args>"}}`, []string{"prompt: /review all of it"}},
		{`{"type":"user","message":{"content":"<bash-input>ls -l</bash-input>"}}`, []string{"prompt: !ls -l"}},
		{`{"type":"user","message":{"content":"what is <bash-input>x</bash-input>?"}}`, []string{"prompt: what is <bash-input>x</bash-input>?"}},
		{`{"type":"user","message":{"content":"<bash-stdout>total 0</bash-stdout>"}}`, []string{"result: total 0"}},
		{`{"type":"user","message":{"content":[{"type":"tool_result","content":"one"},{"type":"tool_result","content":[{"type":"text","text":"two"}]},{"type":"text","text":"and"}]},"toolUseResult":{"stdout":"one"}}`, []string{"result: one", "result: two"}},
		{`{"type":"attachment","attachment":{"type":"queued_command","prompt":"and that"}}`, []string{"prompt: and that"}},
		{`{"type":"attachment","attachment":{"type":"file","content":"x"}}`, nil},
		{`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Done."}]}}`, []string{"reply: Done."}},
		{`{"type":"assistant","message":{"content":"Done."}}`, []string{"reply: Done."}},
		{`{"type":"assistant","message":{"content":["{\"type\":\"text\",\"text\":\"x\"}"]}}`, []string{`reply: {"type":"text","text":"x"}`}},
		{`{"type":"assistant","message":{"model":"<synthetic>","content":"No response requested."}}`, nil},
		{`{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":"API Error"}}`, []string{"reply: API Error"}},
		{`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"old_string":"a","file_path":"/x/y.go","new_string":"b","edits":[{"s":"c"},7]}}]}}`, []string{"tool: Edit(/x/y.go)\na\nb\nc"}},
		{`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Custom","input":{"key":"value"}}]}}`, []string{"tool: Custom()\nvalue"}},
		{`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"List","input":{}}]}}`, []string{"tool: List()"}},
		{`{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}`, nil},
		{`{"type":"user","message":{"content":"torn`, nil},
		{`"user"`, nil},
	} {
		if got := passages([]byte(tt.line)); !slices.Equal(got, tt.want) {
			t.Errorf("%s\ngives %q, want %q", tt.line, got, tt.want)
		}
	}
}

// Every prompt and every reply of the real sessions is among what they say.
func TestPassagesOfRealSessions(t *testing.T) {
	t.Parallel()
	for name := range sessions {
		segment := recorded(t, name)
		all := passages(segment)
		for _, turn := range transcript.Turns(new(reader), segment) {
			if turn.Origin != "task_notification" && turn.Prompt != "" && !slices.Contains(all, "prompt: "+turn.Prompt) {
				t.Errorf("%s: the prompt %q is missing", name, turn.Prompt)
			}
			s := transcript.Summarise(new(reader), segment[turn.Start:turn.End])
			for part := range strings.SplitSeq(s.Reply, "\n") {
				if !slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "reply: ") && strings.Contains(p, part) }) {
					t.Errorf("%s: the reply %q is missing", name, part)
				}
			}
			for tool := range s.Tools {
				if !slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "tool: "+tool+"(") }) {
					t.Errorf("%s: no call of %s", name, tool)
				}
			}
		}
	}
}

// FuzzPassages checks that a line says valid text that is not empty, whatever it is.
func FuzzPassages(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, segment []byte) {
		for _, line := range lines(segment) {
			_, said := transcript.Passages(new(reader), line)
			for _, p := range said {
				if strings.TrimSpace(p.Text) == "" || !utf8.ValidString(p.Text) {
					t.Errorf("%q says %q", line, p.Text)
				}
			}
		}
	})
}
