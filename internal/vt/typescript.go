package vt

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
)

// typescript is how script begins its files.
var typescript = []byte("Script started on ")

// header takes the line that script has written before a terminal's output, and
// returns it as a terminal needs it; nil if there is none.
func header(r *bufio.Reader) []byte {
	if begin, _ := r.Peek(len(typescript)); !bytes.Equal(begin, typescript) {
		return nil
	}
	begin, _ := r.Peek(r.Size())
	line, _, found := bytes.Cut(begin, []byte("\n"))
	if !found {
		return nil
	}
	text := append(bytes.Clone(line), "\r\n"...)
	size := regexp.MustCompile(` COLUMNS="(\d+)" LINES="(\d+)"\]$`) // if it ran on a terminal
	if told := size.FindSubmatch(line); told != nil {
		text = fmt.Appendf(text, "\x1b[8;%s;%st\x1b[H", told[2], told[1])
	}
	_, _ = r.Discard(len(line) + 1)
	return text
}
