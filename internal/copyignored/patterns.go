package copyignored

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Limits on a [File]: each ignored path is compared with each pattern.
const (
	mostBytes    = 64 << 10
	mostPatterns = 1000
)

// readPatterns returns the patterns of the checkout's [File], if any. It may be
// a link, but not to outside of the checkout.
func readPatterns(top *os.Root) ([]string, error) {
	f, err := top.OpenFile(File, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := top.Lstat(File); errors.Is(e, fs.ErrNotExist) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", File, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", File, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: it is not a file", File)
	case info.Size() > mostBytes:
		return nil, fmt.Errorf("read %s: it has more than %d bytes", File, mostBytes)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", File, err)
	}
	patterns := parsePatterns(string(text))
	if len(patterns) > mostPatterns {
		return nil, fmt.Errorf("read %s: it has more than %d patterns", File, mostPatterns)
	}
	return patterns, nil
}

// parsePatterns splits a [File] into its patterns as git does.
func parsePatterns(text string) []string {
	var patterns []string
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = trimSpaces(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		if line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	return patterns
}

// trimSpaces drops trailing spaces without a backslash.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// mayName reports whether a pattern could match a file, a directory above it or
// something in a directory ignored as a whole. It may err: git decides.
func mayName(patterns []string, name string) bool {
	parts := strings.Split(strings.TrimSuffix(name, "/"), "/")
	for _, p := range patterns {
		if !strings.HasPrefix(p, "!") && leadsTo(p, parts) {
			return true
		}
	}
	return false
}

func leadsTo(pattern string, parts []string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	anywhere := !strings.Contains(pattern, "/")
	steps := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	if steps[0] == "**" {
		for len(steps) > 1 && steps[0] == "**" {
			steps = steps[1:]
		}
		anywhere = true
	}
	if anywhere { // its first step can be at any depth
		for _, part := range parts {
			if alike(steps[0], part) {
				return true
			}
		}
		return false
	}
	for i := range min(len(steps), len(parts)) {
		if strings.Contains(steps[i], "**") {
			return true
		}
		if !alike(steps[i], parts[i]) {
			return false
		}
		if strings.Contains(steps[i], "[") { // a slash in a class ends no step
			return true
		}
	}
	return true
}

// alike reports whether a pattern could match a name, in any case. It takes ?
// (a byte to git, a character here) and classes for an asterisk.
func alike(pattern, name string) bool {
	if i := strings.IndexByte(pattern, '['); i >= 0 {
		pattern = strings.TrimRight(pattern[:i], `\`) + "*"
	}
	pattern = strings.ReplaceAll(pattern, "?", "*")
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok || err != nil
}
