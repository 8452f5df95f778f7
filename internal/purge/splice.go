package purge

import (
	"gitagent/internal/git"
)

// spliced are the events of a ledger, given from its newest, that are replaced by one purge, and come after one
// that another purge replaced, or that stays though a purge replaced it too. They are written anew after it.
func spliced(objects *git.Objects, events []git.Hash, known map[git.Hash]git.Hash, classes map[masked]*class) (list []git.Hash) {
	anew := false // the event before is
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
