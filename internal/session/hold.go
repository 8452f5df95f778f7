package session

import (
	"os"
	"path/filepath"
	"runtime"

	"gitagent/internal/lock"
)

// A Hold is a file that a client keeps locked as long as a session lives in it. The zero Hold is
// none, or one that nobody here can see.
type Hold struct {
	Path   string `json:"path"`
	Domain string `json:"domain,omitempty"` // where the client runs, as in [Client]
}

// ReadHold describes the file that a client should have locked for a session that lives now. It is
// the zero Hold if the lock can't be seen, for whatever reason: then its absence will say nothing either.
func ReadHold(path string) Hold {
	h := Hold{path, Domain()}
	if path == "" || h.Domain == "" && runtime.GOOS == "linux" { // another container's locks look free
		return Hold{}
	}
	if locked, known := h.locked(); !known || !locked {
		return Hold{}
	}
	return h
}

// locked reports whether the file is locked; known is false if nobody here can tell. A process may
// have other mounts, and not see the directory that the client keeps the file in.
func (h Hold) locked() (locked, known bool) {
	if h.Path == "" || h.Domain != Domain() {
		return false, false
	}
	if _, err := os.Stat(filepath.Dir(h.Path)); err != nil {
		return false, false
	}
	locked, err := lock.Held(h.Path)
	return locked, err == nil
}
