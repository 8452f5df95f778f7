package main

import (
	"strconv"
	"strings"

	"gitagent/internal/gitdiff"
)

type hunk struct {
	header []string // of the file
	lines  []string // the first is the hunk's @@ line
	at     int      // index of the line in lines
}

// hunkStart returns the first new line's number from a hunk's first line.
func hunkStart(line string) (number int, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, false
	}
	_, rest, _ = strings.Cut(rest, " +")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	number, err := strconv.Atoi(rest[:digits])
	return number, err == nil
}

// renamedTo returns the patch of the file that was renamed to path, or "".
func renamedTo(patch, path string) string {
	const begin = "diff --git "
	for i, part := range strings.Split("\n"+patch, "\n"+begin) {
		head, _, _ := strings.Cut(part, "\n@@ ")
		if i > 0 && strings.Contains(head+"\n", "\nrename to "+gitdiff.QuotePath(path, false)+"\n") {
			return begin + strings.TrimSuffix(part, "\n") + "\n"
		}
	}
	return ""
}

// hunkOf returns the hunk of a file's patch that adds a line, or nil.
func hunkOf(patch string, number int) *hunk {
	var found hunk
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	next := -1 // number of the hunk's next new line; -1 before the first hunk
	for i, line := range lines {
		if start, ok := hunkStart(line); ok {
			if next < 0 {
				found.header = lines[:i]
			}
			if found.at > 0 {
				break
			}
			found.lines, next = []string{line}, start
			continue
		}
		if next < 0 {
			continue
		}
		found.lines = append(found.lines, line)
		if line != "" && line[0] != '+' && line[0] != ' ' { // a blank one may lack its sign
			continue
		}
		if next == number {
			if line == "" || line[0] == ' ' { // it was there before
				return nil
			}
			found.at = len(found.lines) - 1
		}
		next++
	}
	if found.at == 0 {
		return nil
	}
	return &found
}

// around returns the header and at most most lines of the hunk around its line.
func (h *hunk) around(most int) []string {
	first, last := 1, len(h.lines)
	if last-first > most {
		first = max(1, min(h.at-most/2, last-most))
		last = first + most
	}
	list := append(h.header[:len(h.header):len(h.header)], h.lines[0])
	if first > 1 {
		list = append(list, "...")
	}
	list = append(list, h.lines[first:last]...)
	if last < len(h.lines) {
		list = append(list, "...")
	}
	return list
}
