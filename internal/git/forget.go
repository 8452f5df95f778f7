package git

// Forget lets go of the contents of all that was flushed: it is read from the disk again. A rewrite of a long
// history would otherwise have all of it in memory.
func (o *Objects) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	staged := make(map[Hash]*Object, len(o.staged))
	for _, hash := range o.staged {
		staged[hash] = o.known[hash]
	}
	o.known = staged
}
