//go:build !windows

package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

func TestApplyKeepsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(files(t, map[string]string{"settings.json": "{}"}), "settings.json")
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 { // as under sudo: the file stays the user's
		uid, gid = 12345, 12346
		gittest.Must(t, os.Chown(path, uid, gid))
	}
	installAt(t, path)
	info, err := os.Stat(path)
	gittest.Must(t, err)
	if stat := info.Sys().(*syscall.Stat_t); int(stat.Uid) != uid || int(stat.Gid) != gid {
		t.Errorf("owner %d:%d, want %d:%d", stat.Uid, stat.Gid, uid, gid)
	}
}

// Reading a pipe would wait for ever.
func TestPlanPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.json")
	gittest.Must(t, syscall.Mkfifo(path, 0o666))
	if _, err := PlanInstall(path, entries); err == nil || !strings.HasSuffix(err.Error(), "not a file") {
		t.Errorf("got error %v", err)
	}
}
