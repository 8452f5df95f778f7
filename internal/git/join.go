package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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
	manyYoung = 6
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
	if err := join(ctx, r, young, maxJoined, true); err != nil {
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

// Gather puts all packs that a [RollUp] would take together as they are, as after
// an import, whose packs have their deltas. It may run beside others like that.
func Gather(ctx context.Context, r *Repo) error {
	held, err := agentDir(r).TryLock(filepath.Join("locks", "packs"))
	if held == nil {
		return err
	}
	defer held.Release()
	now := time.Now()
	if gcRuns(r, now) {
		return nil
	}
	packs, err := rollable(r)
	if err == nil && tooMany(r, packs, now) {
		if err = dropOldPacks(r, joinedPacksFile); err == nil {
			err = join(ctx, r, packs, maxGathered, false)
		}
	}
	if err != nil {
		return fmt.Errorf("gather packs: %w", err)
	}
	return nil
}

const (
	// maxGathered bounds the bytes of packs that are gathered, which are in memory twice.
	maxGathered = 4 << 20
	// maxHead is the most that comes before an entry's data: type, size and distance.
	maxHead = 20
)

// An entry is an object of a pack that is to be joined.
type entry struct {
	Object             // without content if no version of it is looked for
	base   object.Hash // of a delta
	size   int64       // of what data has
	data   []byte      // compressed, or stored
}

// join writes a pack with all that some packs have, but for those that are too
// large or can't be read. Of what changed it makes deltas, or takes all as it is.
func join(ctx context.Context, r *Repo, names []string, room int64, deltas bool) error {
	var all []entry // the newest first, each before what is a delta of it
	var joined []string
	known := make(map[object.Hash]bool)
	for _, name := range slices.Backward(names) {
		list, size, err := readEntries(r, name, room, deltas)
		if err != nil {
			continue // git will report it
		}
		room -= size
		joined = append(joined, name)
		for _, e := range list {
			if !known[e.Hash] {
				known[e.Hash] = true
				all = append(all, e)
			}
		}
	}
	if len(joined) < 2 {
		return nil
	}
	p := newPacking(r.Format(), len(all))
	var objects []*Object
	size := 0
	for i := range all {
		size += maxHead + len(all[i].data)
		if all[i].Content != nil {
			objects = append(objects, &all[i].Object)
		}
	}
	p.find(objects)
	p.buf.Grow(size)
	for i := range all {
		e := &all[i]
		_, again := p.next[e.Hash]
		if !e.base.IsZero() {
			again = p.depth[e.base].deltas >= maxChain
		}
		if e.Content != nil && (again || len(e.data) > len(e.Content)) {
			p.add(&e.Object, false)
		} else {
			p.copy(e)
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

// readEntries reads a pack's entries, in its order, with the contents of those
// that may have versions. It tells how many bytes that takes, at most room.
func readEntries(r *Repo, name string, room int64, contents bool) (list []entry, size int64, err error) {
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
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.index.offsetAt(a), p.index.offsetAt(b)) })
	at := make(map[int64]object.Hash, n)
	var reader entryReader
	for k, i := range order {
		start, end := p.index.offsetAt(i), int64(len(data)-p.index.size)
		if k+1 < n {
			end = p.index.offsetAt(order[k+1])
		}
		if start < packHead || start >= end || end > int64(len(data)) || crc32.ChecksumIEEE(data[start:end]) != p.index.checksumAt(i) {
			return nil, 0, errNotJoined
		}
		e, err := parseEntry(data[start:end], func(back int64) object.Hash { return at[start-back] }, p.index.format)
		if err != nil {
			return nil, 0, err
		}
		if e.Hash = p.index.format.Hash(p.index.name(i)); !e.base.IsZero() && p.index.offset(e.base) >= start {
			return nil, 0, errNotJoined // a delta before its base
		}
		at[start] = e.Hash
		if contents && (e.Type != plumbing.BlobObject || e.size <= maxLooked) {
			if e.Type, e.Content = reader.object(p, start, room-size); e.Type == plumbing.InvalidObject {
				return nil, 0, errNotJoined
			}
			size += int64(len(e.Content))
		}
		list = append(list, e)
	}
	return list, size, nil
}

// maxLooked is the largest blob of which a later version is looked for: as a
// rule conversations are larger, which have none.
const maxLooked = 16 << 10

// parseEntry takes an entry apart. before returns what is so many bytes before it.
func parseEntry(data []byte, before func(back int64) object.Hash, format object.Format) (e entry, err error) {
	in := bytes.NewReader(data)
	if e.Type, e.size, err = readHeader(in); err != nil {
		return e, err
	}
	switch e.Type {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		back, err := baseOffset(in)
		if err == nil {
			e.base = before(back)
		}
		if err != nil || e.base.IsZero() {
			return e, errNotJoined
		}
	case plumbing.REFDeltaObject:
		name := make([]byte, format.Size())
		if _, err := io.ReadFull(in, name); err != nil {
			return e, err
		}
		e.base = format.Hash(name)
	default:
		return e, errNotJoined
	}
	e.data = data[len(data)-in.Len():]
	return e, nil
}
