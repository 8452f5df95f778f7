package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

const (
	// manyYoung is how many young packs are joined: those of few objects, as
	// events write them. Each has whole copies of trees that differ by an entry.
	manyYoung = 4
	// maxJoined bounds the bytes of packs that are joined at once, and those of
	// objects that are looked into for it.
	maxJoined = 4 << 20
)

// Join puts the packs of the last events together, if there are several: one
// pack, in which older versions are deltas of later ones. It takes a millisecond.
// Like [RollUp] it may run beside any writers and git gc, and the old packs stay
// until the next one, or for an hour; that one goes over all objects once more.
func Join(ctx context.Context, r *Repo) error {
	young, err := youngPacks(r)
	if err != nil || len(young) < manyYoung {
		return err
	}
	held, err := agentDir(r).TryLock(filepath.Join("locks", "packs"))
	if held == nil {
		return err
	}
	defer held.Release()
	if gcRuns(r, time.Now()) {
		return nil
	}
	if err := dropOldPacks(r, joinedPacksFile); err != nil {
		return fmt.Errorf("remove packs that were joined: %w", err)
	}
	if young, err = youngPacks(r); err != nil || len(young) < manyYoung { // again, as another process may have come first
		return err
	}
	if err := join(ctx, r, young); err != nil {
		return fmt.Errorf("join %d packs: %w", len(young), err)
	}
	return nil
}

// youngPacks returns the packs to join, the oldest first.
func youngPacks(r *Repo) ([]string, error) {
	packs, err := plainPacks(r)
	if err != nil || len(packs) < manyYoung {
		return nil, err
	}
	old := oldPacks(r)
	times := make(map[string]time.Time)
	packs = slices.DeleteFunc(packs, func(name string) bool {
		few, written := fewObjects(r, name)
		times[name] = written
		if !few || slices.Contains(old, name) {
			return true
		}
		info, err := os.Lstat(filepath.Join(packDir(r), name+".pack"))
		return err != nil || info.Size() >= maxRolledPack
	})
	if len(packs) < manyYoung {
		return nil, nil
	}
	known, err := multiPackNames(r)
	if err != nil {
		return nil, err
	}
	packs = slices.DeleteFunc(packs, func(name string) bool { return contains(known, name) })
	slices.SortFunc(packs, func(a, b string) int { return times[a].Compare(times[b]) })
	return packs, nil
}

// fewObjects reports whether a pack has as few objects as an event writes, by its
// index's size, and when it was written.
func fewObjects(r *Repo, name string) (few bool, written time.Time) {
	info, err := os.Lstat(filepath.Join(packDir(r), name+".idx"))
	if err != nil {
		return false, time.Time{}
	}
	size := r.Format().Size()
	return info.Size() < int64(namesAt+manyObjects*(size+perObject)+2*size), info.ModTime()
}

// A stored is an object of a pack that is to be joined.
type stored struct {
	Object        // without content if that is not needed
	entry  []byte // as the pack has it; nil for a delta
}

// join writes a pack with all that some packs have, but for those that are too
// large or can't be read.
func join(ctx context.Context, r *Repo, names []string) error {
	var all []stored
	var joined []string
	known := make(map[object.Hash]bool)
	room := int64(maxJoined)
	for _, name := range names {
		list, size, err := readYoung(r, name, room)
		if err != nil {
			continue // git will report it
		}
		room -= size
		joined = append(joined, name)
		for _, s := range list {
			if !known[s.Hash] {
				known[s.Hash] = true
				all = append(all, s)
			}
		}
	}
	if len(joined) < 2 {
		return nil
	}
	p := newPacking(r.Format(), len(all))
	var whole []*Object
	for i := range all {
		if all[i].Content != nil {
			whole = append(whole, &all[i].Object)
		}
	}
	p.find(whole)
	for _, s := range slices.Backward(all) {
		if _, changed := p.next[s.Hash]; s.entry != nil && !changed && (s.Content == nil || len(s.entry) < len(s.Content)) {
			p.copy(s.Hash, s.entry)
		} else {
			p.add(&s.Object, false)
		}
	}
	pack, index, err := p.end()
	if err != nil {
		return err
	}
	fresh, err := r.putPack(ctx, pack, index)
	if err != nil {
		return err
	}
	return noteOldPacks(r, joinedPacksFile, fresh, joined)
}

// errNotJoined is why a pack stays as it is.
var errNotJoined = errors.New("the pack is not joined")

// readYoung reads a pack's objects in the order in which they were written, and
// how many bytes that takes, at most room.
func readYoung(r *Repo, name string, room int64) (list []stored, size int64, err error) {
	p, err := openSmallPack(filepath.Join(packDir(r), name), r.Format())
	if err != nil {
		return nil, 0, err
	}
	defer p.file.Close()
	info, err := p.file.Stat()
	if err != nil || info.Size() > room || !p.index.small() {
		return nil, 0, errors.Join(err, errNotJoined)
	}
	data := make([]byte, info.Size())
	if _, err := p.file.ReadAt(data, 0); err != nil {
		return nil, 0, err
	}
	size = int64(len(data))
	n := p.index.objects()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(p.index.offsetAt(b) - p.index.offsetAt(a)) }) // see [encodePack]
	end := size - int64(p.index.size)
	var e entryReader
	for _, i := range order {
		start := p.index.offsetAt(i)
		if start < 12 || start >= end {
			return nil, 0, errNotJoined
		}
		entry := data[start:end]
		end = start
		if crc32.ChecksumIEEE(entry) != uint32(p.index.number(namesAt+n*p.index.size+4*i)) {
			return nil, 0, errNotJoined
		}
		s := stored{Object: Object{Hash: p.index.format.Hash(p.index.name(i))}, entry: entry}
		t, length, err := readHeader(bytes.NewReader(entry))
		if err != nil {
			return nil, 0, err
		}
		s.Type = t
		if t.IsDelta() {
			s.entry = nil
		}
		if t != plumbing.BlobObject || length <= maxLooked {
			if s.Type, s.Content = e.object(p, start, room-size); s.Type == plumbing.InvalidObject {
				return nil, 0, errNotJoined
			}
			size += int64(len(s.Content))
		}
		list = append(list, s)
	}
	return list, size, nil
}

// maxLooked is the largest blob of which a later version is looked for: as a
// rule conversations are larger, which have none.
const maxLooked = 16 << 10
