package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/except"
)

// Patterns returns the patterns of [Recording.Except].
func (c *Config) Patterns() ([]*except.Pattern, error) {
	home, _ := os.UserHomeDir()
	var list []*except.Pattern
	for _, text := range c.Recording.Except {
		p, err := except.Parse(text, filepath.Dir(c.origins[exceptKey]), home)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", c.origins[exceptKey], text, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// EverywhereLine returns where the user's file says that turns are recorded
// everywhere, as file:line. It reads the file.
func (c *Config) EverywhereLine() string { return c.line(everywhereKey, "everywhere") }

// ExceptLine returns where the user's file has a pattern. It reads the file.
func (c *Config) ExceptLine(pattern string) string { return c.line(exceptKey, pattern) }

// line returns where a text begins in the value of a key. The parser tells no
// line but that of the key.
func (c *Config) line(key, text string) string {
	path := c.origins[key]
	data, _ := readLimited(path, maxUserFile)
	entries, _ := parse(string(data))
	for _, e := range entries {
		if e.key != key || e.line == 0 {
			continue
		}
		for n, line := range strings.Split(string(data), "\n")[e.line-1:] {
			if strings.Contains(line, text) || strings.Contains(line, strings.Trim(strconv.Quote(text), `"`)) {
				return fmt.Sprintf("%s:%d", path, e.line+n)
			}
		}
		return fmt.Sprintf("%s:%d", path, e.line)
	}
	return path
}

// CheckExcept returns what is wrong with a pattern.
func CheckExcept(pattern string) error {
	var list []string
	return exceptions(exceptKey, &list).set([]any{pattern})
}

// SetRecord returns the text of a user's file with other settings of [record],
// and all else as it was: everywhere and the patterns, or neither of them if
// everywhere is false. A file that it can't change so is an error.
func SetRecord(text []byte, everywhere bool, patterns []string) ([]byte, error) {
	before, err := parse(string(text))
	if err != nil {
		return nil, err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	keep := func(e entry) bool { return e.key != everywhereKey && e.key != exceptKey }
	for _, e := range slices.Backward(before) {
		if keep(e) || e.line == 0 {
			continue
		}
		end := e.line
		for ; end <= len(lines); end++ { // a list may take several lines
			if _, err := parse(strings.Join(lines[e.line-1:end], "")); err == nil {
				break
			}
		}
		lines = slices.Delete(lines, e.line-1, min(end, len(lines)))
	}
	if everywhere {
		var b strings.Builder
		b.WriteString("everywhere = true\n")
		if len(patterns) > 0 {
			b.WriteString("except = [\n")
			for _, p := range patterns {
				fmt.Fprintf(&b, "\t%s,\n", strconv.Quote(p))
			}
			b.WriteString("]\n")
		}
		lines = under("record", lines, b.String())
	} else if i := slices.IndexFunc(lines, isTable("record")); i >= 0 && (i+1 == len(lines) || strings.HasPrefix(lines[i+1], "[")) {
		lines = slices.Delete(lines, i, i+1)
	}
	after := []byte(strings.Join(lines, ""))
	if err := same(before, after, keep, everywhere, patterns); err != nil {
		return nil, err
	}
	return after, nil
}

// under puts a text behind the heading of a table, which it adds if there is none.
func under(table string, lines []string, text string) []string {
	i := slices.IndexFunc(lines, isTable(table))
	if i < 0 {
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += "\n"
		}
		lines = append(lines, "["+table+"]\n")
		i = len(lines) - 1
	} else if !strings.HasSuffix(lines[i], "\n") {
		lines[i] += "\n"
	}
	return slices.Insert(lines, i+1, text)
}

func isTable(name string) func(line string) bool {
	return func(line string) bool {
		line, _, _ = strings.Cut(line, "#")
		return strings.TrimSpace(line) == "["+name+"]"
	}
}

// same returns an error unless a changed text says what it is to say, and what
// it said before.
func same(before []entry, text []byte, keep func(entry) bool, everywhere bool, patterns []string) error {
	after, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("change [record]: edit the file by hand: %w", err)
	}
	values := func(entries []entry) map[string]any {
		m := make(map[string]any)
		for _, e := range entries {
			table, empty := e.value.(map[string]any)
			if keep(e) && !(empty && len(table) == 0 && e.key == "record") {
				m[e.key] = e.value
			}
		}
		return m
	}
	c := Default()
	for _, e := range after {
		if !keep(e) {
			if err := c.set(e); err != nil {
				return err
			}
		}
	}
	if !reflect.DeepEqual(values(before), values(after)) || c.Recording.Everywhere != everywhere || everywhere && !slices.Equal(c.Recording.Except, patterns) {
		return errors.New("change [record]: its keys are written in a way that takes a person; edit the file by hand")
	}
	return nil
}
