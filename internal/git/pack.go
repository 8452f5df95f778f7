package git

import (
	"bytes"
	"compress/zlib"
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
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

// writePack writes the objects as one pack. Git finds packs by their indexes,
// so the index is named last. Git or [RollUp] prunes what a kill leaves.
func (o *Objects) writePack(objects []*Object) error {
	pack, index, err := encodePack(o.format, objects)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.dir, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	packTmp, err := o.tempFile(dir, "tmp_pack_", pack)
	if err != nil {
		return err
	}
	defer os.Remove(packTmp) // already gone on success
	idxTmp, err := o.tempFile(dir, "tmp_idx_", index)
	if err != nil {
		return err
	}
	defer os.Remove(idxTmp)
	// Named by its checksum, as in git: two writers of the same objects meet.
	base := filepath.Join(dir, fmt.Sprintf("pack-%x", pack[len(pack)-o.format.Size():]))
	// If a git gc begins between pack and index (seen with 2.39), it deletes
	// the pack at its end, with the objects: in a loop, one pack in 2,000 was
	// lost. A .keep stops it. A link costs 10 us, a new file 300.
	if os.Link(packTmp, base+".keep") == nil {
		defer os.Remove(base + ".keep")
	}
	if err := os.Rename(packTmp, base+".pack"); err != nil {
		return err
	}
	return os.Rename(idxTmp, base+".idx")
}

// encodePack returns a pack of whole objects, and its index.
func encodePack(format object.Format, objects []*Object) (pack, index []byte, err error) {
	var buf bytes.Buffer
	buf.WriteString("PACK")
	_ = binary.Write(&buf, binary.BigEndian, [2]uint32{2, uint32(len(objects))})
	entries := make([]packed, len(objects))
	var z deflater
	for i, obj := range objects {
		start := buf.Len()
		if int64(start) >= 1<<31 {
			return nil, nil, fmt.Errorf("a pack of more than 2 GB")
		}
		buf.Write(entryHeader(obj.Type, int64(len(obj.Content))))
		z.deflate(&buf, obj.Content)
		entries[i] = packed{obj.Hash, crc32.ChecksumIEEE(buf.Bytes()[start:]), uint32(start)}
	}
	sum := format.Checksum(buf.Bytes())
	buf.Write(sum.Bytes())
	return buf.Bytes(), encodePackIndex(entries, sum), nil
}

// maxStored is the largest object stored uncompressed. Go's compressor first
// clears 0.8 MB, more than all other work; the roll-up compresses later.
const maxStored = 4 << 10

type deflater struct{ z *zlib.Writer }

// deflate writes content as a zlib stream. Writing to a buffer can't fail.
func (d *deflater) deflate(w *bytes.Buffer, content []byte) {
	if len(content) <= maxStored {
		n := uint16(len(content))
		w.Write([]byte{0x78, 0x01, 1}) // zlib's header; the last block, not compressed
		_ = binary.Write(w, binary.LittleEndian, [2]uint16{n, ^n})
		w.Write(content)
		_ = binary.Write(w, binary.BigEndian, adler32.Checksum(content))
		return
	}
	if d.z == nil {
		d.z, _ = zlib.NewWriterLevel(w, zlib.BestSpeed)
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

// tempFile writes a new read-only file, readable as git would make it:
// core.sharedRepository or the umask.
func (o *Objects) tempFile(dir, prefix string, content []byte) (string, error) {
	path := filepath.Join(dir, prefix+rand.Text())
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = o.repo.give(o.ctx, f)
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
