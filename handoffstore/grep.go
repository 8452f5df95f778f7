package handoffstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// A Match is one line found by a search.
type Match struct {
	File string // "document", "terminal", "patch", "record", or the path of a file
	Line int    // from 1
	Text string // at most [maxMatch] bytes of the line
}

const (
	maxMatch   = 400      // bytes of a line that are shown
	maxScanned = 16 << 20 // bytes of a line that are searched
)

// Scan calls found for every matching line in order, until it returns an error.
// It searches only the first 16 MiB of a line.
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

// readLine reads a line without its end, or the beginning of a very long one.
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

// excerpt returns the line, or the part of a long one around the match.
func excerpt(line []byte, at []int) string {
	if len(line) <= maxMatch {
		return string(line)
	}
	from := max(0, min(at[0]-maxMatch/4, len(line)-maxMatch))
	return string(bytes.ToValidUTF8(line[from:from+maxMatch], nil))
}
