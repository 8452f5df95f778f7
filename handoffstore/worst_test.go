package handoffstore_test

import (
	"strings"
	"testing"

	"gitagent/handoffstore"
	"gitagent/internal/redact"
	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestDocumentWorst: no document that is handed off takes long to be read.
func TestDocumentWorst(t *testing.T) {
	gittest.Check(t)
	rules := redact.New(redact.Own{})
	worst.Hold(t, handoffstore.MaxDocument, []string{"# a\n", "- [ ] a\n", "?", "a ", "\r\n", "\n", "```\n", "## Open questions\n", "- a?\n", "> ", "\x00", "\xff", "\u2028", "a", "password=", "kind: Secret\n"}, func(text string) {
		_, _ = handoffstore.ReadDocument(rules, strings.NewReader(text), "a")
	})
}
