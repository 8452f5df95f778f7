package scrub

import "sync"

// hashes is a set of the hashes of texts, with the seed of this process. It
// begins anew when it is full.
type hashes struct {
	mu  sync.Mutex
	set map[uint64]bool
}

// maxHashes bounds the set.
const maxHashes = 1 << 17

func (h *hashes) has(hash uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set[hash]
}

func (h *hashes) add(hash uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set == nil || len(h.set) == maxHashes {
		h.set = make(map[uint64]bool)
	}
	h.set[hash] = true
}
