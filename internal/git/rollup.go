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

	"github.com/gofrs/flock"
)

const (
	// maxRolledPack is the size in bytes of a pack that is no longer rolled up: the work of a roll-up
	// stays small, and the number of such packs is for `git gc` to limit.
	maxRolledPack = 1 << 20
	// maxSmallPacks is how many smaller packs there may be. Git looks through the packs one after another.
	maxSmallPacks = 20
)

// RollUpDue reports whether [Repo.RollUp] has something to do. It reads one directory.
func (r *Repo) RollUpDue() bool {
	packs, err := r.rollable()
	return err == nil && len(packs) > maxSmallPacks
}

// RollUp replaces the small packs, one of which every [Objects.Flush] leaves, by one, if they are many.
// It is to be run from a process of its own, beside which everything else goes on:
// writers, git gc and other roll-ups, of which all but one return at once.
//
// No object is lost, whatever is killed when: the old packs go, in git's own order, when the new one is in place.
// A pack that says anything about itself (.keep, .promisor, .mtimes, .bitmap)
// or that a multi-pack index may know is left alone.
func (r *Repo) RollUp(ctx context.Context) error {
	dir := filepath.Join(r.CommonDir, "agent", "locks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("roll up packs: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "packs"))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return err
	}
	defer lock.Close()
	r.dropLeftovers(time.Now())
	packs, err := r.rollable()
	if err != nil {
		return fmt.Errorf("roll up packs: %w", err)
	}
	if len(packs) <= maxSmallPacks {
		return nil
	}
	if err := r.rollUp(ctx, packs); err != nil {
		if now, e := r.rollable(); e == nil && !containsAll(now, packs) {
			return nil // somebody else has repacked meanwhile
		}
		return fmt.Errorf("roll up %d packs: %w", len(packs), err)
	}
	return nil
}

func (r *Repo) rollUp(ctx context.Context, packs []string) error {
	var in strings.Builder
	for _, name := range packs {
		in.WriteString(name + ".pack\n")
	}
	// Small objects were not compressed when they were written: don't take them over as they are.
	out, err := r.Output(ctx, strings.NewReader(in.String()), "-c", "pack.packSizeLimit=0", "-c", "pack.threads=1",
		"pack-objects", "--stdin-packs", "--no-reuse-object", "--delta-base-offset", "--quiet", filepath.Join(r.packDir(), "pack"))
	if err != nil {
		return err
	}
	fresh := strings.TrimSpace(string(out))
	if !isFile(filepath.Join(r.packDir(), "pack-"+fresh+".idx")) {
		return fmt.Errorf("git named no new pack: %q", fresh)
	}
	for _, name := range packs {
		base := filepath.Join(r.packDir(), name)
		if name == "pack-"+fresh || isFile(base+".keep") {
			continue // the new one is an old one, if that held all objects already
		}
		for _, ext := range []string{".idx", ".pack", ".rev"} { // without an index it is not a pack, for a reader who comes now
			if err := os.Remove(base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// dropLeftovers removes what a process left that died inside [Objects.Flush] more than an hour before now:
// the link that kept its pack, which is the pack itself, and a pack without an index.
func (r *Repo) dropLeftovers(now time.Time) {
	old := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && now.Sub(info.ModTime()) > time.Hour
	}
	keeps, _ := filepath.Glob(filepath.Join(r.packDir(), "pack-*.keep"))
	for _, path := range keeps {
		if old(path) && isPack(path) {
			_ = os.Remove(path)
		}
	}
	packs, _ := filepath.Glob(filepath.Join(r.packDir(), "pack-*.pack"))
	for _, path := range packs {
		if base := strings.TrimSuffix(path, ".pack"); !isFile(base+".idx") && old(path) {
			_ = os.Remove(path)
		}
	}
}

// isPack reports whether a file begins as a pack does. The .keep files of git hold text.
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

func (r *Repo) packDir() string { return filepath.Join(r.CommonDir, "objects", "pack") }

// rollable returns the names, without extension, of the packs that may be rolled up.
// Sizes are looked at only if there are enough of them.
func (r *Repo) rollable() ([]string, error) {
	entries, err := os.ReadDir(r.packDir())
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
	if len(packs) <= maxSmallPacks {
		return packs, nil
	}
	known, err := r.multiPackNames()
	if err != nil {
		return nil, err
	}
	packs = slices.DeleteFunc(packs, func(name string) bool {
		info, err := os.Stat(filepath.Join(r.packDir(), name+".pack"))
		return err != nil || info.Size() >= maxRolledPack || strings.Contains(known, "\x00"+name+".idx\x00")
	})
	slices.Sort(packs)
	return packs, nil
}

// multiPackNames returns the names of all indexes in multi-pack indexes, with a NUL before and after each.
func (r *Repo) multiPackNames() (string, error) {
	files, err := filepath.Glob(filepath.Join(r.packDir(), "multi-pack-index.d", "*.midx"))
	if err != nil {
		return "", err
	}
	names := ""
	for _, file := range append(files, filepath.Join(r.packDir(), "multi-pack-index")) {
		more, err := packNames(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read %s: %w", filepath.Base(file), err)
		}
		names += "\x00" + more + "\x00"
	}
	return names, nil
}

// packNames reads the chunk PNAM of a multi-pack index, the names of the indexes that it covers,
// each with a NUL after it; see gitformat-pack(5). The rest can be large.
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

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func containsAll(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}
