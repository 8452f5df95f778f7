package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gitagent/internal/cmdline"
	"gitagent/internal/gitdiff"
	"gitagent/turns"
)

// A row is a line of a turn's description. Its text is escaped.
type row struct {
	style cmdline.Style
	text  string
}

// preview returns a turn's description in so many columns. It is made once: a
// list asks at every key.
func (f *finder) preview(ctx context.Context, i, columns int) []row {
	if columns != f.width {
		f.width = columns
		clear(f.previews)
	}
	rows, ok := f.previews[i]
	if !ok {
		rows = wrapRows(f.describe(ctx, f.turn(i)), columns)
		f.previews[i] = rows
	}
	return rows
}

// describe returns a turn's prompt, reply, files and diff.
func (f *finder) describe(ctx context.Context, t *turns.Turn) []row {
	about := []string{string(t.Outcome), t.At.Local().Format(time.RFC1123), t.Model}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	rows := []row{
		{cmdline.Bold, "turn " + t.After().String()},
		{cmdline.Dim, cmdline.OneLine(strings.Join(about, ", "))},
	}
	section := func(title, text string) {
		if text == "" {
			return
		}
		rows = append(rows, row{}, row{cmdline.Bold, title})
		for line := range strings.Lines(strings.TrimSpace(cmdline.EscapeLines(text))) {
			rows = append(rows, row{text: strings.TrimSuffix(line, "\n")})
		}
	}
	section("Prompt", turns.Prompt(ctx, f.repo, t))
	section("Reply", t.Reply)
	section("Tools", cmdline.Tally(t.Tools))
	own := t.Change()
	if own.Files == 0 {
		return rows
	}
	var paths []string
	for _, p := range own.Paths {
		paths = append(paths, cmdline.OneLine(p))
	}
	section(fmt.Sprintf("%s, +%d -%d", cmdline.Plural(own.Files, "file"), own.Insertions, own.Deletions), strings.Join(paths, "\n"))
	return append(append(rows, row{}), f.diff(ctx, own)...)
}

// maxDiff is how many bytes of a diff are shown.
const maxDiff = 64 << 10

func (f *finder) diff(ctx context.Context, own *turns.Change) []row {
	begin := &beginning{most: maxDiff}
	out := cmdline.NewDiff(&cmdline.Screen{Writer: begin, Columns: wide, Colour: f.colour})
	err := gitdiff.Diff(ctx, f.repo, out, own.Sure, own.To, nil, nil)
	_ = out.Flush()
	var rows []row
	for line := range strings.Lines(string(begin.text)) {
		rows = append(rows, painted(strings.TrimSuffix(line, "\n")))
	}
	switch {
	case begin.full:
		rows = append(rows, row{cmdline.Dim, "..."})
	case err != nil:
		rows = append(rows, row{cmdline.Dim, cmdline.OneLine(err.Error())})
	}
	return rows
}

// painted splits a line into its one style, if any, and text.
func painted(line string) row {
	if style, text, ok := strings.Cut(line, "m"); ok && strings.HasPrefix(style, "\x1b[") {
		return row{cmdline.Style(style[2:]), strings.TrimSuffix(text, "\x1b[m")}
	}
	return row{text: line}
}

// A beginning keeps whole writes up to about most bytes, then refuses more.
type beginning struct {
	text []byte
	most int
	full bool
}

var errFull = errors.New("full")

func (b *beginning) Write(p []byte) (int, error) {
	if len(b.text) >= b.most {
		b.full = true
		return 0, errFull
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

func wrapRows(rows []row, columns int) []row {
	var wrapped []row
	for _, r := range rows {
		if r.text == "" {
			wrapped = append(wrapped, r)
		}
		for line := range strings.Lines(wrap(r.text, columns)) {
			wrapped = append(wrapped, row{r.style, strings.TrimSuffix(line, "\n")})
		}
	}
	return wrapped
}

// wrap breaks lines to at most columns, at a blank if there is one.
func wrap(text string, columns int) string {
	columns = max(columns, 2) // a wide character has two
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		line = strings.TrimSuffix(line, "\n")
		for cmdline.Width(line) > columns {
			at, blank, width := 0, 0, 0
			for i, r := range line {
				width += cmdline.Width(string(r))
				if width > columns {
					break
				}
				at = i + utf8.RuneLen(r)
				if r == ' ' {
					blank = at
				}
			}
			if blank > 0 {
				at = blank
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = line[at:]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
