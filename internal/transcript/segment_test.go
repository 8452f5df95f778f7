package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// add appends to the file at path. It may be called from any goroutine.
func add(t testing.TB, path, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Error(err)
	}
}

func readSegment(t testing.TB, path string, c Cursor) NewLines {
	t.Helper()
	s, err := ReadSegment(path, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// silence reads nothing in any line.
func silence() Reader { return silent{} }

type silent struct{}

func (silent) Read(int, []byte) Entry { return Entry{} }

func TestReadSegment(t *testing.T) {
	long := strings.Repeat("0123456789abcdef\n", 1000) // 17,000 bytes: more than the check covers
	for _, tt := range []struct {
		name          string
		before, after string // the file when the cursor was taken, and now
		want          string
		restarted     bool
	}{
		{name: "empty file"},
		{name: "from the beginning", after: "one\ntwo\n", want: "one\ntwo\n"},
		{name: "torn line", after: "one\ntw", want: "one\n"},
		{name: "only a torn line", after: "one"},
		{name: "nothing new", before: "one\n", after: "one\n"},
		{name: "torn line, nothing new", before: "one\ntw", after: "one\ntw"},
		{name: "torn line completed", before: "one\ntw", after: "one\ntwo\n", want: "two\n"},
		{name: "appended", before: "one\n", after: "one\ntwo\nthree\nfo", want: "two\nthree\n"},
		{name: "appended to a long file", before: long, after: long + "two\n", want: "two\n"},
		{name: "much appended", before: "one\n", after: "one\n" + long, want: long},
		{name: "bytes that are no text", before: "\x00\n", after: "\x00\n\xff\x00\r\n\n", want: "\xff\x00\r\n\n"},
		{name: "rewritten", before: "one\n", after: "ONE\ntwo\n", want: "ONE\ntwo\n", restarted: true},
		{name: "rewritten, long", before: long, after: long[:17000-4096] + "x" + long[17000-4095:] + "two\n", want: long[:17000-4096] + "x" + long[17000-4095:] + "two\n", restarted: true},
		{name: "shorter", before: long, after: long[:8500], want: long[:8500], restarted: true},
		{name: "empty now", before: "one\n", after: "", restarted: true},
		{name: "lines before retracted, others appended", before: "one\ntwo\nthree\n", after: "one\nthree\nfour\nfive\n", want: "one\nthree\nfour\nfive\n", restarted: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, tt.before)
			c := readSegment(t, path, Cursor{}).Cursor
			write(t, path, tt.after)

			s := readSegment(t, path, c)
			if string(s.Bytes) != tt.want || s.Restarted != tt.restarted || s.Complete {
				t.Errorf("got %q, restarted %v, complete %v; want %q, %v, false", s.Bytes, s.Restarted, s.Complete, tt.want, tt.restarted)
			}
			again := readSegment(t, path, s.Cursor)
			if len(again.Bytes) > 0 || again.Restarted || again.Cursor != s.Cursor {
				t.Errorf("read again from %+v: got %q, restarted %v, cursor %+v", s.Cursor, again.Bytes, again.Restarted, again.Cursor)
			}
			end, err := End(path)
			if err != nil || end != s.Cursor {
				t.Errorf("End = %+v, %v, want %+v", end, err, s.Cursor)
			}
		})
	}
}

func TestReadSegmentCursorThatFitsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "one\ntwo\n")
	good := readSegment(t, path, Cursor{}).Cursor
	for _, c := range []Cursor{
		{Offset: -1, Check: good.Check},
		{Offset: -1 << 63},
		{Offset: 1<<63 - 1, Check: good.Check},
		{Offset: good.Offset},
		{Offset: good.Offset - 4, Check: good.Check},
		{Check: good.Check},
	} {
		if s := readSegment(t, path, c); string(s.Bytes) != "one\ntwo\n" || !s.Restarted || s.Cursor != good {
			t.Errorf("from %+v: got %q, restarted %v, cursor %+v", c, s.Bytes, s.Restarted, s.Cursor)
		}
	}
}

