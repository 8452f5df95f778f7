package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

func compress(t testing.TB, content string, o ...zstd.EOption) string {
	t.Helper()
	var b bytes.Buffer
	e, err := zstd.NewWriter(&b, o...)
	gittest.Must(t, err)
	_, err = io.WriteString(e, content)
	gittest.Must(t, errors.Join(err, e.Close()))
	return b.String()
}

// TestPacked: a file that the client has compressed has the same lines, offsets and cursors as before,
// also by its name from before.
func TestPacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := strings.Repeat(`{"type":"x","text":"0123456789"}`+"\n", 10_000) + "torn"
	plain, later := filepath.Join(dir, "plain"), filepath.Join(dir, "later.jsonl")
	write(t, plain, content)
	write(t, later+Zst, compress(t, content))
	for _, path := range []string{later, later + Zst} {
		size, err := Size(path)
		if err != nil || size != int64(len(content)) {
			t.Errorf("Size: %d, %v, want %d", size, err, len(content))
		}
		want, got := readSegment(t, plain, Cursor{}), readSegment(t, path, Cursor{})
		if !bytes.Equal(got.Bytes, want.Bytes) || got.Cursor != want.Cursor {
			t.Errorf("ReadSegment: %d bytes to %+v, want %d to %+v", len(got.Bytes), got.Cursor, len(want.Bytes), want.Cursor)
		}
		if end, err := End(path); err != nil || end != want.Cursor {
			t.Errorf("End: %+v, %v, want %+v", end, err, want.Cursor)
		}
		for _, r := range [][2]int64{{0, 100}, {0, 1 << 40}, {250_000, 250_010}, {int64(len(content)) - 4, int64(len(content)) + 4}, {1 << 40, 1<<40 + 1}} {
			if r[1]-r[0] > MaxSegment {
				continue
			}
			want, err := ReadRange(plain, r[0], r[1])
			got, err2 := ReadRange(path, r[0], r[1])
			if errors.Join(err, err2) != nil || !bytes.Equal(got, want) {
				t.Errorf("ReadRange of %d: %d bytes, %v, want %d, %v", r, len(got), err2, len(want), err)
			}
		}
		at, err := At(plain, 33*33)
		if again, err2 := At(path, 33*33); errors.Join(err, err2) != nil || again != at {
			t.Errorf("At: %+v, %v, want %+v", again, err2, at)
		}
		from := readSegment(t, path, at)
		if from.Restarted || len(from.Bytes) != len(want.Bytes)-33*33 {
			t.Errorf("from a cursor it has %d bytes, restarted: %t", len(from.Bytes), from.Restarted)
		}
	}
}

// TestPackedUnread: what is not what its name says, or too large, is refused with its name, and without
// the memory that it asks for.
func TestPackedUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := compress(t, strings.Repeat("{}\n", 100_000))
	zeros := strings.Repeat("\x00", 1<<20)
	var bomb bytes.Buffer
	e, err := zstd.NewWriter(&bomb)
	gittest.Must(t, err)
	for range MaxSegment>>20 + 1 {
		_, _ = io.WriteString(e, zeros)
	}
	gittest.Must(t, e.Close())
	for name, tt := range map[string]struct {
		content string
		want    error
	}{
		"cut.jsonl.zst":     {whole[:len(whole)-5], ErrDamaged},
		"changed.jsonl.zst": {whole[:20] + "x" + whole[21:], ErrDamaged},
		"plain.jsonl.zst":   {"{}\n", ErrDamaged},
		"bomb.jsonl.zst":    {bomb.String(), ErrTooLarge},
		"wide.jsonl.zst":    {compress(t, zeros, zstd.WithWindowSize(2*maxWindow)), ErrDamaged},
		"cut.json":          {`{"messages":[`, ErrDamaged},
		"list.json":         {`[]`, ErrDamaged},
		"empty.json":        {"", ErrDamaged},
	} {
		path := filepath.Join(dir, name)
		write(t, path, tt.content)
		_, err := Size(path)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: Size: %v, want %v", name, err, tt.want)
		}
		if _, err := ReadSegment(path, Cursor{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: ReadSegment: %v, want %v", name, err, tt.want)
		}
	}
	huge := filepath.Join(dir, "huge.json")
	write(t, huge, "{")
	gittest.Must(t, os.Truncate(huge, MaxSegment+1)) // a hole
	if _, err := Size(huge); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Size of a large document: %v", err)
	}
	if _, err := ReadSegment(filepath.Join(dir, "none.jsonl"), Cursor{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
}

func TestUnfold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ document, want string }{
		{
			`{"sessionId": "a", "messages": [{"id": "m1", "content": "a\nb"}, {"id": "m2"}], "summary": "s"}`,
			`{"sessionId":"a","summary":"s"}` + "\n" + `{"id":"m1","content":"a\nb"}` + "\n" + `{"id":"m2"}` + "\n",
		},
		{"{\n  \"messages\": []\n}\n", "{}\n"},
		{`{"messages": {"id": 1}, "x": "\u2028"}`, `{"messages":{"id":1},"x":"\u2028"}` + "\n"},
		{`{"messages": [1, "two", null]}`, "{}\n1\n\"two\"\nnull\n"},
	} {
		if got, err := unfold([]byte(tt.document)); err != nil || string(got) != tt.want {
			t.Errorf("unfold(%s) = %s, %v, want %s", tt.document, got, err, tt.want)
		}
	}
}

