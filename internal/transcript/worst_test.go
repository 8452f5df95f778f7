package transcript

import (
	"io"
	"testing"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// spoken is a reader that takes each line for what somebody said, or a tool printed.
type spoken struct{ kind Kind }

func (s spoken) Read(_ int, line []byte) Entry {
	return Entry{At: time.Unix(1, 0), Parts: []Part{{Kind: s.kind, Text: string(line), Call: "a"}}}
}

// TestRendererWorst: no text of a conversation takes long to be shown.
func TestRendererWorst(t *testing.T) {
	gittest.Check(t)
	for _, kind := range []Kind{Said, Answer, Asked, Thought} {
		for _, form := range []Form{{Results: 5, Columns: 80, Colour: true}, {Full: true}} {
			worst.Hold(t, 256<<10, []string{"a", " ", "\t", "\n", "\r", "\x1b[", "\x1b[0m", "\x1b]0;", "\x1bP", "\x07", "\u0301", "日", "👩\u200d", "\xff", "\u202e"}, func(text string) {
				r := NewRenderer(io.Discard, spoken{kind}, form)
				_, err := io.WriteString(r, text)
				gittest.Must(t, err)
				gittest.Must(t, r.Close())
			})
		}
	}
}
