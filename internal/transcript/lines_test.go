package transcript

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gitagent/test/gittest"
)

// TestLineReader: lines are the same however they come, and each reader begins anew.
func TestLineReader(t *testing.T) {
	t.Parallel()
	var in LineReader
	long := strings.Repeat("x", 300<<10)
	for _, text := range []string{"", "\n", "a", "a\n", "a\n\nb\n", "a\nb", long, long + "\n" + long + "\nb\n", "b\n" + long + "\n"} {
		want := slices.Collect(strings.Lines(text))
		for i, line := range want {
			want[i] = strings.TrimSuffix(line, "\n")
		}
		for name, reader := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "by halves": iotest.HalfReader, "with the end": iotest.DataErrReader,
		} {
			var got []string
			gittest.Must(t, in.Each(reader(strings.NewReader(text)), func(line []byte) error {
				got = append(got, string(line))
				return nil
			}))
			if !slices.Equal(got, want) {
				t.Errorf("%.20q, %s: %.100q", text, name, got)
			}
		}
	}
}

// TestLineReaderFails: an error is passed on, and no part of a line before it.
func TestLineReaderFails(t *testing.T) {
	t.Parallel()
	lost, enough := errors.New("lost"), errors.New("enough")
	var got bytes.Buffer
	var in LineReader
	add := func(line []byte) error { got.Write(line); return nil }
	err := in.Each(io.MultiReader(strings.NewReader("one\ntw"), iotest.ErrReader(lost)), add)
	if !errors.Is(err, lost) || got.String() != "one" {
		t.Errorf("%v after %q", err, &got)
	}
	count := 0
	err = in.Each(strings.NewReader("one\ntwo\n"), func([]byte) error { count++; return enough })
	if !errors.Is(err, enough) || count != 1 {
		t.Errorf("%v after %d lines", err, count)
	}
}
