package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gitagent/internal/local"
)

// oldPacksWait is how long packs stay after a roll-up has replaced them, unless the next roll-up
// comes first: a git that has already listed them can still open them.
const oldPacksWait = time.Hour

// oldPacks are the packs that the last roll-up has replaced. They are noted in a file whose time is
// that of the roll-up: a line with the name of the pack that replaced them, then a line for each
// old pack with its name and its time in nanoseconds. Without it they are rolled up again.
type oldPacks struct {
	fresh string
	times map[string]int64 // of the .pack files, by name: a changed time means another pack
}

const oldPacksFile = "old-packs"

func (r *Repo) agentDir() *local.Dir { return local.In(r.CommonDir, "agent") }

func (r *Repo) oldPacksDue(now time.Time) bool {
	info, err := os.Lstat(r.agentDir().Path(oldPacksFile))
	return err == nil && now.Sub(info.ModTime()) >= oldPacksWait
}

// readOldPacks reads the note. A damaged note counts as none.
func (r *Repo) readOldPacks() oldPacks {
	data, _ := r.agentDir().ReadFile(oldPacksFile)
	first, rest, _ := strings.Cut(string(data), "\n")
	old := oldPacks{fresh: first, times: make(map[string]int64)}
	for line := range strings.Lines(rest) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if at, err := strconv.ParseInt(text, 10, 64); err == nil {
			old.times[name] = at
		}
	}
	return old
}

// noteOldPacks checks that fresh holds everything in the packs, and notes that it replaces them.
func (r *Repo) noteOldPacks(fresh string, packs []string) error {
	taker, err := r.openWhole(fresh)
	if err != nil {
		return fmt.Errorf("confirm %s: %w", fresh, err)
	}
	defer taker.file.Close()
	var note strings.Builder
	note.WriteString(fresh + "\n")
	for _, name := range packs {
		info, err := os.Stat(filepath.Join(r.packDir(), name+".pack"))
		if errors.Is(err, fs.ErrNotExist) || name == fresh {
			continue // git has repacked it meanwhile; fresh is an old pack if that held all objects already
		}
		if err == nil {
			err = r.holds(taker, name)
		}
		if err != nil {
			return fmt.Errorf("confirm %s: %w", fresh, err)
		}
		fmt.Fprintf(&note, "%s %d\n", name, info.ModTime().UnixNano())
	}
	dir, tmp := r.agentDir(), oldPacksFile+".new"
	if err := dir.WriteFile(tmp, []byte(note.String())); err != nil {
		return err
	}
	return dir.Rename(tmp, oldPacksFile)
}

// dropOldPacks removes the packs that the last roll-up has replaced, if they are unchanged and the
// pack that replaced them is still there and holds everything in them. The others are forgotten,
// and rolled up again. If a `git gc` begins, the rest are all forgotten.
func (r *Repo) dropOldPacks() error {
	old := r.readOldPacks()
	defer func() { _ = r.agentDir().Remove(oldPacksFile) }()
	taker, err := r.openWhole(old.fresh)
	if err != nil {
		return nil // nothing was noted, or git has repacked the new pack
	}
	defer taker.file.Close()
	plain, err := r.plainPacks()
	if err != nil {
		return err
	}
	known, err := r.multiPackNames()
	if err != nil {
		return err
	}
	for name, at := range old.times {
		base := filepath.Join(r.packDir(), name)
		info, err := os.Stat(base + ".pack")
		if err != nil || info.ModTime().UnixNano() != at || !slices.Contains(plain, name) || contains(known, name) || r.holds(taker, name) != nil {
			continue
		}
		if r.gcRuns(time.Now()) {
			return nil
		}
		for _, ext := range []string{".idx", ".pack", ".rev"} { // the index first: without it the pack is not seen
			if err := os.Remove(base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// openWhole opens a pack, and checks that its index belongs to it.
func (r *Repo) openWhole(name string) (smallPack, error) {
	p, err := openSmallPack(filepath.Join(r.packDir(), name), r.Format())
	if err != nil {
		return p, err
	}
	want := p.index.checksum()
	sum := make([]byte, len(want))
	end, err := p.file.Seek(-int64(len(sum)), io.SeekEnd)
	if err == nil {
		_, err = p.file.ReadAt(sum, end)
	}
	if err == nil && !bytes.Equal(sum, want) {
		err = errors.New("the index is another pack's")
	}
	if err != nil {
		_ = p.file.Close()
	}
	return p, err
}

// holds returns an error if taker lacks an object of the named pack.
func (r *Repo) holds(taker smallPack, name string) error {
	old, err := openSmallPack(filepath.Join(r.packDir(), name), r.Format())
	if err != nil {
		return err
	}
	defer old.file.Close()
	for i := range old.index.objects() {
		h := old.index.format.Hash(old.index.name(i))
		if _, ok := taker.index.find(h); !ok {
			return fmt.Errorf("object %s of %s is not in it", h, name)
		}
	}
	return nil
}

// GCRuns reports whether a `git gc` is running in the repository, as git itself would judge.
func (r *Repo) GCRuns() bool { return r.gcRuns(time.Now()) }

// gcRuns reports whether a `git gc` is running, judged by its gc.pid as git itself does: the file
// is at most 12 hours old, and the process that it names is alive or on another host. From 2.54 on, `git maintenance`
// repacks by itself, and has a lock that names no process: that counts for an hour, as one may be left by a killed git,
// or copied by a `git clone` on the same machine.
func (r *Repo) gcRuns(now time.Time) bool {
	if info, err := os.Stat(filepath.Join(r.CommonDir, "objects", "maintenance.lock")); err == nil && now.Sub(info.ModTime()) <= time.Hour {
		return true
	}
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
