package purgemap

import (
	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// spliced returns the events (newest first) whose successor has a parent from a
// different purge. Using it would mix two purges, so they are rewritten again.
func spliced(objects *git.Objects, events []object.Hash, known map[object.Hash]object.Hash, classes map[masked]*class) (list []object.Hash) {
	anew := false // whether the event before is rewritten
	for i := len(events) - 2; i >= 0; i-- {
		to, ok := known[events[i]]
		if !ok {
			anew = false
			continue
		}
		before := events[i+1]
		want, replaced := known[before]
		if !replaced {
			want = before
		}
		parents, err := objects.Parents(to)
		if err != nil || len(parents) == 0 || !anew && parents[0] == want {
			anew = false
			continue
		}
		c := classes[mask(before)]
		if anew = c != nil && c == classes[mask(parents[0])]; anew {
			list = append(list, events[i])
		}
	}
	return list
}
