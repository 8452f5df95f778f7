package handoffstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// A Match is one line that a search has found.
type Match struct {
	File string // "document", "terminal", "patch", "record", "transcript", or the path of a file
	Line int    // from 1
	Text string // at most [maxMatch] bytes of the line
}

// maxMatch is how much of a line is shown, in bytes, and maxScanned how much of it is searched.
const (
	maxMatch   = 400
	maxScanned = 16 << 20
)

// Scan calls found for every line of a text that matches, in order, until that returns an error.
// Lines are of any length; of one with more than 16 MiB only so much is searched.
func Scan(r io.Reader, file string, pattern *regexp.Regexp, found func(Match) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("search %s: %w", file, err)
		}
		if at := pattern.FindIndex(line); at != nil {
			if err := found(Match{file, n, excerpt(line, at)}); err != nil {
				return err
			}
		}
	}
}

// readLine reads one line without its end; of a very long one the beginning.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxScanned-len(line))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			return bytes.TrimRight(line, "\r\n"), nil
		}
		return line, err
	}
}

// excerpt is the line, or so much of a long one that the match is in it.
func excerpt(line []byte, at []int) string {
	if len(line) <= maxMatch {
		return string(line)
	}
	from := max(0, min(at[0]-maxMatch/4, len(line)-maxMatch))
	return string(bytes.ToValidUTF8(line[from:from+maxMatch], nil))
}
