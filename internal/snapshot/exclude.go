package snapshot

import (
	"path"
	"slices"
	"strings"
)

// A pattern is one of gitignore(5). go-git implements them, too, but imports encoding/gob, which
// costs 0.2 ms at every start.
type pattern struct {
	parts         []string // of the path, from the top; "**" is any number of them
	include, dirs bool     // !pattern, pattern/
}

// parsePatterns reads patterns; the last one that matches a path counts.
func parsePatterns(lines []string) []pattern {
	var patterns []pattern
	for _, line := range lines {
		var p pattern
		if trimmed := strings.TrimRight(line, " "); strings.HasSuffix(trimmed, `\`) {
			line = trimmed + " " // an escaped blank
		} else {
			line = trimmed
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, p.include = strings.CutPrefix(line, "!")
		line, p.dirs = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
		p.parts = strings.Split(line, "/")
		patterns = append(patterns, p)
	}
	return patterns
}

// excluded reports whether a file or a directory above it is excluded.
func excluded(patterns []pattern, file string) bool {
	names := strings.Split(file, "/")
	for n := 1; n <= len(names); n++ {
		for _, p := range slices.Backward(patterns) {
			if (n < len(names) || !p.dirs) && p.match(names[:n]) {
				if !p.include {
					return true
				}
				break
			}
		}
	}
	return false
}

// match compares name by name. Where one does not match, the last "**" takes one name more.
func (p pattern) match(names []string) bool {
	next, anything, taken := 0, -1, 0
	for i := 0; i < len(names); {
		switch {
		case next < len(p.parts) && p.parts[next] == "**":
			anything, taken = next, i
			next++
		case next < len(p.parts) && fits(p.parts[next], names[i]):
			next++
			i++
		case anything >= 0:
			taken++
			next, i = anything+1, taken
		default:
			return false
		}
	}
	return next == len(p.parts)
}

func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
