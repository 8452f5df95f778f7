package agent

import (
	"strings"
	"testing"

	"gitagent/test/worst"
)

// TestReadersWorst: no line of JSON takes a reader much memory, or ends the program by its depth.
func TestReadersWorst(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 4<<20)
	for _, a := range All() {
		for _, head := range []string{`{"a":`, `{"type":"message","message":`, `{"type":"user","sessionId":"x","agentId":"a","payload":`} {
			line := []byte(head + deep)
			worst.Try(t, a.Name+": "+head+" and brackets", func() { a.Reader().Read(0, line) })
		}
	}
}
