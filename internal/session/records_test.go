package session

import (
	"errors"
	"io/fs"
	"testing"

	"gitagent/test/gittest"
)

// TestForgetRecords: the prepared records of a mission go with it, and no others.
func TestForgetRecords(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	for range 2 {
		gittest.Must(t, s.dir.WriteFile(RecordsFile("a1b2c3d4"), []byte("records")))
		gittest.Must(t, s.dir.WriteFile(RecordsFile("b1b2c3d4"), []byte("records")))
		gittest.Must(t, s.Forget(t.Context(), "a1b2c3d4"))
		gittest.Must(t, s.Forget(t.Context(), "c1b2c3d4"))
		if _, err := s.dir.Lstat(RecordsFile("a1b2c3d4")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is still there (%v)", err)
		}
		_, err := s.dir.Lstat(RecordsFile("b1b2c3d4"))
		gittest.Must(t, err)
	}
}
