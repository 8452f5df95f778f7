package purge

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// secret is what is purged, and mark what takes its place.
const (
	secret = "hunter2-secret-key"
	mark   = "[redacted:purged]"
)

var (
	texts = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	coded = regexp.MustCompile(`[A-Za-z0-9+/](?:[A-Za-z0-9+/]|\r?\n[ \t]*)*`)
)

// says reports whether a text has the secret: plain, in strings of JSON that lie in each other, in base64, in lines or
// not.
func says(text []byte) bool { return saysTo(text, 4) }

func saysTo(text []byte, depth int) bool {
	if bytes.Contains(text, []byte(secret)) {
		return true
	}
	if depth == 0 {
		return false
	}
	for _, quoted := range texts.FindAll(text, -1) {
		var plain string
		if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &plain) == nil && saysTo([]byte(plain), depth-1) {
			return true
		}
	}
	for _, run := range coded.FindAll(text, -1) {
		letters := bytes.Join(bytes.Fields(run), nil)
		for off := 0; off < 4 && off < len(letters); off++ {
			part := letters[off:]
			if len(part)%4 == 1 {
				part = part[:len(part)-1]
			}
			plain, err := base64.RawStdEncoding.DecodeString(string(part))
			if err == nil && bytes.Contains(plain, []byte(secret)) {
				return true
			}
		}
	}
	return false
}

// streams passes all that is compressed in a file to f: a loose object, the objects and deltas of a pack, tables.
func streams(data []byte, f func(plain []byte)) {
	for i := 0; i+1 < len(data); i++ {
		if data[i] != 0x78 || (int(data[i])<<8|int(data[i+1]))%31 != 0 {
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(data[i:]))
		if err != nil {
			continue
		}
		if plain, _ := io.ReadAll(io.LimitReader(z, 16<<20)); len(plain) > 0 { // whatever of it can be read
			f(plain)
		}
	}
}

// sayingFiles are the files below a directory that have the secret, compressed or not.
func sayingFiles(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		found := says(data)
		streams(data, func(plain []byte) { found = found || says(plain) })
		if name, _ := filepath.Rel(dir, path); found {
			list = append(list, name)
		}
		return err
	})
	gittest.Must(t, err)
	return list
}

// redacted reports whether a text is what another one was, but for marks in the place of parts that have the secret.
func redacted(was, is string) bool {
	parts := strings.Split(is, mark)
	rest, ok := strings.CutPrefix(was, parts[0])
	if !ok {
		return false
	}
	var from func(rest string, parts []string) bool
	from = func(rest string, parts []string) bool {
		if len(parts) == 0 {
			return rest == ""
		}
		for i := range len(rest) + 1 {
			after, ok := strings.CutPrefix(rest[i:], parts[0])
			if ok && (rest[:i] == mark || stoodFor(rest[:i])) && from(after, parts[1:]) {
				return true
			}
			if i > 4000 {
				break
			}
		}
		return false
	}
	return from(rest, parts[1:])
}

// stoodFor reports whether a part of a text has the secret, perhaps as a part of a string of JSON that lies in others.
func stoodFor(part string) bool {
	for range 4 {
		if says([]byte(part)) {
			return true
		}
		if json.Unmarshal([]byte(`"`+part+`"`), &part) != nil {
			return false
		}
	}
	return false
}

func TestSays(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	once, _ := json.Marshal(`{"a":"` + secret + `"}`)
	twice, _ := json.Marshal(string(once))
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"", false},
		{"hunter2-secret-ke y", false},
		{"x" + secret + "y", true},
		{string(twice), true},
		{`{"b":"hunter2\u002dsecret\u002dkey"}`, true},
		{`"hunter2\\u002dsecret-key"`, false},
		{base64.StdEncoding.EncodeToString([]byte("a" + secret)), true},
		{"data: " + folded(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", 50)+secret+strings.Repeat("-", 50))), 76), true},
	} {
		if got := says([]byte(tt.text)); got != tt.want {
			t.Errorf("says(%q) = %t", tt.text, got)
		}
	}
	for _, tt := range []struct {
		was, is string
		want    bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"use " + secret + ".", "use " + mark + ".", true},
		{"use it.", "use " + mark + ".", false},
		{"use " + secret + ".", "use " + mark + "!", false},
		{secret + " " + secret, mark + " " + mark, true},
		{mark + secret, mark + mark, true},
	} {
		if got := redacted(tt.was, tt.is); got != tt.want {
			t.Errorf("redacted(%q, %q) = %t", tt.was, tt.is, got)
		}
	}
}

// folded is a text in lines.
func folded(text string, width int) string {
	return strings.Join(slices.Collect(func(yield func(string) bool) {
		for part := range slices.Chunk([]byte(text), width) {
			if !yield(string(part)) {
				return
			}
		}
	}), "\n")
}
