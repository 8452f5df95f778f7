//go:build unix

package hostile

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// tested is the object format under test.
var tested = object.NewHash(gittest.Hash("1")).Format()

// A store writes loose objects, also such as git refuses to make.
type store struct {
	t   testing.TB
	dir string // objects/
}

func (s store) write(kind string, content []byte) string {
	s.t.Helper()
	head := fmt.Appendf(nil, "%s %d\x00", kind, len(content))
	name := tested.Checksum(append(head[:len(head):len(head)], content...)).String()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(head)
	_, _ = z.Write(content)
	_ = z.Close()
	s.put(name, func(path string) error { return os.WriteFile(path, b.Bytes(), 0o444) })
	return name
}

// put makes the file of an object, unless it is there.
func (s store) put(name string, make func(path string) error) {
	s.t.Helper()
	path := filepath.Join(s.dir, name[:2], name[2:])
	if _, err := os.Lstat(path); err == nil {
		return
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = make(path)
	}
	gittest.Must(s.t, err)
}

func (s store) blob(content string) string { return s.write("blob", []byte(content)) }

// An entry is one of a tree, in any order and under any name.
type entry struct{ mode, name, hash string }

func (s store) tree(entries ...entry) string {
	var b bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(e.hash)
		gittest.Must(s.t, err)
		fmt.Fprintf(&b, "%s %s\x00%s", e.mode, e.name, raw)
	}
	return s.write("tree", b.Bytes())
}

// large makes objects of zeros, once for all ledgers, as inflating is what they are about.
type large struct {
	dir string

	mu   sync.Mutex
	made map[string]string // names by kind and size
}

func (l *large) zeros(s store, kind string, size int) string {
	s.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	key := fmt.Sprint(kind, size)
	if l.made[key] == "" {
		sum := sha1.New()
		if tested == object.SHA256 {
			sum = sha256.New()
		}
		f, err := os.Create(filepath.Join(l.dir, key))
		gittest.Must(s.t, err)
		z, _ := zlib.NewWriterLevel(f, zlib.BestSpeed)
		w := io.MultiWriter(sum, z)
		fmt.Fprintf(w, "%s %d\x00", kind, size)
		piece := make([]byte, 1<<20)
		for left := size; left > 0; left -= len(piece) {
			piece = piece[:min(left, len(piece))]
			_, _ = w.Write(piece)
		}
		gittest.Must(s.t, z.Close())
		gittest.Must(s.t, f.Close())
		l.made[key] = hex.EncodeToString(sum.Sum(nil))
	}
	s.put(l.made[key], func(path string) error { return copyFile(filepath.Join(l.dir, key), path) })
	return l.made[key]
}

// delta plants a pack in which something small is the difference to a blob of zeros, and returns
// its name. index-pack builds the blob, so it has only 160 MB.
func (l *large) delta(s store, content string) string {
	s.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	const size = 160 << 20
	pack := filepath.Join(l.dir, tested.Checksum([]byte(content)).String())
	if _, err := os.Stat(pack + ".idx"); err != nil {
		var b bytes.Buffer
		b.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x02")
		base := b.Len()
		packEntry(&b, 3, size, nil, func(z io.Writer) {
			piece := make([]byte, 1<<20)
			for range size >> 20 {
				_, _ = z.Write(piece)
			}
		})
		d := binary.AppendUvarint(binary.AppendUvarint(nil, size), uint64(len(content)))
		for rest := content; rest != ""; rest = rest[min(len(rest), 127):] {
			n := min(len(rest), 127)
			d = append(append(d, byte(n)), rest[:n]...)
		}
		n := b.Len() - base
		back := []byte{byte(n & 0x7f)}
		for n = n>>7 - 1; n >= 0; n = n>>7 - 1 {
			back = append([]byte{0x80 | byte(n&0x7f)}, back...)
		}
		packEntry(&b, 6, len(d), back, func(z io.Writer) { _, _ = z.Write(d) })
		sum := tested.Checksum(b.Bytes())
		b.Write(sum.Bytes())
		gittest.Must(s.t, os.WriteFile(pack+".pack", b.Bytes(), 0o444))
		if out, err := exec.Command("git", "index-pack", "--object-format="+gittest.Format(), "-o", pack+".idx", pack+".pack").CombinedOutput(); err != nil {
			s.t.Fatalf("git index-pack: %v\n%s", err, out)
		}
	}
	dir := filepath.Join(s.dir, "pack")
	gittest.Must(s.t, os.MkdirAll(dir, 0o777))
	for _, ext := range []string{".pack", ".idx"} {
		if err := copyFile(pack+ext, filepath.Join(dir, "pack-"+filepath.Base(pack)+ext)); err != nil && !os.IsExist(err) {
			s.t.Fatal(err)
		}
	}
	return tested.Object(plumbing.BlobObject, []byte(content)).String()
}

func packEntry(b *bytes.Buffer, kind byte, size int, back []byte, content func(io.Writer)) {
	head := []byte{kind<<4 | byte(size&15)}
	for n := size >> 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	b.Write(append(head, back...))
	z, _ := zlib.NewWriterLevel(b, zlib.BestSpeed)
	content(z)
	_ = z.Close()
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
