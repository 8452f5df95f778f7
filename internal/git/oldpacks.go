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

// These name the pack of the last roll-up, and of the last join, whose time they
// have, and those that it replaces, a line each. If one is lost, they are rolled
// up or joined again.
const (
	oldPacksFile    = "old-packs"
	joinedPacksFile = "joined-packs"
)

func agentDir(r *Repo) *statedir.Dir { return statedir.Of(r.CommonDir) }

func oldPacksDue(r *Repo, file string, now time.Time) bool {
	info, err := os.Lstat(agentDir(r).Path(file))
	return err == nil && now.Sub(info.ModTime()) >= oldPacksWait
}

// oldPacks returns the packs that only wait.
func oldPacks(r *Repo) []string {
	_, rolled := readOldPacks(r, oldPacksFile)
	_, joined := readOldPacks(r, joinedPacksFile)
	return append(rolled, joined...)
}

// readOldPacks reads a note. A damaged note counts as none.
func readOldPacks(r *Repo, file string) (fresh string, old []string) {
	data, _ := agentDir(r).ReadFile(file)
	fresh, rest, _ := strings.Cut(string(data), "\n")
	return fresh, strings.Fields(rest)
}

func noteOldPacks(r *Repo, file, fresh string, packs []string) error {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(packDir(r), fresh+".pack"), now, now) // git does not touch one that already existed
	note := fresh + "\n"
	for _, name := range packs {
		if name != fresh { // fresh may have held all objects already
			note += name + "\n"
		}
	}
	dir, tmp := agentDir(r), file+".new"
	if err := dir.WriteFile(tmp, []byte(note)); err != nil {
		return err
	}
	err := dir.Rename(tmp, file)
	if err != nil && dir.RemoveAll(file) == nil { // there was a directory
		err = dir.Rename(tmp, file)
	}
	return err
}

// dropOldPacks removes replaced packs, if the new pack is there and has all
// their objects. Others are forgotten, and rolled up again, as are all
// remaining ones if a `git gc` begins.
func dropOldPacks(r *Repo, file string) error {
	fresh, old := readOldPacks(r, file)
	if fresh == "" {
		return nil
	}
	defer func() { _ = agentDir(r).Remove(file) }()
	taker, err := openWhole(r, fresh)
	if err != nil {
		return nil // nothing was noted, or git has repacked the new pack
	}
	defer taker.file.Close()
	plain, err := plainPacks(r)
	if err != nil {
		return err
	}
	known, err := multiPackNames(r)
	if err != nil {
		return err
	}
	for _, name := range old {
		if !slices.Contains(plain, name) || contains(known, name) || !replaces(r, taker, name) {
			continue
		}
		if gcRuns(r, time.Now()) {
			return nil
		}
		base := filepath.Join(packDir(r), name)
		for _, ext := range []string{".idx", ".pack", ".rev"} { // the index first: without it git does not see the pack
			if err := os.Remove(base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func openWhole(r *Repo, name string) (smallPack, error) {
	p, err := openSmallPack(filepath.Join(packDir(r), name), r.Format())
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
func replaces(r *Repo, taker smallPack, name string) bool {
	old, err := openSmallPack(filepath.Join(packDir(r), name), r.Format())
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
func GCRuns(r *Repo) bool { return gcRuns(r, time.Now()) }

// gcRuns is GCRuns by git's rule: gc.pid is at most 12 hours old, and its
// process is alive or on another host. Since 2.54 `git maintenance` repacks
// under a lock without a process. It counts for an hour: a killed git may have
// left it, or a local clone copied it.
func gcRuns(r *Repo, now time.Time) bool {
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
