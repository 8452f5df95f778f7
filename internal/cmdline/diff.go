package cmdline

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// A Diff passes on to a terminal what `git diff --no-color` prints: escaped, as the content of files
// is a stranger's text, and then coloured. Git's own colours can't be told from those in the
// content, which could hide a line.
type Diff struct {
	to     *bufio.Writer
	colour bool
	line   []byte // that has not ended yet
	header bool   // no hunk has begun, so -- and ++ are no changes
}

// NewDiff makes a Diff; its Flush ends it.
func NewDiff(w io.Writer) *Diff {
	return &Diff{to: bufio.NewWriter(w), colour: Colour(w), header: true}
}

// Print writes a stranger's text of any length, for which write is called: to a terminal escaped, and
// elsewhere as it is.
func Print(w io.Writer, write func(io.Writer) error) error {
	if Columns(w) == 0 {
		return write(w)
	}
	d := &Diff{to: bufio.NewWriter(w)}
	err := write(d)
	if e := d.Flush(); err == nil {
		err = e
	}
	return err
}

// longLine is how much of a line is kept until it ends; a longer one is printed in pieces.
const longLine = 64 << 10

func (d *Diff) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		whole := end > 0
		if !whole {
			end = len(p)
		}
		d.line, p = append(d.line, p[:end]...), p[end:]
		if whole || len(d.line) >= longLine {
			if err := d.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// Flush writes what is left.
func (d *Diff) Flush() error {
	err := d.flush()
	if e := d.to.Flush(); err == nil {
		err = e
	}
	return err
}

func (d *Diff) flush() error {
	text, ended := strings.CutSuffix(string(d.line), "\n")
	d.line = d.line[:0]
	style := d.style(text)
	if text = EscapeLines(text); d.colour {
		text = style.Paint(text)
	}
	if ended {
		text += "\n"
	}
	_, err := d.to.WriteString(text)
	return err
}

// style is the colour that git gives a line by default.
func (d *Diff) style(line string) Style {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		d.header = true
		return Bold
	case strings.HasPrefix(line, "@@ "):
		d.header = false
		return Cyan
	case strings.HasPrefix(line, " ") || line == "":
		return Plain
	case d.header:
		return Bold
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	}
	return Plain
}
