package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/power"
)

// TestPowers: SECURITY.md prints the table that decides.
func TestPowers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(top, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if table := power.Table(); !strings.Contains(string(text), table) {
		t.Errorf("SECURITY.md lacks the table:\n%s", table)
	}
}
