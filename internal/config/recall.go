package config

import (
	"fmt"
	"slices"
	"strings"
)

// SetRecall returns the text of a user's file with recall.edits switched on, and
// all else as it was. A file that it can't change so is an error.
func SetRecall(text []byte) ([]byte, error) {
	entries, err := parse(string(text))
	if err != nil {
		return nil, err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	for _, e := range entries {
		switch {
		case e.key != recallKey:
		case e.value == true:
			return text, nil
		case e.line > 0:
			lines = slices.Delete(lines, e.line-1, e.line)
		}
	}
	after := []byte(strings.Join(under("recall", lines, "edits = true\n"), ""))
	now, err := parse(string(after))
	if err != nil || !on(now) {
		return nil, fmt.Errorf("set %s: edit the file by hand", recallKey)
	}
	return after, nil
}

// on reports whether entries switch it on.
func on(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.key == recallKey && e.value == true })
}
