package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// A Quoter is a faster way to what a line says, which leaves its texts as they
// are in JSON: of few bytes of a conversation more is needed. It returns the
// [Passages] of a line, or false for one that its Reader has to read. The result
// is valid until the next call, and refers to line.
type Quoter func(line []byte) (id string, said []Quoted, ok bool)

// A Quoted is a [Passage] as JSON has it between quotes, or else a Text.
type Quoted struct {
	Place Place
	JSON  []byte // nil for a Text
	Text  string
}

// Quote appends a passage, as JSON has it between quotes, unless it is blank.
func Quote(said []Quoted, place Place, text []byte) []Quoted {
	if blankJSON(text) {
		return said
	}
	return append(said, Quoted{Place: place, JSON: text})
}

// QuoteCall appends the passage of a call.
func QuoteCall(said []Quoted, call Part) []Quoted {
	if text := called(call); strings.TrimSpace(text) != "" {
		said = append(said, Quoted{Place: Tool, Text: text})
	}
	return said
}

func blankJSON(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ':
		case c == '\\' && strings.IndexByte("ntrf", text[i+1]) >= 0:
			i++
		case c == '\\' && text[i+1] == 'u' || c >= 0x80: // it may be a blank that few use
			return strings.TrimSpace(Unquote(gjson.Parse(`"`+string(text)+`"`))) == ""
		default:
			return false
		}
	}
	return true
}
