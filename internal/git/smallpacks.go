package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"gitagent/internal/git/object"
)

// smallPacks are packs as turns write them. They have nearly all that a hook
// reads of a mission, without `git cat-file`.
type smallPacks struct {
	dir    string
	format object.Format

	mu     sync.Mutex
	read   bool
	unread []fs.FileInfo // indexes not yet read, the newest last
	packs  []smallPack

	entries entryReader
}

type smallPack struct {
	index packIndex
	base  string   // of its files' paths
	file  *os.File // nil until it is opened
}

// maxSmallIndex is the largest index read in-process: 2,000 objects, 0.2 ms.
const maxSmallIndex = 64 << 10

// get returns an object of at most most bytes, or [plumbing.InvalidObject]. It
// skips unreadable packs; git will report them.
func (s *smallPacks) get(h object.Hash, most int64) (plumbing.ObjectType, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, offset := s.find(h); p != nil {
		return s.entries.object(*p, offset, most)
	}
	return plumbing.InvalidObject, nil
}

// find returns the open pack that has an object, and where, or nil. Most packs
// are asked in vain, so those stay closed.
func (s *smallPacks) find(h object.Hash) (*smallPack, int64) {
	for i := 0; i < len(s.packs) || s.openNext(); i++ {
		p := &s.packs[i]
		if offset := p.index.offset(h); offset >= 0 && p.open() == nil {
			return p, offset
		}
	}
	return nil, 0
}

// openNext reads the newest readable index not yet read, if there is one.
func (s *smallPacks) openNext() bool {
	if !s.read {
		s.list()
	}
	for len(s.unread) > 0 {
		name := s.unread[len(s.unread)-1].Name()
		s.unread = s.unread[:len(s.unread)-1]
		if p, err := findSmallPack(filepath.Join(s.dir, strings.TrimSuffix(name, ".idx")), s.format); err == nil {
			s.packs = append(s.packs, p)
			return true
		}
	}
	return false
}

func (s *smallPacks) list() {
	s.read = true
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".idx") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() <= maxSmallIndex {
			s.unread = append(s.unread, info)
		}
	}
	slices.SortFunc(s.unread, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
}

func openSmallPack(base string, format object.Format) (smallPack, error) {
	p, err := findSmallPack(base, format)
	if err == nil {
		err = p.open()
	}
	return p, err
}

// findSmallPack reads a pack's index alone.
func findSmallPack(base string, format object.Format) (smallPack, error) {
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return smallPack{}, err
	}
	index, err := newPackIndex(data, format)
	return smallPack{index: index, base: base}, err
}

func (p *smallPack) open() (err error) {
	if p.file == nil {
		p.file, err = os.Open(p.base + ".pack")
	}
	return err
}

func (s *smallPacks) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		_ = p.file.Close() // which may never have been opened
	}
	s.packs, s.unread = nil, nil
}

// maxDeltas is the longest chain of deltas followed; git's default is 50.
const maxDeltas = 100

// An entryReader reads pack entries. Its decompressor, 40 KB, is reused.
type entryReader struct {
	buf *bufio.Reader
	z   io.ReadCloser
}

// object reads the object at offset. Beyond most bytes, or if made of far more,
// it counts as unreadable.
func (e *entryReader) object(p smallPack, offset, most int64) (plumbing.ObjectType, []byte) {
	return e.entry(p, offset, maxDeltas, most, 2*most+maxRecentSize)
}

// entry reads an entry of at most most bytes, through at most deltas deltas,
// which with their bases have at most room bytes. If it can't, the type is
// [plumbing.InvalidObject].
func (e *entryReader) entry(p smallPack, offset int64, deltas int, most, room int64) (plumbing.ObjectType, []byte) {
	if offset < 0 || deltas == 0 {
		return plumbing.InvalidObject, nil
	}
	r := io.NewSectionReader(p.file, offset, 1<<40)
	if e.buf == nil {
		e.buf = bufio.NewReader(r)
	}
	e.buf.Reset(r)
	t, size, err := readHeader(e.buf)
	if err != nil || size > room || size > most && !t.IsDelta() {
		return plumbing.InvalidObject, nil
	}
	var base int64
	switch t {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		base, err = baseOffset(e.buf)
		base = offset - base
	case plumbing.REFDeltaObject:
		var name []byte
		if name, err = e.buf.Peek(p.index.size); err == nil {
			base = p.index.offset(p.index.format.Hash(name))
			_, err = e.buf.Discard(len(name))
		}
	default:
		return plumbing.InvalidObject, nil
	}
	if err != nil {
		return plumbing.InvalidObject, nil
	}
	content, err := e.inflate(size)
	if err == nil && t.IsDelta() {
		from, to := deltaSizes(content)
		if room -= size; to > most || from > room {
			return plumbing.InvalidObject, nil
		}
		var source []byte
		if t, source = e.entry(p, base, deltas-1, from, room); t != plumbing.InvalidObject {
			content, err = packfile.PatchDelta(source, content)
		}
	}
	if err != nil || t == plumbing.InvalidObject {
		return plumbing.InvalidObject, nil
	}
	return t, content
}

// deltaSizes returns the sizes of base and result that a delta announces.
func deltaSizes(delta []byte) (from, to int64) {
	a, n := binary.Uvarint(delta)
	b, _ := binary.Uvarint(delta[max(0, n):])
	return int64(min(a, 1<<53)), int64(min(b, 1<<53))
}

