package turns

import "testing"

func TestLeadsTo(t *testing.T) {
	t.Parallel()
	stored, lost := &Segment{Path: "transcript/0000/000001.jsonl"}, &Segment{Missing: "size"}
	for _, tt := range []struct {
		name string
		turn Turn
		want bool
	}{
		{"of the session", Turn{PromptID: "p", Session: "s", Mission: "b0b0b0b0", Transcript: stored}, true},
		{"of the mission", Turn{PromptID: "p", Session: "other", Mission: "a0a0a0a0", Transcript: stored}, true},
		{"of neither", Turn{PromptID: "p", Session: "other", Mission: "b0b0b0b0", Transcript: stored}, false},
		{"another prompt", Turn{PromptID: "q", Session: "s", Mission: "a0a0a0a0", Transcript: stored}, false},
		{"a segment that is not stored", Turn{PromptID: "p", Session: "s", Mission: "a0a0a0a0", Transcript: lost}, false},
		{"no segment", Turn{PromptID: "p", Session: "s", Mission: "a0a0a0a0"}, false},
	} {
		if got := leadsTo(&tt.turn, "p", "s", "a0a0a0a0"); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
