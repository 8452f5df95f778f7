package cmdline

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// A Diff passes on the output of `git diff --no-color` to a terminal, escaped,
// since contents are untrusted, and then coloured. Git's own colours can't be
// told from those in contents, which could hide a line.
type Diff struct {
	to     *bufio.Writer
	colour bool
	words  bool   // turns --word-diff=porcelain into --word-diff=plain
	line   []byte // an unfinished line
	begun  bool   // a piece of line was printed
	in     section
	style  Style
	run    bool   // a run of words, which ends no line
	close  string // the mark that ends a run
}

type section int

const (
	summary section = iota // --stat, names
	header                 // of a file: -- and ++ are not changes
	hunk
)

// NewDiff returns a Diff, which the caller must Flush.
func NewDiff(w io.Writer) *Diff {
	return &Diff{to: bufio.NewWriter(w), colour: Colour(w)}
}

// NewWordDiff is [NewDiff] for `git diff --word-diff=porcelain`. It prints what
// --word-diff=plain would, [-removed-]{+added+}: in git's own plain output the
// marks can't be told from contents.
func NewWordDiff(w io.Writer) *Diff {
	d := NewDiff(w)
	d.words = true
	return d
}

// Print writes untrusted text by calling write. A terminal gets it escaped.
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

// longLine is how many bytes of a line are buffered before it is printed.
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

// Flush writes buffered text.
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

// word prints a word diff's line: "~" ends a line, others are runs of words.
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
