package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestSignedVectors reads the commits that docs/format.md names: which are signed as a ledger's are,
// for which mission, and with which key.
func TestSignedVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(gittest.Vectors("testdata/signed") + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		gittest.Must(t, err)
		header, commit, _ := bytes.Cut(data, []byte("\n\n"))
		want, ok := strings.CutPrefix(string(header), "expect: ok ")
		s, formed := ParseSigned(commit)
		verified := formed && s.Verify()
		switch got := string(s.Of) + " " + s.By.String(); {
		case verified != ok:
			t.Errorf("%s: %t, want %s", file, verified, header)
		case ok && got != want:
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func FuzzParseSigned(f *testing.F) {
	files, _ := filepath.Glob(gittest.Vectors("testdata/signed") + "/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		gittest.Must(f, err)
		_, commit, _ := bytes.Cut(data, []byte("\n\n"))
		f.Add(commit)
	}
	f.Fuzz(func(t *testing.T, commit []byte) {
		s, ok := ParseSigned(commit)
		if ok && s.Verify() && bytes.Count(commit, []byte("\ngpgsig")) != 1 {
			t.Errorf("verified with several signatures:\n%s", commit)
		}
	})
}
