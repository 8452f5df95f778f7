package hooks

import (
	"bufio"
	"bytes"
	"cmp"
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

// object reads an object. fields has what some members go to: *string, *bool,
// or a function that reads the value itself. Errors name the member, or within
// one of the payload's that.
func (s *scanner) object(within string, fields map[string]any) error {
	if _, err := s.sign(within, "{", "starts with %q, want an object"); err != nil {
		return err
	}
	c, err := s.next(within)
	if err != nil {
		return err
	}
	if c == '}' {
		s.buf.Discard(1)
	}
	label := within
	for c != '}' {
		name, err := s.name(label)
		if err != nil {
			return err
		}
		label = cmp.Or(within, name)
		if err := s.member(label, fields[name]); err != nil {
			return err
		}
		if c, err = s.sign(label, ",}", "followed by %q, want a comma or the end"); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) member(label string, field any) error {
	if read, ok := field.(func() error); ok {
		return read()
	}
	most := 0
	if field != nil {
		most = MaxPayload
	}
	raw, err := s.value(label, most)
	if err != nil || field == nil {
		return err
	}
	return decode(label, raw, field)
}

// each reads an array with a function that reads one of its objects. All else,
// also in an array, is skipped.
func (s *scanner) each(label string, read func() error) error {
	c, err := s.next(label)
	if err != nil || c != '[' {
		return cmp.Or(err, s.skip(label))
	}
	s.buf.Discard(1)
	if c, err = s.next(label); err != nil {
		return err
	}
	if c == ']' {
		s.buf.Discard(1)
		return nil
	}
	for c != ']' {
		if c, err = s.next(label); err != nil {
			return err
		}
		if c == '{' {
			err = read()
		} else {
			err = s.skip(label)
		}
		if err != nil {
			return err
		}
		if c, err = s.sign(label, ",]", "followed by %q, want a comma or the end"); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) skip(label string) error {
	_, err := s.value(label, 0)
	return err
}

// text reads a string of which at most most bytes are kept, and reports whether
// there was more. Another value is "".
func (s *scanner) text(label string, most int) (text string, cut bool, err error) {
	raw, err := s.value(label, most+2)
	if err != nil || raw[0] != '"' {
		return "", false, err
	}
	if json.Unmarshal(raw, &text) != nil {
		return beginning(raw), true, nil
	}
	return text, false, nil
}

// beginning returns the text of a JSON string that lacks its end.
func beginning(raw []byte) (text string) {
	for range len(`\uXXXX`) { // an escape may be cut
		if json.Unmarshal(append(bytes.Clone(raw), '"'), &text) == nil {
			break
		}
		raw = raw[:len(raw)-1]
	}
	return text
}

func (s *scanner) name(last string) (string, error) {
	c, err := s.next(last)
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", malformed(last, "followed by %q, want a field", c)
	}
	raw, err := s.value(last, MaxPayload)
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

// value reads a value and returns its first bytes, at most most.
func (s *scanner) value(name string, most int) (raw []byte, err error) {
	c, err := s.next(name)
	if err != nil {
		return nil, err
	}
	if strings.IndexByte(",:}]", c) >= 0 {
		return nil, malformed(name, "%q in place of a value", c)
	}
	v := extent{scalar: c != '{' && c != '[' && c != '"'}
	for {
		window, err := s.window(name)
		if err != nil {
			return nil, err
		}
		n, done := v.advance(window)
		raw = append(raw, window[:min(n, most-len(raw))]...)
		s.buf.Discard(n)
		if done {
			return raw, nil
		}
		if v.depth > maxDepth {
			return nil, malformed(name, "nested deeper than %d", maxDepth)
		}
	}
}

// An extent finds the end of a value by tracking strings and open brackets.
type extent struct {
	scalar          bool // not a string, array or object
	quoted, escaped bool // inside a string, after a backslash
	depth           int
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