func TestReadSegmentErrors(t *testing.T) {
	dir := t.TempDir()
	for _, read := range []func(string) error{
		func(path string) error { _, err := ReadSegment(path, Cursor{}); return err },
		func(path string) error { _, err := End(path); return err },
	} {
		if err := read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing file: %v, want fs.ErrNotExist", err)
		}
		for _, path := range []string{dir, os.DevNull, "a\x00b", ""} {
			if err := read(path); err == nil {
				t.Errorf("reading %q succeeded", path)
			}
		}
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "one\n")
	c := readSegment(t, path, Cursor{}).Cursor
	if err := os.Truncate(path, MaxSegment+5); err != nil { // a hole: takes no disk space
		t.Fatal(err)
	}
	if _, err := ReadSegment(path, c); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte too many: %v, want ErrTooLarge", err)
	}
	if _, err := ReadSegment(path, Cursor{Offset: 4, Check: "of another file"}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("restarted: %v, want ErrTooLarge", err)
	}
	follow := tail{path: path, from: c}
	if err := os.Truncate(path, 4); err != nil {
		t.Fatal(err)
	}
	if _, err := follow.poll(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, MaxSegment+5); err != nil {
		t.Fatal(err)
	}
	if _, err := follow.poll(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("grown: %v, want ErrTooLarge", err)
	}

	// The way to continue: from the end.
	add(t, path, "\nlast\nto")
	end, err := End(path)
	if err != nil {
		t.Fatal(err)
	}
	add(t, path, "rn\n")
	if s := readSegment(t, path, end); string(s.Bytes) != "torn\n" || s.Restarted {
		t.Errorf("after End: got %q, restarted %v", s.Bytes, s.Restarted)
	}
}

// A hole is a file of nothing but zeros, and counts how many of them were read.
type hole struct{ size, read int64 }

func (h *hole) ReadAt(p []byte, at int64) (int, error) {
	n := int(max(0, min(int64(len(p)), h.size-at)))
	h.read += int64(n)
	clear(p[:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestHole reads a file that takes no disk space and has 200 GB: no hook may read more of it than is
// stated.
func TestHole(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := &hole{size: 200 << 30}
	if c, err := end(h, h.size); !errors.Is(err, ErrTooLarge) || h.read != farthest {
		t.Errorf("the end: %+v, %v after %d bytes; want ErrTooLarge after %d", c, err, h.read, farthest)
	}
	h.read = 0
	if g := look(silence, h, h.size, farthest); g.found || h.read > farthest+2*maxLine {
		t.Errorf("the usage: %+v after %d bytes, want at most %d", g.ContextUse, h.read, farthest+2*maxLine)
	}
	h = &hole{size: farthest}
	if c, err := end(h, h.size); err != nil || c != (Cursor{}) {
		t.Errorf("the end of a file without a line: %+v, %v; want its beginning", c, err)
	}

	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "one\n")
	c := readSegment(t, path, Cursor{}).Cursor
	if err := os.Truncate(path, 200<<30); err != nil {
		t.Fatal(err)
	}
	for what, read := range map[string]func() error{
		"ReadSegment": func() error { _, err := ReadSegment(path, c); return err },
		"Wait":        func() error { _, err := Wait(t.Context(), silence, path, c, Want{}); return err },
		"ReadRange":   func() error { _, err := ReadRange(path, 0, 200<<30); return err },
		"End":         func() error { _, err := End(path); return err },
		"Tail":        func() error { _, err := Tail(path, 8<<20); return err },
	} {
		if err := read(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", what, err)
		}
	}
}

// TestSegmentsConcatenate appends a real session in pieces of any size, reads segments in between,
// and checks that they add up to the file.
func TestSegmentsConcatenate(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "compaction-manual.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		path := filepath.Join(t.TempDir(), fmt.Sprint(seed))
		write(t, path, "")
		var got []byte
		var c Cursor
		for rest := string(content); ; {
			n := min(len(rest), 1+rnd.IntN(1<<rnd.IntN(17)))
			add(t, path, rest[:n])
			rest = rest[n:]
			if rnd.IntN(3) == 0 || rest == "" {
				s := readSegment(t, path, c)
				if s.Restarted {
					t.Fatalf("seed %d: restarted at %+v", seed, c)
				}
				got, c = append(got, s.Bytes...), s.Cursor
				if !bytes.HasPrefix(content, got) || c.Offset != int64(len(got)) || len(got) > 0 && got[len(got)-1] != '\n' {
					t.Fatalf("seed %d: what was read up to %+v is no prefix of the file in whole lines", seed, c)
				}
			}
			if rest == "" {
				break
			}
		}
		if !bytes.Equal(got, content) {
			t.Errorf("seed %d: read %d bytes of %d", seed, len(got), len(content))
		}
	}
}

// TestPoll changes the file between two looks in every possible way.
func TestPoll(t *testing.T) {
	long := strings.Repeat("0123456789abcdef\n", 1000)
	for _, tt := range []struct {
		name      string
		before    string
		change    func(t *testing.T, path string)
		found     change
		want      string
		restarted bool
	}{
		{
			name:   "nothing",
			before: "one\ntwo\n",
			change: func(*testing.T, string) {},
			found:  same, want: "two\n",
		},
		{
			name:   "only its time",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) {
				if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
			},
			found: same, want: "two\n",
		},
		{
			name:   "the rest of a line",
			before: "one\ntwo\nthr",
			change: func(t *testing.T, path string) { add(t, path, "ee\n") },
			found:  grown, want: "two\nthree\n",
		},
		{
			name:   "part of a line",
			before: "one\ntwo\nthr",
			change: func(t *testing.T, path string) { add(t, path, "ee") },
			found:  grown, want: "two\n",
		},
		{
			name:   "much",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) { add(t, path, long) },
			found:  grown, want: "two\n" + long,
		},
		{
			name:   "cut, not past the cursor",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) { write(t, path, "one\n") },
			found:  replaced, want: "",
		},
		{
			name:   "cut past the cursor",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) { write(t, path, "on\n") },
			found:  replaced, want: "on\n", restarted: true,
		},
		{
			name:   "cut and grown past what was read",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) { write(t, path, "one\nTWO\nthree\n") },
			found:  replaced, want: "TWO\nthree\n",
		},
		{
			name:   "replaced by a copy with more in it",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) {
				write(t, path+".new", "one\ntwo\nthree\n")
				if err := os.Rename(path+".new", path); err != nil {
					t.Fatal(err)
				}
			},
			found: replaced, want: "two\nthree\n",
		},
		{
			name:   "replaced by another session",
			before: "one\ntwo\n",
			change: func(t *testing.T, path string) {
				write(t, path+".new", "eins\nzwei\n")
				if err := os.Rename(path+".new", path); err != nil {
					t.Fatal(err)
				}
			},
			found: replaced, want: "eins\nzwei\n", restarted: true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, "one\n")
			follow := tail{path: path, from: readSegment(t, path, Cursor{}).Cursor}
			write(t, path, tt.before)
			if found, err := follow.poll(); found != replaced || err != nil {
				t.Fatalf("first poll: %v, %v", found, err)
			}
			tt.change(t, path)
			found, err := follow.poll()
			if err != nil {
				t.Fatal(err)
			}
			s := follow.segment()
			if found != tt.found || string(s.Bytes) != tt.want || s.Restarted != tt.restarted {
				t.Errorf("got %v, %q, restarted %v; want %v, %q, %v", found, s.Bytes, s.Restarted, tt.found, tt.want, tt.restarted)
			}
			if again := readSegment(t, path, s.Cursor); len(again.Bytes) > 0 || again.Restarted {
				t.Errorf("its cursor does not fit: got %q, restarted %v", again.Bytes, again.Restarted)
			}
		})
	}
}

