package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/agent"
)

// TestClientsDescribed: docs/clients.md says what each agent's client does, also the newest that was tested.
func TestClientsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(top, "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agent.All() {
		_, section, found := strings.Cut(string(text), "\n## "+a.Title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		_, tried, _ := strings.Cut(section, "\nTried: ")
		tried, _, _ = strings.Cut(tried, ".\n")
		switch {
		case !found:
			t.Errorf("docs/clients.md has no section %q", a.Title)
		case !listed(tried, a.Tested):
			t.Errorf("docs/clients.md: %s was tried with %s, it says, and not with %s", a.Title, tried, a.Tested)
		}
	}
}

// listed reports whether a version is in a list with commas.
func listed(list, version string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(word) == version {
			return true
		}
	}
	return false
}
