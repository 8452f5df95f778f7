package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"slices"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
)

// A packIndex is a version 2 pack index as it is on disk; see gitformat-pack(5). It is searched in
// place: a process asks each index for an object or two, and go-git's decoder would make 256 tables
// of it.
type packIndex []byte

const (
	packIndexHead = "\xfftOc\x00\x00\x00\x02"
	namesAt       = len(packIndexHead) + 256*4
	perObject     = sha1.Size + 4 + 4 // its name, a checksum, its offset in the pack
)

var errIndex = errors.New("not an index of a pack")

// newPackIndex checks an index, so that searching it is safe.
func newPackIndex(data []byte) (packIndex, error) {
	end := len(data) - sha1.Size
	if end < namesAt+sha1.Size || !bytes.HasPrefix(data, []byte(packIndexHead)) {
		return nil, errIndex
	}
	x := packIndex(data)
	before := 0
	for first := range 256 {
		n := x.upTo(first)
		if n < before || n > (end-namesAt)/perObject {
			return nil, errIndex
		}
		before = n
	}
	if sum := sha1.Sum(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, errIndex
	}
	return x, nil
}

// upTo returns how many objects have a name whose first byte is at most first.
func (x packIndex) upTo(first int) int { return int(x.number(len(packIndexHead) + 4*first)) }

func (x packIndex) number(at int) int64 { return int64(binary.BigEndian.Uint32(x[at:])) }

// objects is how many objects the pack has, and name the name of one of them; they are in order.
func (x packIndex) objects() int      { return x.upTo(255) }
func (x packIndex) name(i int) []byte { return x[namesAt+i*sha1.Size:][:sha1.Size] }

// checksum returns the checksum of the pack, as the index stores it.
func (x packIndex) checksum() []byte { return x[len(x)-2*sha1.Size:][:sha1.Size] }

// find returns the index of an object among the sorted names.
func (x packIndex) find(h plumbing.Hash) (int, bool) {
	from := 0
	if h[0] > 0 {
		from = x.upTo(int(h[0]) - 1)
	}
	to := x.upTo(int(h[0]))
	i := from + sort.Search(to-from, func(i int) bool { return bytes.Compare(x.name(from+i), h[:]) >= 0 })
	return i, i < to && bytes.Equal(x.name(i), h[:])
}

// offset returns where the object is in the pack, or -1. Offsets of 2 GB or more are left to git.
func (x packIndex) offset(h plumbing.Hash) int64 {
	if i, ok := x.find(h); ok {
		if offset := x.number(namesAt + x.objects()*(sha1.Size+4) + 4*i); offset < 1<<31 {
			return offset
		}
	}
	return -1
}

// A packed object is one entry of an index.
type packed struct {
	hash             plumbing.Hash
	checksum, offset uint32
}

// encodePackIndex returns the index of a pack whose checksum is sum.
func encodePackIndex(objects []packed, sum [sha1.Size]byte) []byte {
	slices.SortFunc(objects, func(a, b packed) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	b := []byte(packIndexHead)
	n := 0
	for first := range 256 {
		for n < len(objects) && int(objects[n].hash[0]) == first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, o := range objects {
		b = append(b, o.hash[:]...)
	}
	for _, o := range objects {
		b = binary.BigEndian.AppendUint32(b, o.checksum)
	}
	for _, o := range objects {
		b = binary.BigEndian.AppendUint32(b, o.offset)
	}
	b = append(b, sum[:]...)
	sum = sha1.Sum(b)
	return append(b, sum[:]...)
}
