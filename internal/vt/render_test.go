package vt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"gitagent/test/gittest"
)

func render(t testing.TB, in string) string {
	t.Helper()
	var out strings.Builder
	gittest.Must(t, Render(&out, strings.NewReader(in)))
	return out.String()
}

func renderBytes(t testing.TB, in string) string {
	t.Helper()
	var out strings.Builder
	gittest.Must(t, Render(&out, iotest.OneByteReader(strings.NewReader(in))))
	return out.String()
}

// TestClient reads what Claude Code 2.1.329 sent to a terminal of 30 rows and 100 columns, on the
// alternate screen and on the main one: an answer of 30 paragraphs, a tool, a menu, another view
// and back. The text from the main one equals that of tmux itself, capture-pane -J -S -, except for
// white space at the ends of lines.
func TestClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		times int // how often the answer was given
	}{{"fullscreen", 1}, {"classic", 2}} {
		raw, err := os.ReadFile(filepath.Join("testdata", tt.name+".raw"))
		gittest.Must(t, err)
		want, err := os.ReadFile(filepath.Join("testdata", tt.name+".txt"))
		gittest.Must(t, err)
		got := render(t, string(raw))
		if got != string(want) {
			t.Errorf("%s: got\n%s", tt.name, got)
		}
		from := 0
		for i := 1; i <= 28; i++ { // the last two are repeated by the other view
			paragraph := fmt.Sprintf("Paragraph %d:", i)
			if n := strings.Count(got, paragraph); n != tt.times {
				t.Errorf("%s: %q is there %d times, want %d", tt.name, paragraph, n, tt.times)
			}
			at := strings.Index(got[from:], paragraph)
			if at < 0 {
				t.Fatalf("%s: %q is not in its place", tt.name, paragraph)
			}
			from += at
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for _, tt := range []struct{ name, in, want string }{
		{"columns when not told", long + "\r\x1b[Ay", "y" + long[1:] + "\n"},
		{"columns when told", "\x1b[8;24;120t" + long + "\x1b[Ay", long + "y\n"},
		{"grows", "\x1b[30;100Hx\x1b[Hy", "y" + strings.Repeat("\n", 29) + strings.Repeat(" ", 99) + "x\n"},
		{"a question for the size", "\x1b[999;999H\x1b[6nx", strings.Repeat("\n", 23) + strings.Repeat(" ", 79) + "x\n"},
		{"smaller", "\x1b[8;5;20t1\r\n2\r\n3\r\n4\x1b[8;2;20t\r\n5", "1\n2\n3\n4\n5\n"},
		{"larger", "\x1b[8;2;20t1\r\n2\x1b[8;4;20t\r\n3\r\n4\x1b[Hx", "x\n2\n3\n4\n"},
		{"enlarged under a full-screen program", "\x1b[8;5;20t\x1b[?1049h" + painted(1, 8, "") + "\x1b[?1049l", painted(1, 8, "\n")},
		{"enlarged, and each row is erased first", "\x1b[8;5;20t\x1b[?1049h" + strings.ReplaceAll(painted(1, 8, ""), "row", "\x1b[Krow") + "\x1b[?1049l", painted(1, 8, "\n")},
		{"enlarged, and the last row stands still", "\x1b[8;5;20t\x1b[?1049h\x1b[1;9r\x1b[9;1H" + strings.Repeat("x\r\ny\r\n", 5) + "z\x1b[?1049l", strings.Repeat("x\ny\n", 5) + "z\n"},
		{"wider", "\x1b[8;5;20t\x1b[?1049h\x1b[1;30Hx\x1b[?1049l", strings.Repeat(" ", 29) + "x\n"},
		{"a full-screen program asks for the size", "\x1b[8;3;20t\x1b[?1049h\x1b7\x1b[255;255H\x1b[6n\x1b8a\r\nb\r\nc\r\nd\x1b[?1049l", "a\nb\nc\nd\n"},
		{"placed outside, and moved back", "\x1b[8;3;20t\x1b[?1049h\x1b[9;1H\x1b[Ax\x1b[9;1H\ry\x1b[?1049l", "x\ny\n"},
		{"a second log in the file", "\x1b[8;6;20t\x1b[Hone\r\nIMPORTANT\r\nthree\r\n\x1b[8;6;20t\x1b[H$ \r\nb", "one\nIMPORTANT\nthree\n$\nb\n"},
		{"a second log, after a full-screen program", "\x1b[8;6;20t\x1b[?1049h\x1b[Hone\r\ntwo\x1b[8;6;20t\x1b[H$ \r\nb", "one\ntwo\n$\nb\n"},
		{"a second log, of a full-screen program", "\x1b[8;6;20t\x1b[H\x1b[2;4r\x1b(0qq\x1b[8;2;20t\x1b[?1049h\x1b[Hone\r\nq", "──\none\nq\n"},
		{"a second log, by a newer tmux", "\x1b[8;6;20t\x1b[Hone\r\n\u2764\ufe0f\x1b[3G|\x1b[8;6;20t\x1b[?2027h\x1b[H\u2764\ufe0f\x1b[3G|", "one\n\u2764\ufe0f |\n\u2764\ufe0f|\n"},
		{"a program wants another size", "\x1b[8;6;20tone\r\ntwo\x1b[8;6;20t\r\x1b[Hx", "xne\ntwo\n"},
		{"nonsense", "\x1b[8;0;99999t" + long, long + "\n"},
	} {
		if got := render(t, tt.in); got != tt.want {
			t.Errorf("%s: Render(%q)\ngot  %q\nwant %q", tt.name, tt.in, got, tt.want)
		}
	}
}

// painted paints each row in its place, or has a line for each if there is an end for them.
func painted(from, to int, end string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		if end == "" {
			fmt.Fprintf(&b, "\x1b[%d;1H", i)
		}
		fmt.Fprintf(&b, "row %d%s", i, end)
	}
	return b.String()
}