// FuzzSegment grows a file from a to a+b and then replaces it by c. Segments are whole lines and
// concatenate to a prefix of the file; after the replacement they hold what follows the cursor, or
// the whole file.
func FuzzSegment(f *testing.F) {
	b := bytes.Repeat([]byte("0123456789abcdef\n"), 400) // more than the check covers
	f.Add(b[:5000], b[5000:5700], b)
	f.Add(b[:5000], b[5000:5700], b[:5200])
	f.Add([]byte("one\ntw"), []byte("o\nthree\n"), []byte("ONE\ntwo\nthree\n"))
	f.Add([]byte("\n\n"), []byte{}, []byte("\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		path := filepath.Join(dir, "s.jsonl")
		whole := func(b []byte) []byte { return b[:bytes.LastIndexByte(b, '\n')+1] }
		put := func(b []byte) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		follow := tail{path: path}
		put(a)
		first := readSegment(t, path, Cursor{})
		if _, err := follow.poll(); err != nil {
			t.Fatal(err)
		}
		ab := append(bytes.Clone(a), b...)
		put(ab)
		second := readSegment(t, path, first.Cursor)
		if got := append(bytes.Clone(first.Bytes), second.Bytes...); !bytes.Equal(got, whole(ab)) || second.Restarted {
			t.Fatalf("segments %q and %q of %q, restarted %v", first.Bytes, second.Bytes, ab, second.Restarted)
		}
		if _, err := follow.poll(); err != nil {
			t.Fatal(err)
		}
		if s := follow.segment(); !bytes.Equal(s.Bytes, whole(ab)) || s.Cursor != second.Cursor {
			t.Fatalf("followed: %q of %q, cursor %+v, want %+v", s.Bytes, ab, s.Cursor, second.Cursor)
		}
		put(c)
		third := readSegment(t, path, second.Cursor)
		want, restarted := whole(c), true
		if n := second.Cursor.Offset; int64(len(c)) >= n && bytes.Equal(c[max(0, n-window):n], ab[max(0, n-window):n]) {
			want, restarted = whole(c)[min(n, int64(len(whole(c)))):], false
		}
		if !bytes.Equal(third.Bytes, want) || third.Restarted != restarted {
			t.Fatalf("after %q was replaced by %q: %q, restarted %v; want %q, %v", ab, c, third.Bytes, third.Restarted, want, restarted)
		}
		if end, err := End(path); err != nil || end != third.Cursor {
			t.Fatalf("End of %q = %+v, %v; want %+v", c, end, err, third.Cursor)
		}
	})
}

