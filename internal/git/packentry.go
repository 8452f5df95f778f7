package git

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxDeltas is the longest chain of deltas that is followed; git's default limit is 50.
const maxDeltas = 100

// An entryReader reads entries of packs, one after the other. It is reused because its decompressor
// takes 40 KB.
type entryReader struct {
	buf *bufio.Reader
	z   io.ReadCloser
}

// entry reads the entry at offset, following at most the given number of deltas. An unreadable
// entry has the type [plumbing.InvalidObject].
func (e *entryReader) entry(p smallPack, offset int64, deltas int) (plumbing.ObjectType, []byte) {
	if offset < 0 || deltas == 0 {
		return plumbing.InvalidObject, nil
	}
	r := io.NewSectionReader(p.file, offset, 1<<40)
	if e.buf == nil {
		e.buf = bufio.NewReader(r)
	}
	e.buf.Reset(r)
	t, size, err := readHeader(e.buf)
	if err != nil {
		return plumbing.InvalidObject, nil
	}
	var base int64
	switch t {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		base, err = baseOffset(e.buf)
		base = offset - base
	case plumbing.REFDeltaObject:
		var h plumbing.Hash
		_, err = io.ReadFull(e.buf, h[:])
		base = p.index.offset(h)
	default:
		return plumbing.InvalidObject, nil
	}
	if err != nil {
		return plumbing.InvalidObject, nil
	}
	content, err := e.inflate(size)
	if err == nil && t.IsDelta() {
		var source []byte
		if t, source = e.entry(p, base, deltas-1); t != plumbing.InvalidObject {
			content, err = packfile.PatchDelta(source, content)
		}
	}
	if err != nil || t == plumbing.InvalidObject {
		return plumbing.InvalidObject, nil
	}
	return t, content
}

// readHeader reads an entry's type and its size in bytes: groups of four and seven bits, lowest
// first; see gitformat-pack(5).
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

// baseOffset reads how many bytes before a delta its base is: groups of seven bits, highest first,
// one added to each but the last.
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

// inflate decompresses size bytes.
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
