package main

import (
	"regexp"
	"strconv"
	"strings"
)

// A hunk is a part of a patch that holds a line.
type hunk struct {
	header []string // of the file
	lines  []string // the first says where they are
	at     int      // of lines, which is the one
}

// hunkStart is the first line of a hunk, of which the new lines are wanted.
var hunkStart = regexp.MustCompile(`^@@ -[0-9,]+ \+([0-9]+)(?:,([0-9]+))? @@`)

// hunkOf finds the hunk in the patch of one file that adds the line with a number; nil if none does.
func hunkOf(patch string, number int) *hunk {
	var found hunk
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	next := 0 // the number of the next new line of the hunk, 0 before the first one
	for i, line := range lines {
		if start := hunkStart.FindStringSubmatch(line); start != nil {
			if next == 0 {
				found.header = lines[:i]
			}
			if found.at > 0 {
				break
			}
			found.lines = nil
			next, _ = strconv.Atoi(start[1]) // which git has printed
			found.lines = append(found.lines, line)
			continue
		}
		if next == 0 {
			continue
		}
		found.lines = append(found.lines, line)
		if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, " ") {
			continue
		}
		if next == number {
			if line[0] == ' ' { // it was there before
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

// around returns at most so many lines of the hunk, those around the one, below the header.
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
