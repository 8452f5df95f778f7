package cmdline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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

// Field adds a line, unless the value is empty.
func (r *Record) Field(name, value string) {
	if value != "" {
		fmt.Fprintf(r.w, "%-*s %s\n", r.width, name+":", OneLine(value))
	}
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

// PrintLine writes a stored record as the line of JSON that it has there.
func PrintLine(w io.Writer, record interface{ Line() ([]byte, error) }) error {
	line, err := record.Line()
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", line)
	}
	return err
}

// PrintJSON writes v as one line of JSON.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
