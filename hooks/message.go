package hooks

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// SystemMessage writes the output of a hook that has something to say to the user:
// one line of JSON that the client shows and does not send to the model.
// The client prints text as it is, so control characters other than a newline become U+FFFD.
func SystemMessage(w io.Writer, text string) error {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	line, err := json.Marshal(struct {
		SystemMessage string `json:"systemMessage"`
	}{text})
	if err != nil {
		return fmt.Errorf("encode message to the user: %w", err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write message to the user: %w", err)
	}
	return nil
}
