package streamjson

import (
	"io"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestWorst: no output of a client takes memory, or ends the program by its depth.
func TestWorst(t *testing.T) {
	gittest.Check(t)
	show := func(text string) {
		r := NewRenderer(io.Discard)
		_, err := io.WriteString(r, text)
		gittest.Must(t, err)
		gittest.Must(t, r.Close())
	}
	worst.Try(t, "brackets", func() { show(`{"type":"assistant","message":` + strings.Repeat(`[{"a":`, 5<<20)) })
	worst.Hold(t, 256<<10, []string{
		`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}`, `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"a\n"}}}`, `{"type":"user","message":{"content":[{"type":"tool_result","content":"a"}]}}`,
		`{"type":"result","result":"a"}`, `{"type":"x"`, `{"type":"assistant","message":{"content":[`, `{"type":"tool_use","name":"a","input":{"a":1}},`, `{`, `[`, `"`, `\`, "a", " ", "\x1b[", "\xff",
	}, show)
}
