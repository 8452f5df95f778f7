package hooks

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"gitagent/internal/cmdline"
)

// An Answer is what a hook prints for the client: JSON or, if empty, nothing.
type Answer struct {
	Event string // the event of the payload; needed with Model
	Model string // for the conversation; the client replaces more than 10,000 UTF-16 units by a preview
	User  string // shown, but not sent to the model
	Flat  bool   // the client looks for Model at the top
}

// Write writes the answer, with U+FFFD for control characters but newlines and
// tabs, because the client prints and sends text unchanged.
func (a Answer) Write(w io.Writer) error {
	if a.Model == "" && a.User == "" {
		return nil
	}
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	var out struct {
		Specific *specific `json:"hookSpecificOutput,omitempty"`
		Context  string    `json:"additionalContext,omitempty"`
		User     string    `json:"systemMessage,omitempty"`
	}
	switch {
	case a.Model == "":
	case a.Flat:
		out.Context = printable(a.Model)
	default:
		out.Specific = &specific{a.Event, printable(a.Model)}
	}
	out.User = printable(a.User)
	if err := cmdline.PrintJSON(w, out); err != nil {
		return fmt.Errorf("write the answer to %s: %w", a.Event, err)
	}
	return nil
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
