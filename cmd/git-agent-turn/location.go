package main

import (
	"strconv"
	"strings"

	"gitagent/internal/cmdline"
)

// A spot is a place in a file: lines by number, or those that have a text.
type spot struct {
	file        string // as it was typed
	first, last int
	text        string // empty for lines by number
}

// readSpot reads "file:12", "file:12-20", "file:/text/", or two words. Names
// may have colons, so isFile decides between readings. It ignores what follows
// a line number and a colon, as in messages of compilers and grep.
func readSpot(args []string, isFile func(string) bool) (spot, error) {
	switch len(args) {
	case 0:
		return spot{}, cmdline.Hint(cmdline.Usagef("why needs a file and a line of it"), "as in: git agent-turn why main.go:12")
	case 1:
		return joined(args[0], isFile)
	case 2:
		if !isFile(args[0]) && isFile(args[1]) {
			return spot{}, cmdline.Hintf(cmdline.Usagef("%q is no file", args[0]), "the file comes first: git agent-turn why %s", cmdline.Shell([]string{args[1], args[0]}))
		}
		return apart(args[0], args[1])
	}
	return spot{}, cmdline.Hint(cmdline.Usagef("why takes a file and a line, a range or a text of it, not %d arguments", len(args)), "quote a text that has blanks")
}

// apart reads a file and a place in it given as two words.
func apart(file, where string) (spot, error) {
	if file == "" || where == "" {
		return spot{}, cmdline.Usagef("an empty text points at nothing")
	}
	first, last, ok, err := readLines(where)
	if !ok {
		return spot{file: file, text: where}, nil
	}
	return spot{file: file, first: first, last: last}, err
}

// joined reads a file and a place in one word. If several readings are
// possible, the longest name of an existing file counts.
func joined(word string, isFile func(string) bool) (spot, error) {
	if isFile(word) {
		return spot{}, cmdline.Hintf(cmdline.Usagef("why needs a line of %q, a range or a text", word), "as in: git agent-turn why %s 1", cmdline.Shell([]string{word}))
	}
	var guess *spot
	var wrong error
	for end := strings.LastIndexByte(word, ':'); end > 0; end = strings.LastIndexByte(word[:end], ':') {
		file, rest := word[:end], word[end+1:]
		var s spot
		var err error
		if text, closed := strings.CutSuffix(rest, "/"); closed && len(text) > 1 && text[0] == '/' {
			s = spot{file: file, text: text[1:]}
		} else {
			lines, _, _ := strings.Cut(rest, ":")
			first, last, ok, e := readLines(lines)
			if !ok {
				continue
			}
			s, err = spot{file: file, first: first, last: last}, e
		}
		if isFile(file) {
			return s, err
		}
		guess, wrong = &s, err
	}
	if guess != nil {
		return *guess, wrong
	}
	return spot{}, cmdline.Hint(cmdline.Usagef("%q names no line of a file", word), "as in: git agent-turn why main.go:12")
}

// readLines reads "12", "12-20", "12,20" or "12,+3"; ok is false otherwise.
func readLines(text string) (first, last int, ok bool, err error) {
	from, to, isRange := text, "", false
	if i := strings.IndexAny(text, "-,"); i >= 0 {
		from, to, isRange = text[:i], text[i+1:], true
	}
	if first, ok = lineNumber(from); !ok {
		return 0, 0, false, nil
	}
	last = first
	if isRange {
		count, counted := strings.CutPrefix(to, "+")
		if last, ok = lineNumber(count); !ok || counted && text[len(from)] == '-' {
			return 0, 0, false, nil
		}
		if counted {
			last += first - 1
		}
	}
	switch {
	case first == 0:
		err = cmdline.Usagef("lines are counted from 1")
	case last < first:
		err = cmdline.Usagef("%q ends before it begins", text)
	}
	return first, last, true, err
}

func lineNumber(text string) (int, bool) {
	if len(text) > 9 || text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
