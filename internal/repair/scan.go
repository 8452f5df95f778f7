package repair

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

type scan struct {
	loose []string // of loose objects that are not what their names say
	packs []string // of packs or indexes that git finds wrong, without extension
}

func (r *repair) scanObjects(ctx context.Context) (s scan, err error) {
	dir := filepath.Join(r.Repo.CommonDir, "objects")
	if s.loose, err = damagedLoose(dir, r.Repo.Format()); err != nil {
		return s, err
	}
	s.packs, err = r.damagedPacks(ctx, filepath.Join(dir, "pack"))
	return s, err
}

func damagedLoose(dir string, format object.Format) ([]string, error) {
	var mu sync.Mutex
	var damaged []string
	var failed error
	paths := make(chan string)
	var workers sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for path := range paths {
				whole, err := isWhole(path, hashOf(path))
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				if err == nil && !whole {
					damaged = append(damaged, path)
				}
				mu.Unlock()
			}
		})
	}
	for b := range 256 {
		sub := filepath.Join(dir, fmt.Sprintf("%02x", b))
		entries, err := os.ReadDir(sub)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && failed == nil {
			failed = err
		}
		for _, e := range entries {
			if name := fmt.Sprintf("%02x%s", b, e.Name()); object.NewHash(name).Format() == format {
				paths <- filepath.Join(sub, e.Name())
			}
		}
	}
	close(paths)
	workers.Wait()
	slices.Sort(damaged)
	return damaged, failed
}

// isWhole reports whether a loose object's file has the content of hash, or was
// packed meanwhile. An error is about the file alone.
func isWhole(path string, hash object.Hash) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	is, err := hash.Format().LooseHash(f)
	return err == nil && is == hash, nil
}

// damagedPacks returns the packs, without extension, that git can't verify.
func (r *repair) damagedPacks(ctx context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var damaged []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pack")
		if !ok || !strings.HasPrefix(name, "pack-") {
			continue
		}
		base := filepath.Join(dir, name)
		if _, err := r.Repo.Output(ctx, nil, "verify-pack", "--", base+".idx"); err != nil {
			if git.Status(err) < 0 {
				return damaged, err
			}
			damaged = append(damaged, base)
		}
	}
	return damaged, nil
}

// A rescue takes what is whole out of a damaged pack.
type rescue struct {
	base  string // path without extension
	index []byte // a new one, if only that was wrong
	whole []object.Hash
	saved []object.Hash // whole too, though git can't read them there
	lost  []object.Hash // that git has nowhere else
	keep  string        // why the pack has to stay as it is, or empty
}

// The bounds of one object, and roughly of several, held in memory, in bytes.
const (
	maxObject = 512 << 20
	maxHeld   = 64 << 20
)

// examine looks for what is whole in a pack.
func (r *repair) examine(ctx context.Context, base string, scratch *git.Repo) (*rescue, error) {
	c := &rescue{base: base}
	fresh := filepath.Join(scratch.GitDir, filepath.Base(base)+".idx")
	if _, err := scratch.Output(ctx, nil, "index-pack", "-o", fresh, base+".pack"); err == nil {
		c.index, err = os.ReadFile(fresh)
		return c, err
	}
	if _, err := os.Lstat(base + ".promisor"); err == nil {
		c.keep = "it is from the remote of a partial clone"
	}
	indexed, err := r.Repo.PackEntries(ctx, base)
	if err != nil { // what it held is found missing, or not
		c.saved, err = r.unpack(ctx, base, 0, scratch)
		return c, err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	wanted := make([]git.Wanted, len(indexed))
	for i, e := range indexed {
		wanted[i] = git.Wanted{Hash: e.Hash, Most: maxObject}
	}
	err = objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		hash := wanted[i].Hash
		if err == nil && hash.Format().Object(obj.Type, obj.Content) == hash {
			c.whole = append(c.whole, hash)
		} else if err != nil && !git.Lost(err) {
			c.keep = err.Error()
		} else {
			c.lost = append(c.lost, hash)
		}
		return nil
	})
	if err != nil || len(c.lost) == 0 || c.keep != "" {
		return c, err
	}
	unpacked, err := r.unpack(ctx, base, len(indexed), scratch)
	there := make(map[object.Hash]bool)
	for _, hash := range unpacked {
		there[hash] = true
	}
	c.lost = slices.DeleteFunc(c.lost, func(hash object.Hash) bool {
		if there[hash] {
			c.saved = append(c.saved, hash)
		}
		return there[hash]
	})
	return c, err
}

