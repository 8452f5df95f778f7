package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SetWindows writes models' windows, in tokens by a pattern of the name, into
// the user's file at path, or a new one. All else stays byte for byte. If the
// table isn't plain, one line each under [context.windows], the error says what
// to write.
func SetWindows(path string, windows map[string]int) error {
	if path == "" {
		return errors.New("write configuration: the environment names no home directory")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil { // a link to the user's real file
		path = real
	}
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	before, err := readLimited(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Error{Path: path, Err: cause(err)}
	}
	after, err := setWindows(string(before), windows)
	if err != nil {
		return &Error{Path: path, Key: windowsTable, Err: err}
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path+".new", []byte(after), mode)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("write configuration %s: %w", path, err)
	}
	return nil
}

const windowsHeader = `(?m)^[ \t]*\[[ \t]*context[ \t]*\.[ \t]*windows[ \t]*\][ \t]*(#.*)?\r?$`

// setWindows edits lines without parsing all, then compares both texts: only
// the given windows may differ.
func setWindows(text string, windows map[string]int) (string, error) {
	before, err := parse(text)
	if err != nil {
		return "", err
	}
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	after, fresh, all := text, "", ""
	for _, pattern := range slices.Sorted(maps.Keys(windows)) {
		number := strconv.Itoa(windows[pattern])
		line := quoteKey(pattern) + " = " + number
		all += ", " + line
		if at := lineOf(before, pattern); at > 0 {
			after = replaceNumber(after, at, number)
		} else {
			fresh += line + end
		}
	}
	header := regexp.MustCompile(windowsHeader).FindStringIndex(after)
	switch {
	case fresh == "":
	case header != nil: // the newline after it comes after the last new line
		after = after[:header[1]] + "\n" + strings.TrimSuffix(fresh, "\n") + after[header[1]:]
	default:
		if after != "" && !strings.HasSuffix(after, "\n") {
			after += end
		}
		after += "[" + windowsTable + "]" + end + fresh
	}
	// The parser accepts a second header for a table with keys; TOML does not.
	twice := fresh != "" && header == nil && slices.ContainsFunc(before, isWindow)
	if twice || !sets(before, after, windows) {
		return "", fmt.Errorf("not in the plain form, so write by hand: [%s]%s", windowsTable, strings.TrimPrefix(all, ","))
	}
	return after, nil
}

// lineOf returns the line that sets a pattern's window, or 0.
func lineOf(entries []entry, pattern string) int {
	for _, e := range entries {
		if isWindow(e) && e.path[2] == pattern {
			return e.line
		}
	}
	return 0
}

const assignedNumber = `(=[ \t]*)[+0-9_a-fA-Fxob]+([ \t]*(?:#.*)?\r?\n?)$`

func replaceNumber(text string, line int, number string) string {
	lines := strings.SplitAfter(text, "\n")
	lines[line-1] = regexp.MustCompile(assignedNumber).ReplaceAllString(lines[line-1], "${1}"+number+"${2}")
	return strings.Join(lines, "")
}

// sets reports whether after differs from before in the windows only.
func sets(before []entry, after string, windows map[string]int) bool {
	entries, err := parse(after)
	if err != nil {
		return false
	}
	values := func(entries []entry) map[string]any {
		m := map[string]any{}
		for _, e := range entries {
			if e.key != windowsTable { // as long as the table is empty
				m[e.key] = e.value
			}
		}
		return m
	}
	want := values(before)
	for pattern, tokens := range windows {
		want[windowsTable+"."+quoteKey(pattern)] = int64(tokens)
	}
	return reflect.DeepEqual(values(entries), want)
}
