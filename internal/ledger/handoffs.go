package ledger

import (
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/record"
)

// HandoffPath returns a handoff's file, or its directory if name is empty.
func HandoffPath(number int, name string) string {
	return path.Join(fmt.Sprintf("handoffs/%06d", number), name)
}

// Handoffs returns the numbers of the mission's handoffs, the last first.
func (l *Ledger) Handoffs() ([]int, error) {
	entries, err := l.dir("handoffs")
	var numbers []int
	for name, e := range entries {
		if n, ok := padded(name, 6, ""); ok && record.IsNumber(n) && e.Mode == filemode.Dir {
			numbers = append(numbers, n)
		}
	}
	slices.SortFunc(numbers, func(a, b int) int { return b - a })
	return numbers, err
}

// LastHandoff returns the number of the mission's last handoff, or 0.
func (l *Ledger) LastHandoff() (int, error) {
	numbers, err := l.Handoffs()
	if len(numbers) == 0 {
		return 0, err
	}
	return numbers[0], nil
}
