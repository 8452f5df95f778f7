package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"

	"gitagent/internal/git/object"
)

// writePack writes the objects as one pack.
func (o *Objects) writePack(objects []*Object) error {
	pack, index, err := encodePack(o.format, objects)
	if err != nil {
		return err
	}
	_, err = o.repo.putPack(o.ctx, pack, index)
	return err
}

// putPack writes a pack with its index, and returns its name. Git finds packs by
// their indexes, so the index is named last. Git or [RollUp] prunes what a kill
// leaves.
func (r *Repo) putPack(ctx context.Context, pack, index []byte) (name string, err error) {
	dir := packDir(r)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	packTmp, err := r.tempFile(ctx, dir, "tmp_pack_", pack)
	if err != nil {
		return "", err
	}
	defer os.Remove(packTmp) // already gone on success
	idxTmp, err := r.tempFile(ctx, dir, "tmp_idx_", index)
	if err != nil {
		return "", err
	}
	defer os.Remove(idxTmp)
	// Named by its checksum, as in git: two writers of the same objects meet.
	name = fmt.Sprintf("pack-%x", pack[len(pack)-r.Format().Size():])
	base := filepath.Join(dir, name)
	// If a git gc begins between pack and index (seen with 2.39), it deletes
	// the pack at its end, with the objects: in a loop, one pack in 2,000 was
	// lost. A .keep stops it. A link costs 10 us, a new file 300.
	if os.Link(packTmp, base+".keep") == nil {
		defer os.Remove(base + ".keep")
	}
	if err := os.Rename(packTmp, base+".pack"); err != nil {
		return "", err
	}
	return name, os.Rename(idxTmp, base+".idx")
}

// encodePack returns a pack of the objects, and its index. An object of which it
// has a later version is a delta of that.
func encodePack(format object.Format, objects []*Object) (pack, index []byte, err error) {
	p := newPacking(format, len(objects))
	p.find(objects)
	for _, obj := range slices.Backward(objects) { // the later versions first, which are read more
		p.add(obj, len(objects) < manyObjects && len(obj.Content) <= maxStored)
	}
	return p.end()
}

// A packing is a pack that is being made.
type packing struct {
	format  object.Format
	buf     bytes.Buffer
	entries []packed
	z       deflater
	differ  differ
	objects map[object.Hash]*Object     // that are looked for versions
	next    map[object.Hash]object.Hash // of an object, its next version
	depth   map[object.Hash]chained     // of what is in the pack
}

// A chained is an object in a pack, and of how many deltas it is.
type chained struct {
	offset int
	deltas int
}

// maxChain is how many deltas follow each other: readers go through all.
const maxChain = 8

// newPacking begins a pack of n objects.
func newPacking(format object.Format, n int) *packing {
	p := &packing{format: format, entries: make([]packed, 0, n), depth: make(map[object.Hash]chained, n)}
	p.buf.WriteString("PACK")
	_ = binary.Write(&p.buf, binary.BigEndian, [2]uint32{2, uint32(n)})
	return p
}

// packHead is how many bytes these are.
const packHead = 12

// find looks for versions among objects, the older ones first.
func (p *packing) find(objects []*Object) {
	p.objects = make(map[object.Hash]*Object, len(objects))
	for _, obj := range objects {
		p.objects[obj.Hash] = obj
	}
	v := versions{p.format, func(h object.Hash) *Object { return p.objects[h] }, make(map[object.Hash]object.Hash)}
	for _, obj := range objects {
		if obj.Type == plumbing.CommitObject {
			v.commit(obj)
		}
	}
	p.next = v.next
}

// add adds an object, as a delta if its next version is there, or else whole:
// stored as it is, or compressed.
func (p *packing) add(obj *Object, stored bool) {
	start := p.buf.Len()
	deltas := 0
	base, there := p.depth[p.next[obj.Hash]]
	var d []byte
	if there && base.deltas < maxChain {
		d = p.differ.delta(p.objects[p.next[obj.Hash]].Content, obj.Content)
	}
	if d != nil {
		deltas = base.deltas + 1
		p.buf.Write(entryHeader(plumbing.OFSDeltaObject, int64(len(d))))
		p.buf.Write(distance(start - base.offset))
		p.z.deflate(&p.buf, d, len(d) < minDeflated)
	} else {
		p.buf.Write(entryHeader(obj.Type, int64(len(obj.Content))))
		p.z.deflate(&p.buf, obj.Content, stored)
	}
	p.put(obj.Hash, start, deltas)
}

// copy adds an entry of another pack, whose base is there if it is a delta.
func (p *packing) copy(e *entry) {
	start := p.buf.Len()
	deltas := 0
	if e.base.IsZero() {
		p.buf.Write(entryHeader(e.Type, e.size))
	} else {
		base := p.depth[e.base]
		deltas = base.deltas + 1
		p.buf.Write(entryHeader(plumbing.OFSDeltaObject, e.size))
		p.buf.Write(distance(start - base.offset))
	}
	p.buf.Write(e.data)
	p.put(e.Hash, start, deltas)
}

