// Package blockfile keeps what was made of git's objects in files of our local
// state, so that it need not be made again.
//
// A block is known by the hash of the object that it was made of, and so says
// the same as long as it is there. A file has blocks of one kind, which names
// how they are made: a file of another kind is as good as none. Each block has a
// checksum, so a file may be cut off anywhere, or be damaged. Anyone may delete
// it at any time.
package blockfile

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
)

// A Place is where a file is, and what is in it.
type Place struct {
	Dir    *statedir.Dir
	Name   string // of the file, in a directory of its own that has nothing else
	Kind   string // a line
	Format object.Format
}

// A Block is what was made of an object.
type Block struct {
	Of      object.Hash
	Content []byte
}

// Limits, in bytes.
const (
	maxBlock = 64 << 20
	maxFiles = 512 << 20 // of all files in the directory
)

// A File knows where the blocks of a file are. It is not safe for concurrent use.
type File struct {
	place Place
	at    map[object.Hash]span
	old   []object.Hash // all that there were, even twice
	end   int64         // of the last block
	got   []byte        // a block's content
}

type span struct {
	from int64
	size int
	sum  uint32
}

// Open looks into a file. One that is missing, or of another kind, has no blocks.
func (p Place) Open() *File {
	file, err := p.Dir.OpenFile(p.Name, os.O_RDONLY)
	if err != nil {
		return &File{}
	}
	defer file.Close()
	return p.scan(file)
}

func (p Place) begin() string { return "git-agent blocks 1 " + p.Kind + "\n" }

// headSize is what a block has before its content: size, checksum, hash.
func (p Place) headSize() int { return 8 + p.Format.Size() }

// scan finds the blocks of a file up to where it is cut off.
func (p Place) scan(file *os.File) *File {
	f := &File{place: p, at: make(map[object.Hash]span)}
	begin := make([]byte, len(p.begin()))
	if _, err := file.ReadAt(begin, 0); err != nil || string(begin) != p.begin() {
		return f
	}
	info, err := file.Stat()
	if err != nil {
		return f
	}
	f.end = int64(len(begin))
	head := make([]byte, p.headSize())
	for {
		if _, err := file.ReadAt(head, f.end); err != nil {
			return f
		}
		s := span{f.end + int64(len(head)), int(binary.BigEndian.Uint32(head)), binary.BigEndian.Uint32(head[4:])}
		if s.size > maxBlock || s.from+int64(s.size) > info.Size() {
			return f
		}
		of := p.Format.Hash(head[8:])
		f.at[of] = s
		f.old = append(f.old, of)
		f.end = s.from + int64(s.size)
	}
}

// Len returns how many blocks there are.
func (f *File) Len() int { return len(f.at) }

// Get returns a block's content, or nil. It is valid until the next call.
func (f *File) Get(of object.Hash) []byte {
	if _, ok := f.at[of]; !ok {
		return nil
	}
	file, err := f.place.Dir.OpenFile(f.place.Name, os.O_RDONLY) // it is not kept open: there may be many
	if err != nil {
		return nil
	}
	defer file.Close()
	return f.read(file, of)
}

func (f *File) read(file *os.File, of object.Hash) []byte {
	s, ok := f.at[of]
	f.got = slices.Grow(f.got[:0], s.size)[:s.size]
	if _, err := file.ReadAt(f.got, s.from); !ok || err != nil || sum(of, f.got) != s.sum {
		return nil
	}
	return f.got
}

func sum(of object.Hash, content []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(of.Bytes()), crc32.IEEETable, content)
}

// Append adds blocks to a file, which it makes if need be. If most of what is in
// it is of no use any more, that goes first. One process at a time may.
func (p Place) Append(blocks []Block, useful func(object.Hash) bool) error {
	file, err := p.Dir.OpenFile(p.Name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer file.Close()
	f := p.scan(file)
	useless := 0
	for _, of := range f.old {
		if !useful(of) {
			useless++
		}
	}
	if 2*useless > len(f.old) {
		f.end, f.at = 0, nil
	}
	added := int64(len(p.begin()))
	for _, b := range blocks {
		added += int64(p.headSize() + len(b.Content))
	}
	if p.others()+f.end+added > maxFiles {
		return nil
	}
	if err := file.Truncate(f.end); err != nil {
		return err
	}
	out := bufio.NewWriter(io.NewOffsetWriter(file, f.end))
	if f.end == 0 {
		out.WriteString(p.begin())
	}
	for _, b := range blocks {
		if len(b.Content) > maxBlock || f.read(file, b.Of) != nil {
			continue
		}
		head := binary.BigEndian.AppendUint32(nil, uint32(len(b.Content)))
		head = binary.BigEndian.AppendUint32(head, sum(b.Of, b.Content))
		out.Write(p.Format.Append(head, b.Of))
		out.Write(b.Content)
	}
	return out.Flush()
}

// others is how many bytes the other files have.
func (p Place) others() (size int64) {
	entries, _ := p.Dir.ReadDir(filepath.Dir(p.Name))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != filepath.Base(p.Name) {
			size += info.Size()
		}
	}
	return size
}
