//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A registration is what the client says about itself while it lives,
// in <config>/sessions/<pid>.json.
type registration struct {
	SessionID       string `json:"sessionId"`
	Status          string `json:"status"` // idle, busy, waiting
	WaitingFor      string `json:"waitingFor"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt"` // ms since the epoch
}

// registry reads the registration of a client; the zero value if there is none.
func (r *rig) registry(pid int) registration {
	var g registration
	b, err := os.ReadFile(filepath.Join(r.home, ".claude", "sessions", fmt.Sprint(pid)+".json"))
	if err == nil {
		json.Unmarshal(b, &g) // half written: the zero value, and the caller looks again
	}
	return g
}
