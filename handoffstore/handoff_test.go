package handoffstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// vectors are the records of testdata/vectors, which docs/format.md names as normative. A file has
// a header, "expect: ok", "expect: newer version" or "expect: refused", a blank line, and the
// record. One that is ok but not as this version writes it is followed by another blank line, and
// by what it is rewritten to.
func vectors(t testing.TB) map[string][3]string {
	t.Helper()
	names, err := filepath.Glob("testdata/vectors/*.json")
	more, err2 := filepath.Glob("testdata/vectors/sha256/*.json")
	if err := errors.Join(err, err2); err != nil || len(names) == 0 || len(more) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	all := make(map[string][3]string)
	for _, name := range append(names, more...) {
		data, err := os.ReadFile(name)
		gittest.Must(t, err)
		header, rest, _ := strings.Cut(string(data), "\n\n")
		record, rewritten, _ := strings.Cut(strings.TrimSuffix(rest, "\n"), "\n\n")
		expect, ok := strings.CutPrefix(header, "expect: ")
		if !ok {
			t.Fatalf("%s: the header is %q", name, header)
		}
		all[filepath.ToSlash(strings.TrimPrefix(name, "testdata/vectors/"))] = [3]string{expect, record, rewritten}
	}
	return all
}

// formatOf is the format of the hashes in a vector.
func formatOf(name string) object.Format {
	if strings.HasPrefix(name, "sha256/") {
		return object.SHA256
	}
	return object.SHA1
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, v := range vectors(t) {
		expect, text, rewritten := v[0], v[1], v[2]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := Parse([]byte(text), formatOf(name))
			switch expect {
			case "ok":
				if rewritten == "" {
					rewritten = text
				}
			case "newer version":
				if !errors.Is(err, record.ErrVersion) {
					t.Errorf("Parse(%s) = %v, want an error wrapping ErrVersion", text, err)
				}
				return
			case "refused":
				if err == nil || errors.Is(err, record.ErrVersion) {
					t.Errorf("Parse(%s) = %v, want another error", text, err)
				}
				return
			default:
				t.Fatalf("expect: %q is none of ok, newer version, refused", expect)
			}
			if err != nil {
				t.Fatalf("Parse(%s): %v", text, err)
			}
			encoded, err := h.Encode()
			if err != nil || string(encoded) != rewritten {
				t.Errorf("Encode = %v\n%s\nwant\n%s", err, encoded, rewritten)
			}
			if line, err := h.Line(); err != nil || string(line) != text {
				t.Errorf("Line = %v\n%s\nwant\n%s", err, line, text)
			}
		})
	}
}

// parse is Parse for a record of either format.
func parse(data []byte) (*Handoff, error) {
	if record, err := Parse(data, object.SHA1); err == nil {
		return record, nil
	}
	return Parse(data, object.SHA256)
}

// FuzzParse checks that whatever Parse accepts survives a round trip, on one line.
func FuzzParse(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add([]byte(v[1]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parse(data)
		if err != nil {
			return
		}
		first, err := h.Encode()
		if err != nil {
			t.Fatalf("Encode(Parse(%q)): %v", data, err)
		}
		if bytes.ContainsAny(first, "\n\r\x00") {
			t.Errorf("not one line: %q", first)
		}
		again, err := parse(first)
		if err != nil {
			t.Fatalf("Parse(%q), from %q: %v", first, data, err)
		}
		if again.ID() != h.ID() || again.ExitType != h.ExitType || again.Stash != h.Stash {
			t.Errorf("another handoff: %q from %q", first, data)
		}
		second, err := again.Encode()
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("Encode is not canonical: %q, then %q (%v)", first, second, err)
		}
	})
}
