package compact

import (
	"bytes"
	"math"
	"testing"
	"time"
)

// TestRoundTrip: what was written is read, in order.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	numbers := []int64{0, 1, -1, 63, -64, 64, 1 << 40, math.MaxInt64, math.MinInt64}
	texts := []string{"", "a", "two\nlines", "\x00\xff", string(bytes.Repeat([]byte("x"), 1000))}
	times := []time.Time{{}, time.Unix(0, 1).UTC(), time.Date(2026, 11, 30, 1, 2, 3, 4, time.FixedZone("", 3600)), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	var w Writer
	for i := range numbers {
		w.Int(numbers[i])
		w.Is(i%2 == 0)
	}
	for _, s := range texts {
		w.Text(s)
	}
	for _, at := range times {
		if !w.Time(at) {
			t.Errorf("%v can't be written", at)
		}
	}
	r, err := Open("a test 1", bytes.NewReader(File("a test 1", w)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range numbers {
		if n, is := r.Int(), r.Is(); n != numbers[i] || is != (i%2 == 0) {
			t.Errorf("read %d, %v, want %d", n, is, numbers[i])
		}
	}
	for _, want := range texts {
		if got := r.Text(); got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
	for _, want := range times {
		got := r.Time()
		if !got.Equal(want) || got.Format(time.RFC3339Nano) != want.Format(time.RFC3339Nano) {
			t.Errorf("read %v, want %v", got, want)
		}
	}
	if r.More() || r.Bad() {
		t.Errorf("more is left, or something is bad")
	}
	if r.Int(); !r.Bad() {
		t.Error("read behind the end")
	}
}

// TestOther: a file that is damaged, cut off or of another version is refused.
func TestOther(t *testing.T) {
	t.Parallel()
	var w Writer
	w.Text("some text")
	file := File("a test 1", w)
	for n := range file {
		if _, err := Open("a test 1", bytes.NewReader(file[:n])); err == nil {
			t.Errorf("the first %d bytes are taken for a file", n)
		}
		bad := bytes.Clone(file)
		bad[n] ^= 4
		if _, err := Open("a test 1", bytes.NewReader(bad)); err == nil {
			t.Errorf("byte %d may be another", n)
		}
	}
	if _, err := Open("a test 2", bytes.NewReader(file)); err == nil {
		t.Error("another version is taken")
	}
}

// FuzzReader: nothing that is read makes more of it than there is.
func FuzzReader(f *testing.F) {
	f.Add("\x02\x04ab\x00\x80\x80\x80")
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader(text)
		for i := 0; r.More(); i++ {
			switch i % 4 {
			case 0:
				r.Int()
			case 1:
				if s := r.Text(); len(s) > len(text) {
					t.Errorf("a text of %d bytes from %d", len(s), len(text))
				}
			case 2:
				r.Time()
			case 3:
				if n := r.Count(); n > len(text) {
					t.Errorf("%d things in %d bytes", n, len(text))
				}
			}
		}
	})
}
