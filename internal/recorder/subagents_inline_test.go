package recorder

import (
	"maps"
	"testing"

	"gitagent/internal/agent"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
)

// TestInline: what a sub-agent did may be in the conversation's own file. Its parts follow one another all the same, and
// each counts what is in it.
func TestInline(t *testing.T) {
	t.Parallel()
	const (
		asks = `{"type":"user.message","data":{"content":"look"},"id":"a","agentId":"s"}` + "\n"
		took = `{"type":"session.usage_record","data":{"usage":{"model":"m","inputTokens":10,"outputTokens":1,"apiCallId":"1"}},"id":"b","agentId":"s"}` + "\n"
		says = `{"type":"assistant.message","data":{"content":"found","toolRequests":[],"model":"m","apiCallId":"1"},"id":"c","agentId":"s"}` + "\n"
	)
	var before session.SubagentCursor
	for _, tt := range []struct {
		lines   string
		over    bool
		outcome record.Outcome
		tokens  usage.ByModel
	}{
		{asks, false, record.Running, nil},
		{took + says, true, record.Done, usage.ByModel{"m": {Input: 10, Output: 1}}},
	} {
		s, err := readSubagent(agent.Of("copilot"), transcript.SubagentFile{ID: "s", Over: tt.over, Lines: tt.lines}, before)
		if err != nil || string(s.raw) != tt.lines || s.From != before.Offset || s.To != before.Offset+int64(len(tt.lines)) || s.Outcome != tt.outcome || !maps.Equal(s.Tokens, tt.tokens) {
			t.Errorf("got %+v, %v, want %+v", s, err, tt)
		}
		before = s.after
	}
}