func (p *packing) put(h object.Hash, start, deltas int) {
	p.depth[h] = chained{start, deltas}
	p.entries = append(p.entries, packed{h, crc32.ChecksumIEEE(p.buf.Bytes()[start:]), uint32(start)})
}

// end returns the pack and its index.
func (p *packing) end() (pack, index []byte, err error) {
	if int64(p.buf.Len()) >= 1<<31 {
		return nil, nil, fmt.Errorf("a pack of more than 2 GB")
	}
	sum := p.format.Checksum(p.buf.Bytes())
	p.buf.Write(sum.Bytes())
	return p.buf.Bytes(), encodePackIndex(p.entries, sum), nil
}

const (
	// maxStored is the largest object stored uncompressed in a pack of few
	// objects. The compressor first clears 0.8 MB, more than all other work; the
	// next [Join] compresses.
	maxStored = 4 << 10
	// manyObjects is how many a pack has that is not joined with others soon.
	manyObjects = 64
	// minDeflated is the smallest delta that is compressed: most of what a smaller
	// one has are hashes.
	minDeflated = 400
)

// level is how hard all is compressed: half as much work as Go's own compressor
// takes for the fastest, and a twelfth smaller.
const level = 5

type deflater struct{ z *zlib.Writer }

// deflate writes content as a zlib stream, or as it is, which is for at most
// 64 KB. Writing to a buffer can't fail.
func (d *deflater) deflate(w *bytes.Buffer, content []byte, stored bool) {
	if stored {
		n := uint16(len(content))
		w.Write([]byte{0x78, 0x01, 1}) // zlib's header; the last block, not compressed
		_ = binary.Write(w, binary.LittleEndian, [2]uint16{n, ^n})
		w.Write(content)
		_ = binary.Write(w, binary.BigEndian, adler32.Checksum(content))
		return
	}
	if d.z == nil {
		d.z, _ = zlib.NewWriterLevel(w, level)
	} else {
		d.z.Reset(w)
	}
	_, _ = d.z.Write(content)
	_ = d.z.Close()
}

// entryHeader encodes type and size for a pack: 4 bits of the size beside the
// type, then 7 in each byte, lowest first.
func entryHeader(t plumbing.ObjectType, size int64) []byte {
	head := []byte{byte(t)<<4 | byte(size&0xf)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	return head
}

// distance encodes that to a delta's base: seven bits a byte, highest first, one
// taken from each but the last.
func distance(n int) []byte {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append(b, byte(0x80|n&0x7f))
	}
	slices.Reverse(b)
	return b
}

// tempFile writes a new read-only file, readable as git would make it:
// core.sharedRepository or the umask.
func (r *Repo) tempFile(ctx context.Context, dir, prefix string, content []byte) (string, error) {
	path := filepath.Join(dir, prefix+rand.Text())
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = r.give(ctx, f)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path)
		return "", err
	}
	return path, nil
}

// A PackEntry is an object's place in a pack.
type PackEntry struct {
	Hash   object.Hash
	Offset int64
}

// PackEntries returns a pack's entries in the order of its index, of any
// version. base is the pack's path without extension.
func (r *Repo) PackEntries(ctx context.Context, base string) (list []PackEntry, err error) {
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return nil, err
	}
	if x, err := newPackIndex(data, r.Format()); err == nil && x.small() {
		for i := range x.objects() {
			list = append(list, PackEntry{r.Format().Hash(x.name(i)), x.offsetAt(i)})
		}
		return list, nil
	}
	err = r.Split(ctx, bytes.NewReader(data), '\n', func(line []byte) error {
		offset, rest, _ := bytes.Cut(line, []byte(" "))
		name, _, _ := bytes.Cut(rest, []byte(" "))
		at, err := strconv.ParseInt(string(offset), 10, 64)
		h, e := object.ParseHash(name)
		if err = errors.Join(err, e); err != nil {
			return fmt.Errorf("read the index of %s: %w", filepath.Base(base), err)
		}
		list = append(list, PackEntry{h, at})
		return nil
	}, "show-index")
	return list, err
}

// ProbeLog checks that git can write the log of a ref, which it does when other
// refs of a transaction have moved already.
func (r *Repo) ProbeLog(ref string) error {
	if r.InTables() {
		return nil
	}
	file := filepath.Join(r.RefsDir(), "logs", filepath.FromSlash(ref))
	dir := filepath.Dir(file)
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.CreateTemp(dir, "probe-"); err == nil {
			defer os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("write the log of %s: %w", ref, err)
	}
	return f.Close()
}

// Probe checks that turns can be stored, by writing a file beside the packs.
func (r *Repo) Probe() error {
	f, err := os.CreateTemp(filepath.Join(r.CommonDir, "objects", "pack"), "tmp_pack_") // git prunes it if we die
	if err != nil {
		return fmt.Errorf("write an object: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 256<<10))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write an object: %w", err)
	}
	return nil
}
