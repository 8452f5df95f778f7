package scrub

import (
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestWorst: no text takes the search for a secret long, in however many layers it may be hidden there.
func TestWorst(t *testing.T) {
	gittest.Check(t)
	const size = 64 << 10 // what is allocated is not held: a view for each layer
	f, err := Fixed([]byte("hunter2secret"))
	gittest.Must(t, err)
	pieces := []string{`\u0068`, `\`, `\"`, `"`, `{"a":"`, `[`, `{"a":`, "%68", "%25", "aHVudGVyMnNlY3JldA", "AA==", "A", "/", "hunter2secre", "hunter2secret", "h", "\n", "+h", "&#104;", "&amp;", "=68", "=\n", "68", "\\x68", "\x1b[0m", "\x1b]", "\x1bP", "&#27;]", `\u001b]`, "\x00h", "h\n+"}
	worst.Hold(t, size, pieces, func(text string) { f.Spans([]byte(text)) })
	worst.Hold(t, size, pieces, func(text string) { f.ReplaceJSON([]byte(text)) })
	worst.Hold(t, size, pieces, func(text string) { f.Clean([]byte(text)) })
}
