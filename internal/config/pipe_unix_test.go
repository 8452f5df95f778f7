//go:build unix

package config

import (
	"path/filepath"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// TestPipe: a pipe in the place of the user's file holds nobody up, and lets no text through: what they want cut out
// can't be known.
func TestPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.toml")
	gittest.Must(t, syscall.Mkfifo(path, 0o600))
	c, err := Load(path, "")
	if err == nil || c.Rules().String("Anna") != "[redacted:unchecked]" {
		t.Errorf("Load = %v; %q", err, c.Rules().String("Anna"))
	}
}
