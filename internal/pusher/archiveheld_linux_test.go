package pusher_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestArchiveHeld: a git that fetches the archive of a remote, or its index, holds the lock too, as it may outlive us.
func TestArchiveHeld(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	a.Turn("a1b2c3d4", "one")
	b.Turn("b1b2c3d4", "two")
	archiveAll(a, "a1b2c3d4")
	pushArchive(a)
	archiveAll(b, "b1b2c3d4")
	files := filepath.Join(gittest.TempDir(t), "files")
	b.Git("config", "remote.origin.uploadpack", "readlink /proc/self/fd/* >>'"+files+"' 2>/dev/null; git-upload-pack")
	for _, what := range []struct {
		name string
		do   func()
	}{{"the index", func() { b.Fetch() }}, {"the archive", func() { pushArchive(b) }}} {
		what.do()
		text, err := os.ReadFile(files)
		if err != nil || !strings.Contains(string(text), "/archive-origin\n") {
			t.Errorf("who fetches %s has %s, %v", what.name, text, err)
		}
		if err := os.Remove(files); err != nil {
			t.Fatal(err)
		}
	}
}
