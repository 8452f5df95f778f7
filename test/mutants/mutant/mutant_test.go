package mutant

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if n, reached := read(dir); n != 0 || reached != "" {
		t.Errorf("without a file: %d, %q", n, reached)
	}
	for text, want := range map[string]struct {
		n       int
		reached string
	}{
		"17\n":          {17, ""},
		"\n":            {0, ""},
		"reach turns\n": {0, filepath.Join(dir, "reach", "turns")},
	} {
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if n, reached := read(dir); n != want.n || reached != want.reached {
			t.Errorf("%q: %d, %q", text, n, reached)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record(dir, 3)
	record(dir, 3)
	record(filepath.Join(dir, "absent"), 4)
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 || all[0].Name() != "3" {
		t.Errorf("got %v, %v", all, err)
	}
}

// TestNone: with no mutant on, the product is as it is.
func TestNone(t *testing.T) {
	t.Parallel()
	err := errors.New("e")
	if On(1) || !Off(1) || Number(1, 5) != 5 || Text(1, "a") != "a" || Err(1, func() error { return err }) != err {
		t.Error("a mutant is on")
	}
}
