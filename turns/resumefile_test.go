package turns

import (
	"testing"

	"gitagent/internal/record"
)

func TestLeadsTo(t *testing.T) {
	t.Parallel()
	stored, lost := &record.Segment{Path: "transcript/0000/000001.jsonl"}, &record.Segment{Missing: "size"}
	for _, tt := range []struct {
		name string
		turn Turn
		want bool
	}{
		{"the turn", Turn{PromptID: "p", Agent: "codex", Transcript: stored}, true},
		{"another agent's", Turn{PromptID: "p", Agent: "claude-code", Transcript: stored}, false},
		{"another prompt", Turn{PromptID: "q", Agent: "codex", Transcript: stored}, false},
		{"a segment that is not stored", Turn{PromptID: "p", Agent: "codex", Transcript: lost}, false},
		{"no segment", Turn{PromptID: "p", Agent: "codex"}, false},
	} {
		if got := leadsTo(&tt.turn, "p", "codex"); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