// readHeader reads an entry's type and size, as [entryHeader] encodes them.
func readHeader(r io.ByteReader) (plumbing.ObjectType, int64, error) {
	b, err := r.ReadByte()
	var more uint64
	if err == nil && b&0x80 != 0 {
		if more, err = binary.ReadUvarint(r); more >= 1<<49 { // 2^53 bytes and more
			err = plumbing.ErrInvalidType
		}
	}
	return plumbing.ObjectType(b >> 4 & 7), int64(more<<4 | uint64(b&15)), err
}

// baseOffset reads a delta's distance to its base: seven bits a byte, highest
// first, one added to each but the last.
func baseOffset(r io.ByteReader) (int64, error) {
	b, err := r.ReadByte()
	n := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 {
		if n >= 1<<48 {
			return 0, plumbing.ErrInvalidType
		}
		b, err = r.ReadByte()
		n = (n+1)<<7 | int64(b&0x7f)
	}
	return n, err
}

func (e *entryReader) inflate(size int64) ([]byte, error) {
	var err error
	if e.z == nil {
		e.z, err = zlib.NewReader(e.buf)
	} else {
		err = e.z.(zlib.Resetter).Reset(e.buf, nil)
	}
	if err != nil {
		return nil, err
	}
	return inflate(e.z, size)
}

// A packIndex is a version 2 index, see gitformat-pack(5), searched in place;
// go-git's decoder would make 256 tables.
type packIndex struct {
	data   []byte
	format object.Format
	size   int // of a hash
}

const (
	packIndexHead = "\xfftOc\x00\x00\x00\x02"
	namesAt       = len(packIndexHead) + 256*4
	perObject     = 4 + 4 // checksum and offset, without the name
)

var errIndex = errors.New("not an index of a pack")

// newPackIndex checks an index, so that searching it is safe.
func newPackIndex(data []byte, format object.Format) (packIndex, error) {
	x := packIndex{data, format, format.Size()}
	end := len(data) - x.size
	if end < namesAt+x.size || !bytes.HasPrefix(data, []byte(packIndexHead)) {
		return packIndex{}, errIndex
	}
	before := 0
	for first := range 256 {
		n := x.upTo(first)
		if n < before || n > (end-namesAt)/(x.size+perObject) {
			return packIndex{}, errIndex
		}
		before = n
	}
	if sum := format.Checksum(data[:end]); !bytes.Equal(sum.Bytes(), data[end:]) {
		return packIndex{}, errIndex
	}
	return x, nil
}

// upTo returns how many names begin with a byte of at most first.
func (x packIndex) upTo(first int) int { return int(x.number(len(packIndexHead) + 4*first)) }

func (x packIndex) number(at int) int64 { return int64(binary.BigEndian.Uint32(x.data[at:])) }

// objects returns how many objects there are, name the i-th sorted name.
func (x packIndex) objects() int      { return x.upTo(255) }
func (x packIndex) name(i int) []byte { return x.data[namesAt+i*x.size:][:x.size] }

func (x packIndex) checksum() []byte { return x.data[len(x.data)-2*x.size:][:x.size] }

func (x packIndex) find(h object.Hash) (int, bool) {
	from := 0
	name, first := h.Bytes(), int(h.Byte(0))
	if first > 0 {
		from = x.upTo(first - 1)
	}
	to := x.upTo(first)
	i := from + sort.Search(to-from, func(i int) bool { return bytes.Compare(x.name(from+i), name) >= 0 })
	return i, i < to && bytes.Equal(x.name(i), name)
}

// offset returns an object's offset, or -1. Git reads those of 2 GB or more.
func (x packIndex) offset(h object.Hash) int64 {
	if i, ok := x.find(h); ok {
		if offset := x.offsetAt(i); offset < 1<<31 {
			return offset
		}
	}
	return -1
}

// offsetAt is that of the i-th name, if it is below 2 GB.
func (x packIndex) offsetAt(i int) int64 { return x.number(namesAt + x.objects()*(x.size+4) + 4*i) }

// checksumAt is that of the i-th name's entry.
func (x packIndex) checksumAt(i int) uint32 {
	return uint32(x.number(namesAt + x.objects()*x.size + 4*i))
}

// small reports whether all offsets are below 2 GB: there is no table of
// others.
func (x packIndex) small() bool {
	return len(x.data) == namesAt+x.objects()*(x.size+perObject)+2*x.size
}

type packed struct {
	hash             object.Hash
	checksum, offset uint32
}

func encodePackIndex(objects []packed, sum object.Hash) []byte {
	slices.SortFunc(objects, func(a, b packed) int { return a.hash.Compare(b.hash) })
	b := []byte(packIndexHead)
	n := 0
	for first := range 256 {
		for n < len(objects) && int(objects[n].hash.Byte(0)) == first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, o := range objects {
		b = append(b, o.hash.Bytes()...)
	}
	for _, o := range objects {
		b = binary.BigEndian.AppendUint32(b, o.checksum)
	}
	for _, o := range objects {
		b = binary.BigEndian.AppendUint32(b, o.offset)
	}
	b = append(b, sum.Bytes()...)
	all := sum.Format().Checksum(b)
	return append(b, all.Bytes()...)
}
