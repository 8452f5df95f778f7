package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gitagent/internal/blame"
	"gitagent/internal/record"
	"gitagent/turns"
)

// TestSummaryFits: whatever prompts hold, and however many there are, a forge takes the summary, and obeys nothing of it.
func TestSummaryFits(t *testing.T) {
	t.Parallel()
	const evil = "</details> <script>x</script> @somebody fixes #1 and me/it!2 &lt; https://example.invalid/-/issues/1 \u202e"
	acts := regexp.MustCompile(`@\w|#\d|://|(^|[^\\])[<>&!]`)
	for _, missions := range []int{0, 1, 3, 400} {
		s := &summarizer{span: span{name: "main..HEAD"}, prompts: true, sum: &blame.Contributions{}}
		turn := 0
		for i := range missions {
			m := &blame.Prompts{Mission: &record.Mission{ID: record.ID(fmt.Sprintf("%08x", i)), Title: evil, ForkedFrom: &record.TurnID{Mission: "a1b2c3d4", Turn: 1}}}
			for range 6 {
				turn++
				m.Turns = append(m.Turns, &turns.Turn{Turn: turn, Outcome: record.Done, Prompt: evil + strings.Repeat("<", maxSaid)})
			}
			s.missions, s.forks = append(s.missions, m), append(s.forks, m)
		}
		whole := s.fitting(forge{})
		for _, f := range forges {
			text := s.fitting(f)
			if len(text) > f.most || len(text) < min(len(whole), f.most)/4 {
				t.Errorf("%s, %d missions: %d bytes of %d", f.name, missions, len(text), len(whole))
			}
			opened, closed := strings.Count(text, "\n\n<details><summary>"), strings.Count(text, "\n\n</details>\n")
			if opened != closed || missions > 0 && opened == 0 {
				t.Errorf("%s, %d missions: %d are opened, and %d closed", f.name, missions, opened, closed)
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "<details><summary>Mission ") || line == "</details>\n" {
					continue
				}
				if found := acts.FindString(strings.ReplaceAll(line, `\\`, "")); found != "" || strings.HasPrefix(line, "/") {
					t.Fatalf("%s: %q has %q", f.name, line, found)
				}
			}
			if left := 6*missions - strings.Count(text, "\n- Turn "); left > 0 && !strings.Contains(text, fmt.Sprintf("\n... and %d more turns\n", left)) {
				t.Errorf("%s, %d missions: it does not say that %d turns are left out", f.name, missions, left)
			}
		}
	}
}
