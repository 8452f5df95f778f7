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

// oldPacksWait is how long replaced packs stay, if no roll-up comes first, for
// a git that has listed them.
const oldPacksWait = time.Hour

// oldPacksFile names the pack of the last roll-up, whose time it has, and those
// that it replaces, a line each. If it is lost, they are rolled up again.
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

func (r *Repo) noteOldPacks(fresh string, packs []string) error {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(r.packDir(), fresh+".pack"), now, now) // git does not touch one that already existed
	note := fresh + "\n"
	for _, name := range packs {
		if name != fresh { // fresh may have held all objects already
			note += name + "\n"
		}
	}
	dir, tmp := r.agentDir(), oldPacksFile+".new"
	if err := dir.WriteFile(tmp, []byte(note)); err != nil {
		return err
	}
	return dir.Rename(tmp, oldPacksFile)
}

// dropOldPacks removes replaced packs, if the new pack is there and has all
// their objects. Others are forgotten, and rolled up again, as are all
// remaining ones if a `git gc` begins.
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
		for _, ext := range []string{".idx", ".pack", ".rev"} { // the index first: without it git does not see the pack
			if err := os.Remove(base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

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

// replaces reports whether taker has every object of a pack and is not older:
// git prunes by time, and a process that wrote the pack again relies on its new
// time.
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

// GCRuns reports whether a `git gc` is running, as git itself would judge.
func (r *Repo) GCRuns() bool { return r.gcRuns(time.Now()) }

// gcRuns is GCRuns by git's rule: gc.pid is at most 12 hours old, and its
// process is alive or on another host. Since 2.54 `git maintenance` repacks
// under a lock without a process. It counts for an hour: a killed git may have
// left it, or a local clone copied it.
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
		return false // a dead process on Windows; never an error elsewhere
	}
	defer process.Release()
	return !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
