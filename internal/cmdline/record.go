package cmdline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Record prints one record for people: a title, fields, texts. All but the title may be a
// stranger's text; it is escaped.
type Record struct {
	w     *bufio.Writer
	width int
}

// NewRecord begins with the title. The names of fields, with a colon, have width columns.
func NewRecord(to io.Writer, title string, width int) *Record {
	r := &Record{w: bufio.NewWriter(to), width: width}
	if Colour(to) {
		title = Yellow.Paint(title)
	}
	fmt.Fprintln(r.w, title)
	return r
}

// Field adds a line, unless the value is empty. A long value is cut.
func (r *Record) Field(name, value string) {
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

// Text adds a heading and a text, indented, unless the text is empty.
func (r *Record) Text(name, value string) {
	if value == "" {
		return
	}
	fmt.Fprintf(r.w, "\n%s\n", name)
	for line := range strings.Lines(EscapeLines(value)) {
		fmt.Fprintf(r.w, "    %s\n", strings.TrimRight(line, "\r\n"))
	}
}

// Flush writes what is still buffered.
func (r *Record) Flush() error { return r.w.Flush() }

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