func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	if err := Render(io.Discard, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("Render of what can't be read: %v", err)
	}
	if err := Render(failing{broken}, strings.NewReader(strings.Repeat("line\r\n", 100_000))); !errors.Is(err, broken) {
		t.Errorf("Render into what can't be written: %v", err)
	}
	if err := Render(failing{broken}, strings.NewReader("x")); !errors.Is(err, broken) {
		t.Errorf("Render of little into what can't be written: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A session is the log of a terminal with all kinds of output, repeated.
type session struct{ log, rest []byte }

func newSession() *session {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	b.WriteString("\x1b[8;40;120t")
	for i := range 200 { // a build
		fmt.Fprintf(&b, "\x1b[32m[%d/200]\x1b[0m compiling \x1b[1mmodule%d\x1b[0m with warnings: 0\r\n", i, r.IntN(1000))
	}
	for i := range 100 { // a progress bar
		fmt.Fprintf(&b, "\r\x1b[K%3d%% %s", i, strings.Repeat("█", i/2))
	}
	b.WriteString("\r\n\x1b]0;title\x07\x1b[?1049h")
	for top := range 60 { // a page that is painted again and again
		b.WriteString("\x1b[H")
		for i := range 39 {
			fmt.Fprintf(&b, "\x1b[38;5;246m line %d, 日本語 with words\x1b[K\r\n", top+i)
		}
	}
	b.WriteString("\x1b[?1049l")
	for range 100 { // text
		b.WriteString(strings.Repeat("lorem ipsum dolor ", r.IntN(20)))
		b.WriteString("e\u0301 日本語\r\n")
	}
	b.WriteString("\x1b[?1049h\x1b[1;39r")
	for i := range 200 { // a full-screen editor
		fmt.Fprintf(&b, "\x1b[39;1H\nfunction %d() {\x1b[%d;%dH\x1b[2P\x1b[@x\x1b[L\x1b[M", i, 1+r.IntN(39), 1+r.IntN(100))
	}
	b.WriteString("\x1b[r\x1b[?1049l")
	return &session{log: b.Bytes()}
}

func (s *session) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		s.rest = s.log
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// TestMemory reads 12 MB. Memory holds the screen and some lines, not the log; BenchmarkRender
// reads 50 MB.
func TestMemory(t *testing.T) {
	const size = 12 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	samples := 0
	in := io.TeeReader(io.LimitReader(newSession(), size), writerFunc(func([]byte) {
		if samples++; samples%20 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc)
		}
	}))
	var written counter
	gittest.Must(t, Render(&written, in))
	if written < 1<<20 {
		t.Errorf("of 12 MB, %d bytes were left", written)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("%d bytes are held, want 2 MiB at most", grown)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func BenchmarkRender(b *testing.B) {
	for _, size := range []int64{1_300_000, 50 << 20} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				gittest.Must(b, Render(io.Discard, io.LimitReader(newSession(), size)))
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	for _, tt := range golden() {
		f.Add([]byte("\x1b[8;10;40t" + tt.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole := render(t, string(in))
		for _, r := range whole {
			if r != '\n' && unicode.In(r, unicode.Cc) {
				t.Fatalf("Render(%q) = %q has %U", in, whole, r)
			}
		}
		if pieces := renderBytes(t, string(in)); pieces != whole {
			t.Fatalf("Render(%q) = %q, and %q byte by byte", in, whole, pieces)
		}
	})
}
