package session

import (
	"os"
	"testing"

	"gitagent/test/gittest"
)

// TestWriteList: a list that can't be put in its place leaves nothing beside it.
func TestWriteList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Open(dir)
	list := func() ([]byte, error) { return []byte("list"), nil }
	gittest.Must(t, s.WriteList(CommitsFile, list))
	path := s.Dir().Path(CommitsFile)
	if data, err := os.ReadFile(path); err != nil || string(data) != "list" {
		t.Errorf("it has %q, %v", data, err)
	}
	gittest.Must(t, os.Remove(path))
	gittest.Must(t, os.MkdirAll(path+"/x", 0o700)) // in its way
	if err := s.WriteList(CommitsFile, list); err == nil {
		t.Error("it is not said that the list could not be written")
	}
	if _, err := os.Lstat(path + Fresh); !os.IsNotExist(err) {
		t.Errorf("a part is left: %v", err)
	}
}
