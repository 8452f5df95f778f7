package cmdline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Record prints one record for people: a title, fields, texts. All but the title may be a
// stranger's text; it is escaped, and on a terminal the prose in texts is wrapped.
type Porcelain struct {
	w       *bufio.Writer
	width   int
	columns int // for texts; 0 for lines as they are
}

// NewRecord begins with the title. The names of fields, with a colon, have width columns.
func NewRecord(to io.Writer, title string, width int) *Porcelain {
	r := &Porcelain{w: bufio.NewWriter(to), width: width}
	if columns := Columns(to); columns > 0 {
		r.columns = max(columns-len(textIndent), 20)
	}
	if Colour(to) {
		title = Yellow.Paint(title)
	}
	fmt.Fprintln(r.w, title)
	return r
}

// Field adds a line, unless the value is empty. A long value is cut.
func (r *Porcelain) Field(name, value string) {
	if value != "" {
		fmt.Fprintf(r.w, "%-*s %s\n", r.width, name+":", shorten(OneLine(value), maxField))
	}
}

// maxListed is how many of a list [List] keeps.
const maxListed = 50

// List cuts a list of a stranger's, which may be of any length, and says what is left out.
func List(items []string) []string {
	if more := len(items) - maxListed; more > 0 {
		return append(items[:maxListed:maxListed], fmt.Sprintf("... and %d more", more))
	}
	return items
}

// Tally lists names, which are a stranger's, with how often each counts if that is more than once:
// "Bash 3, Read". A long list is cut as by [List].
func Tally(counts map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		if name = OneLine(name); n > 1 {
			name += fmt.Sprintf(" %d", n)
		}
		list = append(list, name)
	}
	return strings.Join(List(list), ", ")
}

// The longest texts on one line that are printed whole, in runes.
const (
	maxField = 4000
	maxCell  = 500
)

// shorten cuts a text that is longer than any that we write.
func shorten(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text[:min(len(text), 4*most)])[:most-1]) + "…"
}

// Line adds a line, on a terminal cut to its width.
func (r *Porcelain) Line(text string) {
	text = shorten(OneLine(text), maxField)
	if r.columns > 0 {
		text = Truncate(text, r.columns+len(textIndent))
	}
	fmt.Fprintln(r.w, text)
}

// Quote adds the first lines of a text without a heading, each behind a mark.
func (r *Porcelain) Quote(mark, value string, most int) {
	n := 0
	for line := range Wrap(EscapeLines(strings.TrimRight(value, "\n")), max(0, r.columns-len(mark))) {
		if n++; n > most {
			fmt.Fprintf(r.w, "%s%s...\n", textIndent, mark)
			return
		}
		fmt.Fprintf(r.w, "%s\n", strings.TrimRight(textIndent+mark+shorten(line, maxField), " \r"))
	}
}

// textIndent is before every line of a text.
const textIndent = "    "

// Text adds a heading and a text, indented, unless the text is empty.
func (r *Porcelain) Text(name, value string) { r.text(name, value, r.columns, 0, "") }

// Verbatim is Text for what is no prose, a patch: it is not wrapped.
func (r *Porcelain) Verbatim(name, value string) { r.text(name, value, 0, 0, "") }

// Beginning is Text for what may be long: on a terminal, only so many lines of it are printed, and
// then how many more there are and how to see them. 0 is for all of them.
func (r *Porcelain) Beginning(name, value string, most int, how string) {
	if r.columns == 0 {
		most = 0
	}
	r.text(name, value, r.columns, most, how)
}

func (r *Porcelain) text(name, value string, columns, most int, how string) {
	if value == "" {
		return
	}
	fmt.Fprintf(r.w, "\n%s\n", name)
	lines := slices.Collect(Wrap(EscapeLines(value), columns))
	shown := len(lines)
	if most > 0 && shown > most+1 { // to leave out one line takes a line as well
		shown = most
	}
	for _, line := range lines[:shown] {
		fmt.Fprintf(r.w, "%s\n", strings.TrimRight(textIndent+line, " \r"))
	}
	if more := len(lines) - shown; more > 0 {
		fmt.Fprintf(r.w, "%s... %d more lines, with %s\n", textIndent, more, how)
	}
}

// Flush writes what is still buffered.
func (r *Porcelain) Flush() error { return r.w.Flush() }

// PrintLine writes a stored record as the line of JSON that it has there, see [JSON], with one more
// field: who recorded it, whatever the record says of that itself.
func PrintLine(w io.Writer, record interface{ Line() ([]byte, error) }, by string) error {
	line, err := record.Line()
	if err == nil {
		line, err = withBy(line, by)
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", JSON(line))
	}
	return err
}

// withBy sets the field "by" of an object.
func withBy(line []byte, by string) ([]byte, error) {
	value, err := json.Marshal(by)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(line, []byte(`"by"`)) || bytes.Contains(line, []byte(`\u`)) { // perhaps it has one, in some spelling
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			return nil, err
		}
		fields["by"] = value
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(fields)
		return bytes.TrimRight(b.Bytes(), "\n"), err
	}
	end := bytes.LastIndexByte(line, '}')
	if end < 0 {
		return nil, fmt.Errorf("the record is no object: %.20q", line)
	}
	return append(append(append(line[:end:end], `,"by":`...), value...), '}'), nil
}

// PrintJSON writes v as one line of JSON, see [JSON].
func PrintJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = w.Write(append(JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), '\n'))
	}
	return err
}
