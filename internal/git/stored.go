package git

import (
	"os"
	"path/filepath"
	"slices"

	"gitagent/internal/git/object"
)

// Stored reports whether an object is in the database, as far as that can be
// seen without git: in a file of its own, or in a small pack.
func (o *Objects) Stored(h object.Hash) bool {
	if !o.names(h) {
		return false
	}
	hex := h.String()
	if info, err := os.Lstat(filepath.Join(o.dir, hex[:2], hex[2:])); err == nil && info.Size() > 0 {
		return true
	}
	return o.small.has(h)
}

func (s *smallPacks) has(h object.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _ := s.find(h)
	return p != nil
}

// Spare keeps objects that are [Objects.Stored] from being written, and returns
// how many bytes the others have. The caller must not flush meanwhile.
func (o *Objects) Spare() (size int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.staged = slices.DeleteFunc(o.staged, o.Stored)
	for _, h := range o.staged {
		size += int64(len(o.known[h].Content))
	}
	return size
}
