package ledger

import (
	"fmt"
	"path"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
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
	for _, d := range NewestHandoffs(entries) {
		numbers = append(numbers, d.Number)
	}
	return numbers, err
}

// NewestHandoffs returns the directories of handoffs, the last first, from the
// entries of the one that they are in.
func NewestHandoffs(entries map[string]object.Entry) []Numbered {
	return newest(entries, func(name string, e object.Entry) (int, bool) {
		n, ok := padded(name, 6, "")
		return n, ok && record.IsNumber(n) && e.Mode == filemode.Dir
	})
}

// LastHandoff returns the number of the mission's last handoff, or 0.
func (l *Ledger) LastHandoff() (int, error) {
	numbers, err := l.Handoffs()
	if len(numbers) == 0 {
		return 0, err
	}
	return numbers[0], nil
}
