package turns

import (
	"strings"
	"unicode"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/redact"
)

// MaxSubject is how much of a prompt a commit's subject quotes, in runes.
const MaxSubject = 60

// Title returns the title of a mission that begins with a prompt.
func Title(rules *redact.Rules, prompt string) string {
	return ledger.Head(FirstLine(rules.String(Clip(prompt))), MaxSubject)
}

// GivenTitle returns a person's title as one line without secrets.
func GivenTitle(rules *redact.Rules, s string) string {
	return ledger.Head(FirstLine(rules.String(s)), record.MaxPrompt)
}

// FirstLine returns the first non-blank line. Control characters become blanks,
// since `git log` does not escape them.
func FirstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Map(func(c rune) rune {
			switch {
			case c == '\n':
				return -1
			case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c), c == unicode.ReplacementChar:
				return ' '
			}
			return c
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// MaxClip is how many bytes of a prompt or reply are redacted: a pasted log of
// many MB is cut before, and further afterwards.
const MaxClip = 64 << 10

// Clip returns as much of a prompt as is redacted.
func Clip(prompt string) string { return prompt[:min(len(prompt), MaxClip)] }
