package recall

import "unicode"

// Tokens returns how many tokens a model makes of a text at most, as far as can
// be said without the model's own table: one for four letters or digits of a
// word, each sign, and each letter beyond ASCII.
func Tokens(text string) int {
	var c count
	for _, r := range text {
		c.add(r)
	}
	return c.tokens
}

// A count is of tokens so far.
type count struct {
	tokens int
	run    int // letters and digits of the word that it ends in
}

func (c *count) add(r rune) {
	if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		if c.run%4 == 0 {
			c.tokens++
		}
		c.run++
		return
	}
	c.run = 0
	if r != ' ' {
		c.tokens++
	}
}

// cut returns the beginning of a text in at most most tokens, with an ellipsis if
// anything is left out: at the end of a word, unless that leaves less than half
// of what there is room for, as in a script without blanks.
func cut(text string, most int) string {
	if Tokens(text) <= most {
		return text
	}
	var c count
	end, word := 0, 0
	for at, r := range text {
		if c.tokens >= most {
			break
		}
		if end = at; unicode.IsSpace(r) {
			word = at
		}
		c.add(r)
	}
	if word > 0 && word >= end/2 {
		return text[:word] + " …"
	}
	return text[:end] + "…"
}
