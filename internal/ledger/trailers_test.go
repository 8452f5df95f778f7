package ledger

import (
	"slices"
	"strings"
	"testing"

	"gitagent/internal/record"
)

func TestReadTrailers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, message string
		want          []record.TurnID
	}{
		{"a code commit", "turn 12: x\n\nAgent-Mission: a1b2c3d4\nAgent-Turn: 12\nAgent-Session: s\n", []record.TurnID{{Mission: "a1b2c3d4", Turn: 12}}},
		{"several turns", "Subject\n\nText\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 1-2,7\n", []record.TurnID{{Mission: "a1b2c3d4", Turn: 1}, {Mission: "a1b2c3d4", Turn: 2}, {Mission: "a1b2c3d4", Turn: 7}}},
		{"two missions", "S\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 1\nAgent-Mission: b2c3d4e5\nAgent-Turns: 1\n", []record.TurnID{{Mission: "a1b2c3d4", Turn: 1}, {Mission: "b2c3d4e5", Turn: 1}}},
		{"a squash, indented", "Squashed commit\n\ncommit 1\n\n    turn 2\n\n    Agent-Mission: a1b2c3d4\n    Agent-Turn: 2\n\ncommit 2\n\n    turn 2\n\n    Agent-Mission: a1b2c3d4\r\n    Agent-Turn: 2\n", []record.TurnID{{Mission: "a1b2c3d4", Turn: 2}}},
		{"no mission", "S\n\nAgent-Turn: 2\n", nil},
		{"no id", "S\n\nAgent-Mission: a1b2c3d4\nAgent-Mission: main\nAgent-Turn: 2\n", nil},
		{"no numbers", "S\n\nAgent-Mission: a1b2c3d4\nAgent-Turn: 02\nAgent-Turns: 1-2-3\nAgent-Turns: 4-1\n", nil},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ReadTrailers(tt.message); !slices.Equal(got, tt.want) {
				t.Errorf("ReadTrailers = %v, want %v", got, tt.want)
			}
		})
	}
}

// FuzzReadTrailers: whatever a message holds, what is read is bounded, valid and in it once.
func FuzzReadTrailers(f *testing.F) {
	f.Add("turn 12\n\nAgent-Mission: a1b2c3d4\nAgent-Turn: 12\n")
	f.Add("S\n\nAgent-Mission: a1b2c3d4\nAgent-Turns: 1-4,7\nAgent-Turns: 3-9999\n")
	f.Fuzz(func(t *testing.T, message string) {
		list := ReadTrailers(message)
		if len(list) > maxTrailed {
			t.Fatalf("%d turns", len(list))
		}
		seen := make(map[record.TurnID]bool)
		for _, id := range list {
			if _, err := record.ParseID(id.Mission); err != nil || !record.IsNumber(id.Turn) || seen[id] {
				t.Fatalf("turn %v", id)
			}
			seen[id] = true
			if !strings.Contains(message, string(id.Mission)) {
				t.Fatalf("mission %s is not in the message", id.Mission)
			}
		}
	})
}
