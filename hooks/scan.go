package hooks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const maxDepth = 10000 // of nested values, as in encoding/json

// A scanner reads one JSON object and keeps only the requested values.
// encoding/json would hold the whole payload and read it twice: a megabyte of
// tool input takes it 5 times as long.
type scanner struct {
	limit *io.LimitedReader
	buf   *bufio.Reader
}

func newScanner(r io.Reader) *scanner {
	limit := &io.LimitedReader{R: r, N: MaxPayload}
	return &scanner{limit, bufio.NewReaderSize(limit, 32<<10)}
}

// object reads an object. fields has pointers for some members: *string, *bool,
// or *int for the number of objects in an array.
func (s *scanner) object(fields map[string]any) error {
	if _, err := s.sign("", "{", "starts with %q, want an object"); err != nil {
		return err
	}
	c, err := s.next("")
	if err != nil {
		return err
	}
	var name string
	for c != '}' {
		if name, err = s.name(name); err != nil {
			return err
		}
		field := fields[name]
		count, isCount := field.(*int)
		raw, objects, err := s.value(name, field != nil && !isCount)
		switch {
		case err != nil:
			return err
		case isCount:
			*count = objects
		case field != nil:
			if err := decode(name, raw, field); err != nil {
				return err
			}
		}
		if c, err = s.sign(name, ",}", "followed by %q, want a comma or the end"); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) name(last string) (string, error) {
	c, err := s.next(last)
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", malformed(last, "followed by %q, want a field", c)
	}
	raw, _, err := s.value(last, true)
	if err != nil {
		return "", err
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return "", malformed(last, "followed by a bad name: %v", err)
	}
	_, err = s.sign(name, ":", "followed by %q, want a colon")
	return name, err
}

// value reads a value and returns it, if keep is set, and an array's objects.
func (s *scanner) value(name string, keep bool) (raw []byte, objects int, err error) {
	c, err := s.next(name)
	if err != nil {
		return nil, 0, err
	}
	if strings.IndexByte(",:}]", c) >= 0 {
		return nil, 0, malformed(name, "%q in place of a value", c)
	}
	v := extent{scalar: c != '{' && c != '[' && c != '"', array: c == '['}
	for {
		window, err := s.window(name)
		if err != nil {
			return nil, 0, err
		}
		n, done := v.advance(window)
		if keep {
			raw = append(raw, window[:n]...)
		}
		s.buf.Discard(n)
		if done {
			return raw, v.objects, nil
		}
		if v.depth > maxDepth {
			return nil, 0, malformed(name, "nested deeper than %d", maxDepth)
		}
	}
}

// An extent finds the end of a value by tracking strings and open brackets.
type extent struct {
	scalar          bool // not a string, array or object
	array           bool
	quoted, escaped bool // inside a string, after a backslash
	depth           int
	objects         int // elements of the array
}

// advance returns how many bytes of data the value has, and if it ends there.
func (v *extent) advance(data []byte) (n int, done bool) {
	for i, c := range data {
		switch {
		case v.escaped:
			v.escaped = false
		case v.quoted:
			switch c {
			case '\\':
				v.escaped = true
			case '"':
				if v.quoted = false; v.depth == 0 {
					return i + 1, true
				}
			}
		case v.scalar:
			if strings.IndexByte(",}] \t\r\n", c) >= 0 {
				return i, true
			}
		default:
			switch c {
			case '"':
				v.quoted = true
			case '{', '[':
				if c == '{' && v.array && v.depth == 1 {
					v.objects++
				}
				v.depth++
			case '}', ']':
				if v.depth--; v.depth == 0 {
					return i + 1, true
				}
			}
		}
	}
	return len(data), false
}

// sign reads the next byte after white space. It must be in wanted, else the
// error's format is fault.
func (s *scanner) sign(name, wanted, fault string) (byte, error) {
	c, err := s.next(name)
	if err == nil && strings.IndexByte(wanted, c) < 0 {
		err = malformed(name, fault, c)
	}
	s.buf.Discard(1)
	return c, err
}

func (s *scanner) next(name string) (byte, error) {
	for {
		window, err := s.window(name)
		if err != nil {
			return 0, err
		}
		if rest := bytes.TrimLeft(window, " \t\r\n"); len(rest) > 0 {
			s.buf.Discard(len(window) - len(rest))
			return rest[0], nil
		}
		s.buf.Discard(len(window))
	}
}

// window returns one byte or more read ahead. Errors name the field name.
func (s *scanner) window(name string) ([]byte, error) {
	if _, err := s.buf.Peek(1); err != nil {
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read hook payload: %w", err)
		}
		if s.limit.N <= 0 {
			return nil, malformed(name, "larger than %d MiB", MaxPayload>>20)
		}
		return nil, malformed(name, "ends in the middle")
	}
	return s.buf.Peek(s.buf.Buffered())
}
