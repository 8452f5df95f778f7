package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"
)

// seed adds the real sessions: whole, and their lines one by one.
func seed(f *testing.F) {
	for name := range sessions {
		b := session(f, name)
		f.Add(b)
		for _, line := range lines(b) {
			f.Add(line)
		}
	}
}

// FuzzTurns checks that turns are whole lines, in order and without overlap, and that a turn taken
// alone is one turn with the same start.
func FuzzTurns(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, segment []byte) {
		turns := Turns(segment)
		checkRanges(t, segment, turns)
		for _, turn := range turns {
			if !utf8.ValidString(turn.Prompt) {
				t.Errorf("prompt %q is not UTF-8", turn.Prompt)
			}
			if turn.Origin == "" {
				continue // where a turn of an old client starts depends on the records before it
			}
			alone := Turns(segment[turn.Start:turn.End])
			if len(alone) != 1 {
				t.Fatalf("%+v alone is %+v", turn, alone)
			}
			turn.End -= turn.Start
			turn.Start = 0
			if !reflect.DeepEqual(alone[0], turn) {
				t.Errorf("%+v alone is %+v", turn, alone[0])
			}
		}
	})
}

// FuzzSummarise checks that no figure is negative, no text is invalid, and that lines which are not
// records change nothing.
func FuzzSummarise(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, turn []byte) {
		s := Summarise(turn)
		if s.Context < 0 || s.Output < 0 || s.Compactions < 0 {
			t.Errorf("negative: %+v", s)
		}
		for _, text := range append(s.Queued, s.Prompt, s.Reply, s.Model) {
			if !utf8.ValidString(text) {
				t.Errorf("%q is not UTF-8", text)
			}
		}
		noise := []byte("\n\x00{\"type\":\"user\"\n[]\n")
		if again := Summarise(append(append(noise, turn...), noise...)); !reflect.DeepEqual(again, s) {
			t.Errorf("with noise around it: %+v, without: %+v", again, s)
		}
	})
}

// FuzzSegment grows a file from a to a+b and then replaces it by c. Segments are whole lines and
// concatenate to a prefix of the file; after the replacement they hold what follows the cursor, or
// the whole file.
func FuzzSegment(f *testing.F) {
	b := session(f, "five turns")[:6000] // more than the check covers
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
