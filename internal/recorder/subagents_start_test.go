package recorder

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/agent"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
	"gitagent/test/gittest"
)

// TestRepeated: what a subagent's file repeats of its parent's conversation is neither stored nor counted.
func TestRepeated(t *testing.T) {
	t.Parallel()
	const (
		parents = `{"ordinal":1,"type":"token_usage_record","payload":{"response_id":"r0","usage":{"input_tokens":900,"output_tokens":90}}}` + "\n" +
			`{"ordinal":2,"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}` + "\n"
		task = `{"ordinal":3,"type":"event_msg","payload":{"type":"task_started","turn_id":"t","turn_attribution":{"turn_trigger":"exec"}}}` + "\n" +
			`{"ordinal":4,"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":10,"output_tokens":1}}}` + "\n"
		answer = `{"ordinal":5,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"found"}]}}}` + "\n" +
			`{"ordinal":6,"type":"token_usage_record","payload":{"response_id":"r2","usage":{"input_tokens":20,"output_tokens":2}}}` + "\n"
	)
	path := filepath.Join(t.TempDir(), "rollout")
	var before session.SubagentCursor
	for _, tt := range []struct {
		file, want    string
		outcome       record.Outcome
		input, output int64
	}{
		{parents + task, task, record.Running, 10, 1},
		{parents + task + answer, answer, record.Done, 20, 2},
	} {
		gittest.Must(t, os.WriteFile(path, []byte(tt.file), 0o600))
		s, err := readSubagent(agent.Of("codex"), transcript.SubagentFile{ID: "a", Path: path, Start: int64(len(parents)), Size: int64(len(tt.file))}, before)
		if err != nil || string(s.raw) != tt.want || s.From != int64(strings.Index(tt.file, tt.want)) || s.Outcome != tt.outcome ||
			!maps.Equal(s.Tokens, usage.ByModel{"unknown": {Input: tt.input, Output: tt.output}}) {
			t.Errorf("got %+v, %v, want %q", s, err, tt.want)
		}
		before = s.after
	}
}
