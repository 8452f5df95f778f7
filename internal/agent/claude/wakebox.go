package claude

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const boxRule = "────────" // starts the lines above and below the input box

// readBox returns the text in the client's input box, without white space. ok
// is false if the page, captured by tmux with attributes, has no input box for
// text, but a dialog, a menu, the shell mode, or another view.
func readBox(page string) (text string, ok bool) {
	lines := parsePage(page)
	for i := len(lines) - 1; i > 0; i-- {
		if !strings.HasPrefix(plainText(lines[i]), "❯") || !strings.HasPrefix(plainText(lines[i-1]), boxRule) {
			continue
		}
		var b strings.Builder
		for k, line := range lines[i:] {
			if strings.HasPrefix(plainText(line), boxRule) {
				return strings.TrimPrefix(b.String(), "❯"), isFooter(lines[i+k+1:])
			}
			b.WriteString(typedText(line))
		}
		return "", false
	}
	return "", false
}

// isFooter reports whether lines can be below an input box: no dialog or
// search.
func isFooter(lines [][]glyph) bool {
	return !slices.ContainsFunc(lines, func(line []glyph) bool {
		return strings.HasPrefix(plainText(line), boxRule) || strings.Contains(plainText(line), "search prompts:")
	})
}

// typedText returns a line's typed text. A placeholder is dim except at the
// cursor.
func typedText(line []glyph) string {
	var b strings.Builder
	for i, g := range line {
		placeholder := g.dim || g.reverse && i+1 < len(line) && line[i+1].dim
		if !placeholder && !unicode.IsSpace(g.r) {
			b.WriteRune(g.r)
		}
	}
	return b.String()
}

func plainText(line []glyph) string {
	var b strings.Builder
	for _, g := range line {
		b.WriteRune(g.r)
	}
	return b.String()
}

// A glyph is a rune with the attributes that matter.
type glyph struct {
	r            rune
	dim, reverse bool
}

// parsePage splits a page into glyphs. Attributes last beyond line ends.
func parsePage(page string) [][]glyph {
	var lines [][]glyph
	var line []glyph
	var attributes glyph
	for len(page) > 0 {
		if rest, ok := strings.CutPrefix(page, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				break
			}
			if rest[end] == 'm' {
				attributes.set(rest[:end])
			}
			page = rest[end+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(page)
		page = page[size:]
		if r == '\n' {
			lines, line = append(lines, line), nil
			continue
		}
		line = append(line, glyph{r, attributes.dim, attributes.reverse})
	}
	return append(lines, line)
}

func (g *glyph) set(params string) {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		switch fields[i] {
		case "", "0":
			g.dim, g.reverse = false, false
		case "2":
			g.dim = true
		case "22":
			g.dim = false
		case "7":
			g.reverse = true
		case "27":
			g.reverse = false
		case "38", "48", "58": // a colour, by number or by components
			if i+1 < len(fields) && fields[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
}