// FuzzUnfold: whatever is JSON, becomes lines of JSON, with every message on one.
func FuzzUnfold(f *testing.F) {
	f.Add([]byte(`{"sessionId": "a", "messages": [{"id": "m1", "content": "a\nb"}, {"id": "m2"}]}`))
	f.Add([]byte(`{"messages": [], "messages": [{}], "": 1}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		all, err := unfold(document)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(all, []byte{'\n'}) || !Readable(all) {
			t.Errorf("unfold(%q) = %q", document, all)
		}
		for _, line := range lines(all) {
			if !Readable(append([]byte(`{"x":`), append(bytes.Clone(line), '}')...)) {
				t.Errorf("unfold(%q) has the line %q", document, line)
			}
		}
	})
}

func TestNear(t *testing.T) {
	t.Parallel()
	dirs := []string{"/home/dev/repo", "/srv/x/"}
	for dir, want := range map[string]bool{
		"/home/dev/repo": true, "/home/dev/repo/": true, "/home/dev/repo/below": true, "/home/dev/repo-feature": true, "/home/dev/repo.trees/a": true,
		"/home/dev/repo_1": true, "/srv/x/y": true, "/home/dev/repository": false, "/home/dev/repo2": false, "/home/dev/repoé": false,
		"/home/dev": false, "/home/dev/other": false, "/srv/xy": false, "": false, ".": false, "/home/dev/repo/../other": false,
	} {
		if got := Near(dir, dirs); got != want {
			t.Errorf("Near(%q) = %t", dir, got)
		}
	}
	if !Near("/anything", []string{"/"}) || Near("/home/dev/repo", nil) {
		t.Error("Near is wrong of the root, or of nothing")
	}
	for dir, want := range map[string]bool{"/home/dev/other": true, "/home/dev/other/below": false, "/home": false, "/srv/y": true} {
		if got := Beside(dir, []string{"/home/dev/repo", "/srv/x"}); got != want {
			t.Errorf("Beside(%q) = %t", dir, got)
		}
	}
}

// TestUnfoldWorst: a document of many messages takes no more than the text that it becomes.
func TestUnfoldWorst(t *testing.T) {
	gittest.Check(t)
	for name, text := range map[string]string{
		"small messages": `{"messages":[` + strings.Repeat("0,", 8<<20) + "0]}",
		"many lists":     "{" + strings.Repeat(`"messages":[0],`, 1<<20) + `"a":1}`,
		"many fields":    "{" + strings.Repeat(`"a":1,`, 1<<20) + `"messages":[]}`,
	} {
		worst.Try(t, name, func() { _, _ = unfold([]byte(text)) })
	}
}

// TestPackedWorst: a small file that becomes a large one, with the largest window, is read as a stream, up to a limit.
func TestPackedWorst(t *testing.T) {
	gittest.Check(t)
	path := filepath.Join(t.TempDir(), "a.jsonl"+Zst)
	write(t, path, compress(t, strings.Repeat(strings.Repeat("a", 1<<20)+"\n", 300), zstd.WithWindowSize(maxWindow)))
	worst.Try(t, "300 MB", func() {
		if _, err := Size(path); !errors.Is(err, ErrTooLarge) {
			t.Errorf("Size: %v, want %v", err, ErrTooLarge)
		}
	})
}
