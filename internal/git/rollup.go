package git

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxRolledPack is the size from which packs are not rolled up, which keeps
	// roll-ups short; `git gc` limits their number.
	maxRolledPack = 1 << 20
	// maxSmallPacks is how many smaller packs may exist, and maxIdlePacks how many
	// of them may be older than [oldPacksWait]. Git searches each.
	maxSmallPacks = 20
	maxIdlePacks  = 10
)

// RollUpDue reports whether [RollUp] has work. It reads one directory.
func RollUpDue(r *Repo) bool {
	now := time.Now()
	packs, err := rollable(r)
	return err == nil && (tooMany(r, packs, now) || oldPacksDue(r, oldPacksFile, now) || oldPacksDue(r, joinedPacksFile, now)) && !gcRuns(r, now)
}

// tooMany reports whether packs are to be rolled up. While events come fast more
// may be there, as what a roll-up replaces stays beside it for a while.
func tooMany(r *Repo, packs []string, now time.Time) bool {
	if len(packs) > maxSmallPacks {
		return true
	}
	idle := 0
	for _, name := range packs {
		if info, err := os.Lstat(filepath.Join(packDir(r), name+".pack")); err == nil && now.Sub(info.ModTime()) >= oldPacksWait {
			idle++
		}
	}
	return idle > maxIdlePacks
}

// RollUp replaces small packs, of each [Objects.Flush] or [Join], by one. It
// should run in its own process, beside any writers and git gc; of several
// roll-ups all but one return at once.
//
// No kill loses objects. The old packs stay until the next roll-up or for an
// hour, for gits that have listed them, and go only if the new pack still has
// all their objects. It does nothing during a `git gc`, and skips packs with
// other files (.keep, .promisor, .mtimes, .bitmap) or that a multi-pack index
// may cover.
func RollUp(ctx context.Context, r *Repo) error {
	held, err := agentDir(r).TryLock(filepath.Join("locks", "packs"))
	if held == nil {
		return err
	}
	defer held.Release()
	now := time.Now()
	if gcRuns(r, now) {
		return nil
	}
	dropLeftovers(r, now)
	packs, err := rollable(r)
	if err != nil {
		return fmt.Errorf("roll up packs: %w", err)
	}
	due := tooMany(r, packs, now)
	for _, note := range []string{oldPacksFile, joinedPacksFile} {
		if due && note == oldPacksFile || oldPacksDue(r, note, now) {
			if err := dropOldPacks(r, note); err != nil {
				return fmt.Errorf("remove packs that were rolled up: %w", err)
			}
		}
	}
	if !due || gcRuns(r, time.Now()) {
		return nil
	}
	if err := rollUp(ctx, r, packs); err != nil {
		now, e := rollable(r)
		if e == nil && slices.ContainsFunc(packs, func(name string) bool { return !slices.Contains(now, name) }) {
			return nil // another process has repacked meanwhile
		}
		return fmt.Errorf("roll up %d packs: %w", len(packs), err)
	}
	return nil
}

func rollUp(ctx context.Context, r *Repo, packs []string) error {
	var in strings.Builder
	for _, name := range packs {
		in.WriteString(name + ".pack\n")
	}
	// Small objects were stored uncompressed, so git must not reuse them.
	out, err := r.Output(ctx, strings.NewReader(in.String()),
		"pack-objects", "--stdin-packs", "--no-reuse-object", "--delta-base-offset", "--quiet", filepath.Join(packDir(r), "pack"))
	if err != nil {
		return err
	}
	fresh := "pack-" + strings.TrimSpace(string(out))
	base := filepath.Join(packDir(r), fresh)
	for _, ext := range []string{".pack", ".idx", ".rev"} {
		if err := r.Give(ctx, base+ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return noteOldPacks(r, oldPacksFile, fresh, packs)
}

// dropLeftovers removes what a [Objects.Flush] killed over an hour ago left:
// the .keep, a link to the pack, and a pack without an index.
func dropLeftovers(r *Repo, now time.Time) {
	old := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && now.Sub(info.ModTime()) > time.Hour
	}
	for _, path := range r.Glob("objects/pack/pack-*.keep") {
		if old(path) && isPack(path) {
			_ = os.Remove(path)
		}
	}
	for _, path := range r.Glob("objects/pack/pack-*.pack") {
		if base := strings.TrimSuffix(path, ".pack"); !isFile(base+".idx") && old(path) {
			_ = os.Remove(path)
		}
	}
}

// isPack reports whether a file is a pack, as our .keep is; git's has text.
func isPack(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "PACK"
}

func packDir(r *Repo) string { return filepath.Join(r.CommonDir, "objects", "pack") }

// rollable returns the packs to roll up. It reads sizes only if there are
// enough.
func rollable(r *Repo) ([]string, error) {
	packs, err := plainPacks(r)
	if err != nil || len(packs) <= maxIdlePacks {
		return packs, err
	}
	known, err := multiPackNames(r)
	if err != nil {
		return nil, err
	}
	old := oldPacks(r)
	packs = slices.DeleteFunc(packs, func(name string) bool {
		if slices.Contains(old, name) || contains(known, name) {
			return true
		}
		info, err := os.Stat(filepath.Join(packDir(r), name+".pack"))
		return err != nil || info.Size() >= maxRolledPack
	})
	slices.Sort(packs)
	return packs, nil
}

// plainPacks returns the names, unordered, of packs with only an index.
func plainPacks(r *Repo) ([]string, error) {
	entries, err := os.ReadDir(packDir(r))
	if err != nil {
		return nil, err
	}
	extensions := make(map[string][]string)
	for _, e := range entries {
		name, ext, _ := strings.Cut(e.Name(), ".")
		extensions[name] = append(extensions[name], ext)
	}
	var packs []string
	for name, have := range extensions {
		slices.Sort(have)
		if slices.Equal(have, []string{"idx", "pack"}) || slices.Equal(have, []string{"idx", "pack", "rev"}) {
			packs = append(packs, name)
		}
	}
	return packs, nil
}

// multiPackNames returns all indexes in multi-pack indexes, between NULs.
func multiPackNames(r *Repo) (string, error) {
	names := ""
	for _, file := range append(r.Glob("objects/pack/multi-pack-index.d/*.midx"), filepath.Join(packDir(r), "multi-pack-index")) {
		more, err := packNames(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read %s: %w", filepath.Base(file), err)
		}
		names += "\x00" + more + "\x00"
	}
	return names, nil
}

func contains(names, pack string) bool { return strings.Contains(names, "\x00"+pack+".idx\x00") }

// packNames reads chunk PNAM of a multi-pack index: its indexes, each with NUL;
// see gitformat-pack(5).
func packNames(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var head struct {
		Magic                                    [4]byte
		Version, ObjectFormat, Chunks, BaseFiles uint8
		Packs                                    uint32
	}
	if err := binary.Read(f, binary.BigEndian, &head); err != nil {
		return "", err
	}
	chunks := make([]struct {
		ID     [4]byte
		Offset uint64
	}, int(head.Chunks)+1)
	if err := binary.Read(f, binary.BigEndian, chunks); err != nil {
		return "", err
	}
	for i, c := range chunks[:head.Chunks] {
		if string(c.ID[:]) == "PNAM" {
			size := chunks[i+1].Offset - c.Offset
			if size > uint64(head.Packs+1)*256 {
				break
			}
			names := make([]byte, size)
			_, err := f.ReadAt(names, int64(c.Offset))
			return string(names), err
		}
	}
	return "", errors.New("not a multi-pack index that we know")
}
