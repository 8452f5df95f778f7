package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// What the process began with: tests get a home of their own, and may work elsewhere.
var (
	cache, errCache = os.UserCacheDir()
	begunIn, _      = os.Getwd()
)

// EachTmux runs f with the path of each tmux: the one in PATH, and from make check on the newest that Debian has, which
// .ci/tmux-newest puts into the user's cache. In CI the first may not be missing, and in make nightly neither, which
// installs the other or brings it up to date.
func EachTmux(t *testing.T, f func(t *testing.T, tmux string)) {
	t.Helper()
	t.Run("tmux", func(t *testing.T) { f(t, Tmux(t)) })
	if !Checking() {
		return
	}
	t.Run("newest", func(t *testing.T) {
		path, err := newestTmux()
		if err != nil {
			missing(t, Whole(), err)
		}
		f(t, path)
	})
}

// Tmux returns the path of the tmux in PATH.
func Tmux(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		missing(t, true, fmt.Errorf("tmux is missing"))
	}
	return path
}

// UseTmux makes a tmux the one in PATH.
func UseTmux(t testing.TB, tmux string) {
	t.Helper()
	t.Setenv("PATH", filepath.Dir(tmux)+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// missing ends a test that lacks a tool: it fails where CI must have it.
func missing(t testing.TB, must bool, err error) {
	t.Helper()
	if must && os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

var newestTmux = sync.OnceValues(func() (path string, err error) {
	if errCache != nil {
		return "", errCache
	}
	dir := filepath.Join(cache, "tmux-newest")
	path = filepath.Join(dir, "bin", "tmux")
	var said []byte
	if Whole() {
		said, _ = exec.Command("bash", filepath.Join(module(), ".ci", "tmux-newest"), dir).CombinedOutput()
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the newest tmux, which .ci/tmux-newest installs, is missing\n%s", said)
	}
	return path, nil
})

// module returns this module's directory.
func module() string {
	cmd := exec.Command("go", "env", "GOMOD")
	cmd.Dir = begunIn
	out, _ := cmd.Output()
	return filepath.Dir(strings.TrimSpace(string(out)))
}
