package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gitagent/internal/statedir"
)

// oldPacksWait is how long packs stay after a roll-up has replaced them, unless the next roll-up
// comes first: a git that has already listed them can still open them.
const oldPacksWait = time.Hour

// oldPacksFile names the pack that the last roll-up has written, and those that it replaces, one a line.
// Its time is that of the roll-up. Without it they are rolled up again.
const oldPacksFile = "old-packs"

func (r *Repo) agentDir() *statedir.Dir { return statedir.In(r.CommonDir, "agent") }

func (r *Repo) oldPacksDue(now time.Time) bool {
	info, err := os.Lstat(r.agentDir().Path(oldPacksFile))
	return err == nil && now.Sub(info.ModTime()) >= oldPacksWait
}

// readOldPacks reads the note. A damaged note counts as none.
func (r *Repo) readOldPacks() (fresh string, old []string) {
	data, _ := r.agentDir().ReadFile(oldPacksFile)
	fresh, rest, _ := strings.Cut(string(data), "\n")
	return fresh, strings.Fields(rest)
}

// noteOldPacks notes that fresh replaces the packs.
func (r *Repo) noteOldPacks(fresh string, packs []string) error {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(r.packDir(), fresh+".pack"), now, now) // git leaves one alone that was there already
	note := fresh + "\n"
	for _, name := range packs {
		if name != fresh { // which may have held all objects already
			note += name + "\n"
		}
	}
	dir, tmp := r.agentDir(), oldPacksFile+".new"
	if err := dir.WriteFile(tmp, []byte(note)); err != nil {
		return err
	}
	return dir.Rename(tmp, oldPacksFile)
}

// dropOldPacks removes the packs that the last roll-up has replaced, if the pack that replaced them is
// still there and makes up for them. The others are forgotten, and rolled up again. If a `git gc`
// begins, the rest are all forgotten.
func (r *Repo) dropOldPacks() error {
	fresh, old := r.readOldPacks()
	defer func() { _ = r.agentDir().Remove(oldPacksFile) }()
	taker, err := r.openWhole(fresh)
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
	for _, name := range old {
		if !slices.Contains(plain, name) || contains(known, name) || !r.replaces(taker, name) {
			continue
		}
		if r.gcRuns(time.Now()) {
			return nil
		}
		base := filepath.Join(r.packDir(), name)
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

// replaces reports whether taker has every object of the named pack, and is as young: git prunes by the
// time of a pack, and whoever has written that one again since counts on its own.
func (r *Repo) replaces(taker smallPack, name string) bool {
	old, err := openSmallPack(filepath.Join(r.packDir(), name), r.Format())
	if err != nil {
		return false
	}
	defer old.file.Close()
	was, err := old.file.Stat()
	is, e := taker.file.Stat()
	if err != nil || e != nil || was.ModTime().After(is.ModTime()) {
		return false
	}
	for i := range old.index.objects() {
		if _, ok := taker.index.find(old.index.format.Hash(old.index.name(i))); !ok {
			return false
		}
	}
	return true
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
