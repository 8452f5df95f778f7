package git

import "gitagent/internal/git/object"

// Forget frees the contents of flushed objects, which a rewrite of a long
// history would otherwise all hold in memory.
func (o *Objects) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	staged := make(map[object.Hash]*Object, len(o.staged))
	for _, hash := range o.staged {
		staged[hash] = o.known[hash]
	}
	o.known = staged
}
