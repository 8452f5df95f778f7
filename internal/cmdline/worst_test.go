package cmdline

import (
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestWorst: whatever a stranger wrote is escaped, wrapped, cut and quoted in little time.
func TestWorst(t *testing.T) {
	gittest.Check(t)
	pieces := []string{"a", " ", "\n", "\t", "\r", "\x1b[", "\x1b]", "\x1bP", "\u202e", "\u200d", "\u0301", "é", "日", "👩", "🇩", "\xff", "*", "_", "[", "@a", "#1", "<", "&", "`", "|", "\\", "http://a.b", "  a"}
	worst.Hold(t, 256<<10, pieces, func(text string) {
		Escape(text)
		OneLine(text)
		for range Wrap(EscapeLines(text), 80) {
		}
		Truncate(text, 80)
		TruncateStart(text, 80)
		Width(text)
		Markdown(text)
		Message(text)
		Labelled("a", text, 80)
		JSON([]byte(text))
	})
}