// unpack takes objects one by one out of a damaged pack into another
// repository, and returns all that are there. Git reads nothing of a pack with
// a bad header, so unless objects, the pack's count, is 0, it gets a new one.
func (r *repair) unpack(ctx context.Context, base string, objects int, into *git.Repo) ([]object.Hash, error) {
	f, err := os.Open(base + ".pack")
	if errors.Is(err, fs.ErrNotExist) { // git has repacked
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var pack io.Reader = f
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects))
	if objects > 0 {
		pack = io.MultiReader(bytes.NewReader(header), io.NewSectionReader(f, int64(len(header)), math.MaxInt64-int64(len(header))))
	}
	if _, err := into.Output(ctx, pack, "unpack-objects", "-q", "-r"); err != nil && git.Status(err) < 0 {
		return nil, err
	}
	out, err := into.Output(ctx, nil, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	var hashes []object.Hash
	for line := range strings.Lines(string(out)) {
		hashes = append(hashes, object.NewHash(strings.TrimSpace(line)))
	}
	return hashes, err
}

// carryOut writes what is whole into new packs, and puts the old pack away.
func (r *repair) carryOut(ctx context.Context, c *rescue, scratch *git.Repo) error {
	if c.index != nil {
		for _, ext := range []string{".idx", ".rev", ".bitmap"} {
			if err := r.aside(c.base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := r.dropMultiPackIndex(); err != nil {
			return err
		}
		return writeNew(c.base+".idx", c.index)
	}
	if err := r.copy(ctx, r.Repo, c.whole); err != nil {
		return err
	}
	if err := r.copy(ctx, scratch, c.saved); err != nil {
		return err
	}
	if err := r.dropMultiPackIndex(); err != nil {
		return err
	}
	for _, ext := range []string{".idx", ".rev", ".bitmap", ".mtimes", ".keep", ".pack"} {
		if err := r.aside(c.base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r *repair) copy(ctx context.Context, from *git.Repo, list []object.Hash) (err error) {
	for len(list) > 0 && err == nil {
		list, err = r.copySome(ctx, from, list)
	}
	return err
}

// copySome copies the first of some objects, and returns the rest.
func (r *repair) copySome(ctx context.Context, there *git.Repo, list []object.Hash) (rest []object.Hash, err error) {
	from, to := there.Objects(ctx), r.Repo.Objects(ctx)
	defer from.Close()
	defer to.Close()
	held := 0
	for i, hash := range list {
		err := from.Each([]git.Wanted{{Hash: hash, Most: maxObject}}, func(_ int, obj *git.Object, err error) error {
			if err != nil {
				return err
			}
			held += len(obj.Content)
			_, err = to.Write(obj.Type, obj.Content)
			return err
		})
		if err != nil {
			return nil, err
		}
		if held > maxHeld {
			return list[i+1:], to.Flush()
		}
	}
	return nil, to.Flush()
}

// dropMultiPackIndex puts away the index of all packs, as one of them changes.
func (r *repair) dropMultiPackIndex() error {
	for _, path := range r.Repo.Glob("objects/pack/multi-pack-index*") {
		if err := r.aside(path); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a read-only file that must not exist, renamed when complete.
func writeNew(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "tmp_idx_")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o444)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
