package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Limits for a configuration file: an untrusted one costs a hook less than half
// a second. The parser recurses into brackets and copies each prefix of a
// dotted key; 16 KiB of dots take seven seconds.
const (
	maxFile     = 16 << 10  // bytes
	maxUserFile = 256 << 10 // of the user's own, which may list many names
	maxDots     = 200       // in a line
	maxCopied   = 1_000_000 // the sum of their squares: so many parts of keys are copied
	maxBraces   = 50        // inline tables
	maxReread   = 5_000_000 // lines: to say where a setting or a table stands, the parser splits the file again
	maxErrors   = 10        // reported
)

// An Error is one mistake in a configuration file.
type Error struct {
	Path string // of the file
	Line int    // from 1; 0 for the file as a whole
	Key  string // "capture.max_file_size"; "" if no key is at fault
	Err  error

	whole bool // nothing of the file is known
}

func (e *Error) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
	}
	if e.Key != "" {
		at += ": " + e.Key
	}
	return fmt.Sprintf("read configuration %s: %v", at, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

type entry struct {
	key   string // with its tables, as TOML writes it: context.windows."claude-opus-4-5*"
	path  toml.Key
	value any // as the TOML package decodes it
	line  int // from 1
}

// apply passes each entry of a file to set and returns the mistakes: the first
// few, and the number of others. stat may follow symbolic links or not.
func apply(path string, most int, stat func(string) (fs.FileInfo, error), set func(entry) error) []error {
	entries, err := readFile(path, most, stat)
	if err != nil {
		return []error{err}
	}
	var errs []error
	more := 0
	for _, e := range entries {
		err := set(e)
		switch {
		case err == nil:
		case len(errs) < maxErrors:
			errs = append(errs, &Error{Path: path, Line: e.line, Key: e.key, Err: err})
		default:
			more++
		}
	}
	if more > 0 {
		errs = append(errs, &Error{Path: path, Err: fmt.Errorf("%d more mistakes", more), whole: true})
	}
	return errs
}

// readFile returns a file's entries in order, none if there is no file.
func readFile(path string, most int, stat func(string) (fs.FileInfo, error)) ([]entry, error) {
	if path == "" {
		return nil, nil
	}
	info, err := stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, link := os.Lstat(path); link == nil {
			return nil, &Error{Path: path, Err: errors.New("it is a link to nothing"), whole: true}
		}
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() { // a pipe would block, a device never end
		err = errors.New("not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = readLimited(path, most)
	}
	if err == nil {
		err = checkDepth(string(data))
	}
	var entries []entry
	if err == nil {
		entries, err = parse(string(data))
	}
	if perr := (toml.ParseError{}); errors.As(err, &perr) {
		return nil, &Error{Path: path, Line: perr.Position.Line, Key: perr.LastKey, Err: errors.New(perr.Message), whole: true}
	}
	if err != nil {
		return nil, &Error{Path: path, Err: cause(err), whole: true}
	}
	return entries, nil
}

func readLimited(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("larger than %s", formatSize(int64(most)))
	}
	return data, err
}

// checkDepth refuses deeper nesting than any configuration has.
func checkDepth(text string) error {
	if strings.Count(text, "{") > maxBraces {
		return errors.New("too many inline tables")
	}
	n, copied := 0, 0
	for line := range strings.Lines(text) {
		n++
		dots := strings.Count(line, ".")
		if copied += dots * dots; dots > maxDots || copied > maxCopied {
			return fmt.Errorf("too many dots in line %d", n)
		}
	}
	return nil
}

// cause drops the path from an error of package os; [Error] has it already.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// parse returns a document's entries, sorted by line.
func parse(text string) (entries []entry, err error) {
	defer func() {
		// The parser panics on its own errors, which must not end a hook.
		if p := recover(); p != nil {
			entries, err = nil, fmt.Errorf("the TOML parser gave up: %v", p)
		}
	}()
	top := map[string]toml.Primitive{}
	meta, err := toml.Decode(text, &top)
	if err != nil {
		return nil, err
	}
	names := maxReread / (strings.Count(text, "\n") + 1)
	left := names
	if entries = flatten(&meta, nil, top, &left); left < 0 {
		return nil, fmt.Errorf("more than %d settings and tables, too many for its lines", names)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.key, b.key))
	})
	return entries, nil
}

// flatten returns the entries of a table, as far as there are not more names
// than are left; else it makes that negative.
func flatten(meta *toml.MetaData, prefix toml.Key, table map[string]toml.Primitive, left *int) []entry {
	var entries []entry
	for name, value := range table {
		if *left--; *left < 0 {
			return nil
		}
		key := append(slices.Clone(prefix), name)
		var leaf probe
		line := 0
		if perr := (toml.ParseError{}); errors.As(meta.PrimitiveDecode(value, &leaf), &perr) {
			line = perr.Position.Line
		}
		if _, ok := leaf.value.(map[string]any); ok {
			inner := map[string]toml.Primitive{}
			if meta.PrimitiveDecode(value, &inner) == nil && len(inner) > 0 {
				entries = append(entries, flatten(meta, key, inner, left)...)
				continue
			}
		}
		entries = append(entries, entry{key: key.String(), path: key, value: leaf.value, line: line})
	}
	return entries
}

// A probe accepts any value with an error: the TOML package reports a value's
// line only there.
type probe struct{ value any }

var errProbe = errors.New("probe")

// UnmarshalTOML implements [toml.Unmarshaler]. It always fails.
func (p *probe) UnmarshalTOML(value any) error {
	p.value = value
	return errProbe
}
