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

// A Porcelain prints a record: a title, fields and texts. It escapes all but
// the title, and wraps prose on a terminal.
type Porcelain struct {
	w       *bufio.Writer
	width   int
	columns int // for texts, or 0 to keep lines
}

// NewRecord prints the title. Names of fields, with a colon, get width columns.
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

const maxListed = 50

// List returns at most maxListed untrusted items, and how many are left out.
func List(items []string) []string {
	if more := len(items) - maxListed; more > 0 {
		return append(items[:maxListed:maxListed], fmt.Sprintf("... and %d more", more))
	}
	return items
}

// Tally formats untrusted names and counts, "Bash 3, Read", cut as by [List].
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

// Texts on one line are cut to this many runes.
const (
	maxField = 4000
	maxCell  = 500
)

func shorten(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text[:min(len(text), 4*most)])[:most-1]) + "…"
}

// Line adds a line, cut to a terminal's width.
func (r *Porcelain) Line(text string) {
	text = shorten(OneLine(text), maxField)
	if r.columns > 0 {
		text = Truncate(text, r.columns+len(textIndent))
	}
	fmt.Fprintln(r.w, text)
}

// Quote adds at most most lines of a text without a heading, each behind mark.
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

const textIndent = "    "

// Text adds a heading and an indented text, unless that is empty.
func (r *Porcelain) Text(name, value string) { r.text(name, value, r.columns, 0, "") }

// Verbatim is Text without wrapping, such as for a patch.
func (r *Porcelain) Verbatim(name, value string) { r.text(name, value, 0, 0, "") }

// Beginning is Text for a long text: a terminal gets only most lines, unless
// that is 0, then how many more there are and how to see them.
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
	if most > 0 && shown > most+1 { // leaving out one line would save nothing
		shown = most
	}
	for _, line := range lines[:shown] {
		fmt.Fprintf(r.w, "%s\n", strings.TrimRight(textIndent+line, " \r"))
	}
	if more := len(lines) - shown; more > 0 {
		fmt.Fprintf(r.w, "%s... %d more lines, with %s\n", textIndent, more, how)
	}
}

// Flush writes buffered text.
func (r *Porcelain) Flush() error { return r.w.Flush() }

// PrintLine writes a stored record as its line of [JSON], with by as the field
// that says who recorded it, even if the record has such a field, and for turns
// checked, the word for their checks.
func PrintLine(w io.Writer, record interface{ Line() ([]byte, error) }, by string) error {
	line, err := record.Line()
	if err == nil {
		line, err = with(line, "by", by)
	}
	if t, ok := record.(interface{ Checked() string }); ok && err == nil && t.Checked() != "" {
		line, err = with(line, "checked", t.Checked())
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", JSON(line))
	}
	return err
}

func with(line []byte, name, text string) ([]byte, error) {
	value, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(line, []byte(`"`+name+`"`)) || bytes.Contains(line, []byte(`\u`)) { // it may have one, however spelled
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			return nil, err
		}
		fields[name] = value
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
	return append(append(append(line[:end:end], `,"`+name+`":`...), value...), '}'), nil
}

// PrintJSON writes v as one line of [JSON].
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
