package recall

import "unicode"

// Tokens returns how many tokens a model makes of a text at most, as far as can
// be said without the model's own table: one for four letters or digits of a
// word, each sign, and each letter beyond ASCII.
func Tokens(text string) int {
	n, run := 0, 0
	for _, r := range text {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			if run%4 == 0 {
				n++
			}
			run++
			continue
		}
		run = 0
		if r != ' ' {
			n++
		}
	}
	return n
}

// cut returns the beginning of a text in at most most tokens, at the end of a
// word, with an ellipsis if anything is left out.
func cut(text string, most int) string {
	if Tokens(text) <= most {
		return text
	}
	end := 0
	for at, r := range text {
		if unicode.IsSpace(r) {
			if Tokens(text[:at]) > most-1 {
				break
			}
			end = at
		}
	}
	if end == 0 {
		return "…"
	}
	return text[:end] + " …"
}
