package objectpurge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// rewritePack writes a new pack of the same kind and age without the doomed
// objects of list, the pack's index. Git sees it once its index is there.
func (e *eraser) rewritePack(ctx context.Context, name string, list []git.PackEntry) error {
	old := filepath.Join(e.packDir(), name)
	info, err := os.Stat(old + ".pack")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // only its index is left, see trashPack
	}
	if err != nil {
		return err
	}
	mtimes, err := readMtimes(old+".mtimes", e.repo.Format())
	if err != nil {
		return err
	}
	if mtimes != nil && len(mtimes) < len(list) {
		return fmt.Errorf("%s.mtimes is too short", name)
	}
	var keep []git.PackEntry
	var times []uint32
	for i, o := range list {
		if e.doomed[o.Hash] {
			continue
		}
		keep = append(keep, o)
		if mtimes != nil {
			times = append(times, mtimes[i])
		}
	}
	if len(keep) == 0 {
		return nil
	}
	slices.SortFunc(keep, func(a, b git.PackEntry) int { return cmp.Compare(a.Offset, b.Offset) }) // for locality
	var in bytes.Buffer
	for _, o := range keep {
		in.WriteString(o.Hash.String() + "\n")
	}
	base, err := e.pack(ctx, &in, isFile(old+".rev"))
	if err != nil {
		return err
	}
	for _, ext := range []string{".keep", ".promisor"} {
		if err := carry(old+ext, base+ext); err != nil {
			return err
		}
	}
	if mtimes != nil {
		if err := writeMtimes(base, times, e.repo.Format()); err != nil {
			return err
		}
	}
	return e.install(ctx, filepath.Base(base), info.ModTime())
}

// install moves a new pack to the others, the index last.
func (e *eraser) install(ctx context.Context, name string, at time.Time) error {
	files := inOrder(e.repo.Glob("objects/"+tempName+"/pack/"+name+".*"), ".keep")
	e.clean[name] = true
	there := isFile(filepath.Join(e.packDir(), name+".idx")) // before we were killed, or of an identical pack
	for _, file := range files {
		to := filepath.Join(e.packDir(), filepath.Base(file))
		if there && (isFile(to) || strings.HasSuffix(file, ".mtimes")) {
			continue
		}
		if err := os.Chtimes(file, at, at); err != nil {
			return err
		}
		if err := e.repo.Give(ctx, file); err != nil {
			return err
		}
		if err := os.Rename(file, to); err != nil {
			return err
		}
	}
	return nil
}

// inOrder sorts files of packs: the extension first in front, and last the
// indexes, without which git does not see a pack.
func inOrder(files []string, first string) []string {
	rank := map[string]int{first: -1, ".idx": 1}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(rank[filepath.Ext(a)], rank[filepath.Ext(b)]) })
	return files
}

// pack has git write a pack, and returns its path without extension. Deltas are
// reused if their bases stay. With one thread a repetition makes the same pack.
func (e *eraser) pack(ctx context.Context, names *bytes.Buffer, reverse bool) (base string, err error) {
	if err := e.makeTemp(); err != nil {
		return "", err
	}
	base = filepath.Join(e.temp, "pack", "pack")
	out, err := e.repo.With(git.Env("GIT_OBJECT_DIRECTORY="+e.temp)).Output(ctx, names,
		"-c", fmt.Sprintf("pack.writeReverseIndex=%t", reverse), "pack-objects", "--delta-base-offset", "--quiet", base)
	return base + "-" + strings.TrimSpace(string(out)), err
}

// makeTemp makes an object directory of our own, found again after a kill. It
// borrows from the repository's and the trash.
func (e *eraser) makeTemp() error {
	for _, dir := range []string{"info", "pack"} {
		if err := os.MkdirAll(filepath.Join(e.temp, dir), 0o777); err != nil {
			return err
		}
	}
	others := "..\n"
	if _, err := os.Lstat(e.aside); err == nil {
		others += "../" + asideName + "\n"
	}
	return os.WriteFile(filepath.Join(e.temp, "info", "alternates"), []byte(others), 0o666)
}

// carry copies a small file of a pack. A .keep that is the pack itself, which
// [git.Objects.Flush] makes for a moment, stays behind.
func carry(from, to string) error {
	content, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) || bytes.HasPrefix(content, []byte("PACK")) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o444)
}

// trashPack moves a pack to the trash, objects first and the index last. Git
// ignores an index without a pack, and a repetition sees what is left to do.
func (e *eraser) trashPack(name string) error {
	for _, file := range inOrder(e.repo.Glob("objects/pack/"+name+".*"), ".pack") {
		if err := e.trash(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// mtimesHead returns the head of a cruft pack's times, see gitformat-pack(5).
func mtimesHead(format object.Format) []byte {
	return append([]byte("MTME\x00\x00\x00\x01\x00\x00\x00"), byte(format))
}

// readMtimes returns a cruft pack's times in index order, or nil.
func readMtimes(file string, format object.Format) ([]uint32, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	head, end := mtimesHead(format), len(data)-2*format.Size()
	if end < len(head) || !bytes.HasPrefix(data, head) {
		return nil, fmt.Errorf("%s is not what git writes", filepath.Base(file))
	}
	times := make([]uint32, (end-len(head))/4)
	_, err = binary.Decode(data[len(head):], binary.BigEndian, times)
	return times, err
}

func writeMtimes(base string, times []uint32, format object.Format) error {
	_, name, _ := strings.Cut(filepath.Base(base), "-")
	sum, err := hex.DecodeString(name)
	if err != nil {
		return err
	}
	data, err := binary.Append(mtimesHead(format), binary.BigEndian, times)
	if err != nil {
		return err
	}
	data = append(data, sum...)
	all := format.Checksum(data)
	return os.WriteFile(base+".mtimes", append(data, all.Bytes()...), 0o444)
}
