package recorder

import (
	"encoding/json"
	"strings"
	"testing"

	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// What the client and the model call things has no secrets in a record, and an end.
func TestDescribeNames(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	for _, name := range []string{secret, strings.Repeat("m", 1<<20), "\xff" + secret} {
		found := transcript.Summary{Model: name, Tools: map[string]int{name: 2, "Bash": 1}}
		turn := describe(&inputs{}, ending{piece: piece{summary: found}}, start{}, &snapshot.Snapshot{})
		line, err := json.Marshal(turn)
		gittest.Must(t, err)
		if strings.Contains(string(line), secret) || len(line) > 2000 {
			t.Errorf("%.40q: %d bytes: %.400s", name, len(line), line)
		}
		if turn.Model == "" || len(turn.Tools) != 2 || turn.Tools["Bash"] != 1 {
			t.Errorf("%.40q: got %.40q %d", name, turn.Model, len(turn.Tools))
		}
	}
	if turn := describe(&inputs{}, ending{}, start{}, &snapshot.Snapshot{}); turn.Tools != nil {
		t.Errorf("of none: %v", turn.Tools)
	}
}
