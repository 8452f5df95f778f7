package retry

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"
)

// tail writes text to a ring of the given size, in pieces of n bytes.
func tail(size int, text string, n int) string {
	r := NewRing(size)
	for text != "" {
		k := min(n, len(text))
		r.Write([]byte(text[:k]))
		text = text[k:]
	}
	return r.Tail()
}

func TestTail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 1000)
	for _, tt := range []struct {
		name string
		size int
		text string
		want string
	}{
		{"nothing", 10, "", ""},
		{"shorter", 10, "abc", "abc"},
		{"equal", 10, "abcdefghij", "abcdefghij"},
		{"one more", 10, "abcdefghijk", "bcdefghijk"},
		{"larger than the ring and its slack", 10, long, "0123456789"},
		{"lines", 100, "one\ntwo\r\nthree\n\n", "one\ntwo\nthree"},
		{"lines beyond the size", 9, "one\ntwo\nthree\n", "two\nthree"},
		{"a rune at the cut", 4, "aé日", "日"},
		{"runes, whole", 5, "aé日", "é日"},
		{"emoji at the cut", 5, "xx😀y", "😀y"},
		{"nothing of a rune fits", 2, "日", ""},
		{"colours", 100, "\x1b[1;31mred\x1b[0m text", "red text"},
		{"private modes", 100, "\x1b[?25l\x1b[?2026hhidden\x1b[?2026l\x1b[?25h", "hidden"},
		{"title, ended by BEL", 100, "\x1b]0;title\afoo", "foo"},
		{"link, ended by ST", 100, "\x1b]8;;http://example.invalid\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"device control", 100, "a\x1bP1$r0m\x1b\\b", "ab"},
		{"application command", 100, "a\x1b_Gf=100\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d", "abcd"},
		{"character set and keypad", 100, "\x1b(B\x1b=a\x1b>", "a"},
		{"carriage return", 100, "10%\r20%\r100% done\n", "100% done"},
		{"carriage return, shorter", 100, "downloading\rdone\n", "doneloading"},
		{"carriage return and erase", 100, "downloading\r\x1b[Kdone\n", "done"},
		{"backspace", 100, "abc\b\bX\n", "aXc"},
		{"bell and null", 100, "a\x00b\ac", "abc"},
		{"a sequence that does not end", 100, "abc\x1b[31", "abc"},
		{"C1 characters, which terminals leave alone in UTF-8", 100, "a\u009b31mb\u0085c", "a31mbc"},
	} {
		for _, n := range []int{1, 3, 1 << 20} {
			if got := tail(tt.size, tt.text, n); got != tt.want {
				t.Errorf("%s, in pieces of %d: %q, want %q", tt.name, n, got, tt.want)
			}
		}
	}
}

// TestTailOfSequences checks that an escape sequence cut by the ring's beginning leaves no trace.
func TestTailOfSequences(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("\x1b[38;5;196mword\x1b[0m ", 1000)
	for size := 50; size < 90; size++ {
		got := tail(size, text, 1000)
		if strings.ContainsAny(got, "0123456789;[") {
			t.Errorf("a ring for %d bytes has %q", size, got)
		}
	}
}

// Two writers at once lose nothing that the ring has room for.
func TestRingConcurrent(t *testing.T) {
	t.Parallel()
	r := NewRing(100_000)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 1000 {
				fmt.Fprintf(r, "%d%d%d\n", i, i, i)
			}
		}()
	}
	wg.Wait()
	if lines := strings.Split(r.Tail(), "\n"); len(lines) != 4000 {
		t.Errorf("%d lines, want 4000", len(lines))
	}
}

func TestRingAllocatesNothing(t *testing.T) {
	r := NewRing(4096)
	for _, n := range []int{1, 100, 4096, 100_000} {
		p := make([]byte, n)
		if allocs := testing.AllocsPerRun(100, func() { r.Write(p) }); allocs > 0 {
			t.Errorf("a write of %d bytes allocates %v times", n, allocs)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	const rest = "\nWhat it has changed in the worktree is still there. Look at what went wrong before you begin, and do not repeat it:\ngo on from what is right, and correct what is not.\n"
	for _, tt := range []struct {
		name string
		f    Failure
		want string
	}{
		{
			"nothing is known",
			Failure{Attempt: 1, Of: 3, Why: "it ended with status 1"},
			"RETRY 2/3\n\nThe previous attempt failed: it ended with status 1.\n" + rest,
		},
		{
			"a tail",
			Failure{Attempt: 2, Of: 3, Why: "x", Tail: "a\nb"},
			"RETRY 3/3\n\nThe previous attempt failed: x.\n\nThis is the end of what it printed:\n" + rule + "\na\nb\n" + rule + "\n" + rest,
		},
		{
			"a check",
			Failure{Attempt: 1, Of: 2, Why: "x", Check: "make test", Output: "FAIL"},
			"RETRY 2/2\n\nThe previous attempt failed: x.\n\nThe check `make test` printed:\n" + rule + "\nFAIL\n" + rule + "\n" + rest,
		},
		{
			"a check that printed nothing",
			Failure{Attempt: 1, Of: 2, Why: "x", Check: "false"},
			"RETRY 2/2\n\nThe previous attempt failed: x.\n" + rest,
		},
	} {
		if got := tt.f.Context(); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// FuzzTail checks that whatever is printed, no escape byte or control character survives, every
// rune is whole, and the size is kept.
func FuzzTail(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b]0;t\a\x1bP q\x1b\\\r\b\x9b1m\xc2\x9bx"), 20)
	f.Add([]byte("aé日😀\xff"), 5)
	f.Add(bytes.Repeat([]byte("\x1b[1mx\x1b[0m"), 100), 50)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if size < 0 || size > 10_000 {
			return
		}
		got := tail(size, string(text), 7)
		if len(got) > size || !utf8.ValidString(got) {
			t.Errorf("%d bytes for %d, valid %t: %q", len(got), size, utf8.ValidString(got), got)
		}
		if strings.ContainsFunc(got, func(c rune) bool { return unicode.IsControl(c) && c != '\n' }) {
			t.Errorf("control characters in %q", got)
		}
	})
}

// BenchmarkRing writes 1 GB in the pieces that a pipe gives, and copies as much.
func BenchmarkRing(b *testing.B) {
	piece := bytes.Repeat([]byte("0123456789abcdef"), 2048) // 32 KB
	const times = 1 << 30 / (32 << 10)
	b.Run("ring", func(b *testing.B) {
		r := NewRing(4096)
		b.SetBytes(1 << 30)
		b.ReportAllocs()
		for b.Loop() {
			for range times {
				r.Write(piece)
			}
		}
	})
	b.Run("ring as large as the pieces", func(b *testing.B) {
		r := NewRing(32 << 10)
		b.SetBytes(1 << 30)
		for b.Loop() {
			for range times {
				r.Write(piece)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		to := make([]byte, len(piece))
		b.SetBytes(1 << 30)
		for b.Loop() {
			for range times {
				copy(to, piece)
			}
		}
	})
}