// FuzzBackwards compares the result with splitting the whole file.
func FuzzBackwards(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint16(3), uint8(1))
	f.Add([]byte("\n\n"), uint16(60_000), uint8(2))
	f.Add([]byte("x\n"), uint16(65_535), uint8(40))
	f.Fuzz(func(t *testing.T, text []byte, fill uint16, times uint8) {
		// Long lines come from repetition: fuzzing would not find 100 KB of them by chance.
		file := bytes.Repeat(append(bytes.Repeat([]byte{'x'}, int(fill)), text...), int(times)%50)
		type line struct {
			at   int64
			text string
		}
		var want, got []line
		for at, text := range lines(file) {
			if len(text) < tailSize-1 {
				want = append(want, line{int64(at), string(text)})
			}
		}
		slices.Reverse(want)
		for at, text := range backwards(bytes.NewReader(file), 0, int64(len(file))) {
			if len(text) < tailSize-1 {
				got = append(got, line{at, string(text)})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("backwards of %d bytes gave %d lines, want %d", len(file), len(got), len(want))
		}
	})
}

func TestTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\nto"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{100: "one\ntwo\nthree\n", 14: "one\ntwo\nthree\n", 13: "two\nthree\n", 10: "three\n", 9: "three\n", 3: ""} {
		if got, err := Tail(path, limit); err != nil || string(got) != want {
			t.Errorf("Tail(%d) = %q, %v; want %q", limit, got, err, want)
		}
	}
	if _, err := Tail(path+"x", 1); err == nil {
		t.Error("a file that is not there has a tail")
	}
}

// The last turn begins with the last line that opens one, whatever of the file has to be read for that.
func TestLastTurn(t *testing.T) {
	t.Parallel()
	const far = 1 << 20
	long := strings.Repeat("said\n", tailSize) // more than what is read at first
	for _, tt := range []struct {
		name, file, want string
		limit            int64
	}{
		{"one", "head\nprompt 1\nsaid\n", "prompt 1\nsaid\n", far},
		{"two", "prompt 1\nsaid\nprompt 2\nsaid\n", "prompt 2\nsaid\n", far},
		{"nothing said yet", "prompt 1\nsaid\nprompt 2\n", "prompt 2\n", far},
		{"a line that is being written", "prompt 1\nsaid\nprompt 2", "prompt 1\nsaid\n", far},
		{"long", "prompt 1\nsaid\nprompt 2\n" + long, "prompt 2\n" + long, far},
		{"begins before the limit", "prompt 1\nsaid\nsaid\n", "said\n", 9},
		{"none", "said\nsaid\n", "said\nsaid\n", far},
		{"empty", "", "", far},
	} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, tt.file)
		if got, err := LastTurn(path, func() Reader { return prompts{} }, tt.limit); err != nil || string(got) != tt.want {
			t.Errorf("%s: LastTurn = %.40q (%d bytes), %v; want %.40q (%d)", tt.name, got, len(got), err, tt.want, len(tt.want))
		}
	}
	if _, err := LastTurn(filepath.Join(t.TempDir(), "none"), func() Reader { return prompts{} }, far); err == nil {
		t.Error("a file that is not there has a last turn")
	}
}

// prompts reads lines of which those with a prompt open turns.
type prompts struct{}

func (prompts) Read(at int, line []byte) (e Entry) {
	if bytes.HasPrefix(line, []byte("prompt")) {
		e.Opens = &FileTurn{Start: at}
	}
	return e
}
