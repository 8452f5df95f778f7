package recorder

import (
	"testing"

	"gitagent/internal/record"
	"gitagent/turns"
)

func TestLeadsTo(t *testing.T) {
	t.Parallel()
	stored, lost := &record.Segment{Path: "transcript/0000/000001.jsonl"}, &record.Segment{Missing: "size"}
	for _, tt := range []struct {
		name string
		turn turns.Turn
		want bool
	}{
		{"the turn", turns.Turn{PromptID: "p", Agent: "codex", Transcript: stored}, true},
		{"another agent's", turns.Turn{PromptID: "p", Agent: "claude-code", Transcript: stored}, false},
		{"another prompt", turns.Turn{PromptID: "q", Agent: "codex", Transcript: stored}, false},
		{"a segment that is not stored", turns.Turn{PromptID: "p", Agent: "codex", Transcript: lost}, false},
		{"no segment", turns.Turn{PromptID: "p", Agent: "codex"}, false},
	} {
		if got := leadsTo(&tt.turn, "p", "codex"); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
