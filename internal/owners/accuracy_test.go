package owners

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A score counts lines that somebody wrote in a turn and that are there at its
// end.
type score struct {
	turns, right, taken, lost, unsure int
}

func (s score) lines() int { return s.right + s.taken + s.lost + s.unsure }

func (s score) share(n int) float64 { return 100 * float64(n) / float64(max(1, s.lines())) }

func (s score) String() string {
	return fmt.Sprintf("%5.1f / %4.1f / %4.1f / %4.1f", s.share(s.right), s.share(s.taken), s.share(s.lost), s.share(s.unsure))
}

func (s *score) count(mine bool, said label) {
	switch {
	case said == unsure:
		s.unsure++
	case mine == (said == own):
		s.right++
	case mine:
		s.lost++
	default:
		s.taken++
	}
}

// TestAccuracy judges simulated turns with the truth of every line.
func TestAccuracy(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-14s %5s %7s  %-28s %s\n", "", "turns", "lines", "right / taken / lost / unsure", "all is own")
	for _, p := range profiles {
		var rule, today score
		for seed := range uint64(gittest.Size(400, 40)) {
			for _, turn := range simulate(p, seed).turns {
				if err := turn.judge(&rule, &today); err != nil {
					t.Fatalf("%s, seed %d: %v", p.name, seed, err)
				}
			}
		}
		fmt.Fprintf(&table, "%-14s %5d %7d  %s    %s\n", p.name, rule.turns, rule.lines(), rule, today)
		least, most := 92.0, 1.5
		if p.sessions > 2 {
			least = 90
		}
		if p.person {
			most = 3
		}
		if right, taken := rule.share(rule.right), rule.share(rule.taken); right < least || taken > most {
			t.Errorf("%s: %.1f %% right, want %.0f; %.1f %% taken, want at most %.1f", p.name, right, least, taken, most)
		}
	}
	t.Log("\n" + table.String())
}

// judge compares what is said of each line with the truth.
func (turn simulatedTurn) judge(rule, today *score) error {
	r, err := Of(turn.Turn)
	if err != nil {
		return err
	}
	rule.turns++
	for path, lines := range turn.end {
		said := make([]label, len(lines))
		for i := range said {
			said[i] = own
		}
		if r != nil {
			if f, ok := r.Files[path]; ok {
				for i, there := range turn.has(f.Shared, lines) {
					if there {
						said[i] = unsure
					}
				}
				for i, there := range turn.has(f.Others, lines) {
					if there {
						said[i] = others
					}
				}
			}
		}
		for i, l := range lines {
			if l.at >= turn.From {
				rule.count(l.by == turn.Who, said[i])
				today.count(l.by == turn.Who, own)
			}
		}
	}
	return nil
}

// has reports for each line whether a content has it, by their longest common
// subsequence.
func (turn simulatedTurn) has(c Content, lines []written) []bool {
	text := c.Text
	if text == nil && c.Entry.Mode != 0 {
		text, _ = turn.Read(c.Entry.Hash)
	}
	other := strings.SplitAfter(string(text), "\n")
	n := len(other)
	longest := make([][]int, len(lines)+1)
	for i := range longest {
		longest[i] = make([]int, n+1)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		for j := n - 1; j >= 0; j-- {
			if lines[i].text+"\n" == other[j] {
				longest[i][j] = 1 + longest[i+1][j+1]
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	there := make([]bool, len(lines))
	for i, j := 0, 0; i < len(lines) && j < n; {
		switch {
		case lines[i].text+"\n" == other[j]:
			there[i] = true
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return there
}

// TestSolo has nothing to write for a session that was alone.
func TestSolo(t *testing.T) {
	for seed := range uint64(gittest.Size(1000, 100)) {
		for _, turn := range simulate(profile{name: "solo", sessions: 1}, seed).turns {
			if r, err := Of(turn.Turn); r != nil || err != nil {
				t.Fatalf("seed %d: %v, %v", seed, r, err)
			}
		}
	}
}
