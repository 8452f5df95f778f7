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
	words  bool   // what comes is --word-diff=porcelain, and --word-diff=plain is wanted
	line   []byte // that has not ended yet
	begun  bool   // a piece of it was printed
	in     section
	style  Style
	run    bool   // it is a run of words, and no line ends with it
	close  string // the mark at its end
}

// A section is what a line of a diff belongs to.
type section int

const (
	summary section = iota // --stat, names
	header                 // of a file, where -- and ++ are no changes
	hunk
)

// NewDiff makes a Diff; its Flush ends it.
func NewDiff(w io.Writer) *Diff {
	return &Diff{to: bufio.NewWriter(w), colour: Colour(w)}
}

// NewWordDiff is [NewDiff] for what `git diff --word-diff=porcelain` prints. It is passed on as
// --word-diff=plain would have it: [-removed-]{+added+}. From that alone the marks can't be told from
// those in the content.
func NewWordDiff(w io.Writer) *Diff {
	d := NewDiff(w)
	d.words = true
	return d
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

// flush prints the line, or a piece of a long one: the first decides how all of it looks.
func (d *Diff) flush() error {
	text, ended := strings.CutSuffix(string(d.line), "\n")
	d.line = d.line[:0]
	if !d.begun {
		d.style, d.run, d.close = d.look(text), false, ""
		if d.words && d.in == hunk && !strings.HasPrefix(text, "@@ ") {
			text = d.word(text)
		}
	}
	d.begun = !ended
	text = EscapeLines(text)
	if ended {
		text += d.close
	}
	if d.colour {
		text = d.paint(text)
	}
	if ended && !d.run {
		text += "\n"
	}
	_, err := d.to.WriteString(text)
	return err
}

// word is a line of a word diff: "~" is the end of a line, and anything else a run of words, which has
// the sign of a line.
func (d *Diff) word(text string) string {
	if text == "~" {
		return ""
	}
	d.run = true
	switch run := text[min(1, len(text)):]; d.style {
	case Green:
		d.close = "+}"
		return "{+" + run
	case Red:
		d.close = "-]"
		return "[-" + run
	default:
		return run
	}
}

func (d *Diff) paint(text string) string {
	if d.in != summary {
		return d.style.Paint(text)
	}
	// " path | 12 +++--"
	minus := len(strings.TrimRight(text, "-"))
	plus := len(strings.TrimRight(text[:minus], "+"))
	if rest := text[:plus]; !strings.Contains(rest, " | ") || !strings.HasSuffix(rest, " ") {
		return text
	}
	return text[:plus] + Green.Paint(text[plus:minus]) + Red.Paint(text[minus:])
}

// look is the colour that git gives a line by default.
func (d *Diff) look(line string) Style {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		d.in = header
	case strings.HasPrefix(line, "@@ ") && d.in != summary:
		d.in = hunk
		return Cyan
	}
	switch {
	case d.in == summary:
		return Plain
	case d.in == header:
		return Bold
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	}
	return Plain
}
