package git

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gcRuns reports whether a `git gc` is running, judged by its gc.pid as git itself does: the file
// is at most 12 hours old, and the process that it names is alive or on another host.
func (r *Repo) gcRuns(now time.Time) bool {
	f, err := os.Open(filepath.Join(r.CommonDir, "gc.pid"))
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || now.Sub(info.ModTime()) > 12*time.Hour {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return false
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return false
	}
	if host, err := os.Hostname(); err != nil || host != fields[1] {
		return true
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false // a dead process, on Windows; elsewhere this never fails
	}
	defer process.Release()
	return !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
