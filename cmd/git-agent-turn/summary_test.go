package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gitagent/internal/blame"
	"gitagent/internal/record"
	"gitagent/internal/review"
	"gitagent/internal/trust"
	"gitagent/turns"
)

// TestSummaryFits: whatever prompts hold, and however many there are, a forge takes the summary, and obeys nothing of it.
func TestSummaryFits(t *testing.T) {
	t.Parallel()
	const evil = "</details> <script>x</script> @somebody fixes #1 and me/it!2 &lt; https://example.invalid/-/issues/1 \u202e"
	acts := regexp.MustCompile(`@\w|#\d|://|(^|[^\\])[<>&!]`)
	for _, missions := range []int{0, 1, 3, 400} {
		s := &summarizer{span: span{name: "main..HEAD"}, prompts: true, sum: &blame.Contributions{}, marks: make(map[record.ID]*review.Mark)}
		turn := 0
		for i := range missions {
			m := &blame.Prompts{Mission: &record.Mission{ID: record.ID(fmt.Sprintf("%08x", i)), Title: evil, ForkedFrom: &record.TurnID{Mission: "a1b2c3d4", Turn: 1}}}
			for range 6 {
				turn++
				m.Turns = append(m.Turns, &turns.Turn{Turn: turn, Outcome: record.Done, Prompt: evil + strings.Repeat("<", maxSaid)})
			}
			s.marks[m.Mission.ID] = &review.Mark{Turn: turn - 6 + i%3*3, Who: evil} // none of them is reviewed, or half, or all
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
			told := strings.Count(text, "\n- Turn ") + 3*strings.Count(text, "\n- Turns ") + 6*strings.Count(text, ", 6 turns, reviewed by ")
			if left := 6*missions - told; left > 0 && !strings.Contains(text, fmt.Sprintf("\n... and %d more turns\n", left)) {
				t.Errorf("%s, %d missions: it does not say that %d turns are left out", f.name, missions, left)
			}
		}
	}
}

// TestSummaryReviewed: what somebody has reviewed is a line, of a part of a mission or the whole.
func TestSummaryReviewed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		turns    []int
		reviewed *review.Mark
		most     int
		want     string
	}{
		{[]int{1, 2}, nil, 9, "### Mission a1b2c3d4: The form\n\n- Turn 1: go (changed nothing)\n- Turn 2: go (changed nothing)\n"},
		{[]int{4, 5}, &review.Mark{Turn: 3, Who: "Jo"}, 9, "### Mission a1b2c3d4: The form\n\n- Turn 4: go (changed nothing)\n- Turn 5: go (changed nothing)\n"},
		{[]int{1, 2}, &review.Mark{Turn: 1, Who: "Jo"}, 9, "### Mission a1b2c3d4: The form\n\n- Turn 1: reviewed by Jo\n- Turn 2: go (changed nothing)\n"},
		{[]int{1, 2, 4, 7}, &review.Mark{Turn: 5, Who: "Jo"}, 9, "### Mission a1b2c3d4: The form\n\n- Turns 1-2,4: reviewed by Jo\n- Turn 7: go (changed nothing)\n"},
		{[]int{1, 2, 3}, &review.Mark{Turn: 1, Who: "Jo"}, 1, "### Mission a1b2c3d4: The form\n\n- Turn 1: reviewed by Jo\n\n... and 2 more turns\n"},
		{[]int{1, 2, 3}, &review.Mark{Turn: 3, Who: "Jo"}, 1, "### Mission a1b2c3d4, 3 turns, reviewed by Jo: The form\n"},
		{[]int{1}, &review.Mark{Turn: 3, Who: trust.Machine, By: "J_o <jo@example.invalid>"}, 1, "### Mission a1b2c3d4, 1 turn, reviewed by J\\_o: The form\n"},
		{[]int{1}, &review.Mark{Turn: 3, Who: trust.Machine, By: " <jo@example.invalid>"}, 1, "### Mission a1b2c3d4, 1 turn, reviewed by \\<jo＠example.invalid\\>: The form\n"},
		{[]int{1, 2}, &review.Mark{Turn: 2, Who: "Jo"}, 0, "... and 2 more turns\n"},
	} {
		m := &blame.Prompts{Mission: &record.Mission{ID: "a1b2c3d4", Title: "The form"}}
		for _, n := range tt.turns {
			m.Turns = append(m.Turns, &turns.Turn{Turn: n, Outcome: record.Done, Prompt: "go"})
		}
		s := &summarizer{prompts: true, missions: []*blame.Prompts{m}, marks: map[record.ID]*review.Mark{"a1b2c3d4": tt.reviewed}}
		var b bytes.Buffer
		s.asked(&b, forge{}, tt.most)
		if got := strings.TrimPrefix(b.String(), "\n## What was asked\n\n"); got != tt.want {
			t.Errorf("turns %d, the mark %+v, at most %d:\n%s\nwant\n%s", tt.turns, tt.reviewed, tt.most, got, tt.want)
		}
	}
}
