package object

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// A Hash names an object in any format. It is comparable; the zero Hash names
// none. In JSON it is hex digits, or "".
type Hash struct {
	sum    [sha256.Size]byte // SHA-1 fills the first 20 bytes; the others are zero
	format Format            // zero only if the hash is
}

// ParseHash parses a hash as git prints it; all zeros are the zero Hash. It
// accepts bytes, as converting millions to strings would cost most of the time.
func ParseHash[T string | []byte](text T) (Hash, error) {
	h := Hash{format: formatOf(len(text))}
	if h.format != 0 {
		if _, err := hex.Decode(h.sum[:], []byte(text)); err == nil {
			return h.orNone(), nil
		}
	}
	return Hash{}, fmt.Errorf("%q is not a hash of %d or %d hex digits", text, SHA1.Digits(), SHA256.Digits())
}

func formatOf(digits int) Format {
	switch digits {
	case SHA1.Digits():
		return SHA1
	case SHA256.Digits():
		return SHA256
	}
	return 0
}

// NewHash parses a hash, and returns the zero Hash for anything else.
func NewHash(s string) Hash {
	if formatOf(len(s)) == 0 {
		return Hash{}
	}
	h, _ := ParseHash(s)
	return h
}

// IsHash reports whether s is a hash as git prints it, or all zeros.
func IsHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && formatOf(len(s)) != 0
}

func (h Hash) orNone() Hash {
	if h.sum == (Hash{}).sum {
		return Hash{}
	}
	return h
}

// IsZero reports whether there is no hash; JSON's omitzero option uses it.
func (h Hash) IsZero() bool { return h.format == 0 }

// Format returns the format of the hash, zero for the zero Hash.
func (h Hash) Format() Format { return h.format }

// Bytes returns the hash as in git's files. The caller must not change it.
func (h *Hash) Bytes() []byte { return h.sum[:h.format.Size()] }

// Byte returns the byte at index i.
func (h Hash) Byte(i int) byte { return h.sum[i] }

// Compare orders hashes by their bytes, as git does. The zero hash comes first.
func (h Hash) Compare(other Hash) int { return bytes.Compare(h.sum[:], other.sum[:]) }

// String returns the hash as git prints it, "" for none; see [Format.Text].
func (h Hash) String() string {
	var digits [2 * sha256.Size]byte
	return string(digits[:hex.Encode(digits[:], h.Bytes())])
}

// MarshalText returns the JSON form.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h.Bytes()), nil }

// UnmarshalText accepts only the JSON form.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	if *h = (Hash{}); len(text) > 0 {
		*h, err = ParseHash(text)
	}
	return err
}

// A Format is a repository's object format. The zero Format is unknown.
type Format uint8

// The formats, as numbered in git's files.
const (
	SHA1 Format = iota + 1
	SHA256
)

// String returns git's name of the format.
func (f Format) String() string {
	switch f {
	case SHA1:
		return "sha1"
	case SHA256:
		return "sha256"
	}
	return "unknown"
}

// Size returns the bytes of a hash in git's files.
func (f Format) Size() int {
	switch f {
	case SHA1:
		return sha1.Size
	case SHA256:
		return sha256.Size
	}
	return 0
}

// Digits returns the hex digits of a hash.
func (f Format) Digits() int { return 2 * f.Size() }

// Names reports whether all hashes are zero or of the format.
func (f Format) Names(hashes ...Hash) bool {
	for _, h := range hashes {
		if h.format != f && !h.IsZero() {
			return false
		}
	}
	return true
}

// Text returns the hash as git prints it, all zeros for none.
func (f Format) Text(h Hash) string {
	if h.IsZero() {
		return strings.Repeat("0", f.Digits())
	}
	return h.String()
}

// Hash returns the hash at the beginning of raw, which must be long enough.
func (f Format) Hash(raw []byte) Hash {
	h := Hash{format: f}
	copy(h.sum[:], raw[:f.Size()])
	return h.orNone()
}

// Append appends the hash as in git's files, zeros for none.
func (f Format) Append(b []byte, h Hash) []byte { return append(b, h.sum[:f.Size()]...) }

// SignatureHeader returns the commit header in which git looks for a signature.
func (f Format) SignatureHeader() string {
	if f == SHA256 {
		return "gpgsig-sha256"
	}
	return "gpgsig"
}

var emptyTrees = [...]Hash{
	SHA1:   NewHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
	SHA256: NewHash("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
}

// EmptyTree returns the empty tree, which git knows without storing it.
func (f Format) EmptyTree() Hash { return emptyTrees[f] }

// OrEmpty returns h, or the empty tree for the zero Hash.
func (f Format) OrEmpty(h Hash) Hash {
	if h.IsZero() {
		return f.EmptyTree()
	}
	return h
}

// Checksum returns the checksum of a git file's content. Collisions don't
// matter here, so it uses plain SHA-1, which is faster.
func (f Format) Checksum(content []byte) Hash {
	h := Hash{format: f}
	if f == SHA256 {
		h.sum = sha256.Sum256(content)
	} else {
		sum := sha1.Sum(content)
		copy(h.sum[:], sum[:])
	}
	return h
}

// Object returns the hash of an object.
func (f Format) Object(t plumbing.ObjectType, content []byte) Hash {
	h := f.Hasher(t, int64(len(content)))
	_, _ = h.Write(content)
	return h.Hash()
}

// A Hasher computes the hash of an object whose content is written to it.
type Hasher struct {
	sum    hash.Hash
	format Format
}

// Write adds content. It never fails.
func (h Hasher) Write(content []byte) (int, error) { return h.sum.Write(content) }

// Hasher returns a Hasher for an object. Its SHA-1 detects collisions.
func (f Format) Hasher(t plumbing.ObjectType, size int64) Hasher {
	algorithm := crypto.SHA1
	if f == SHA256 {
		algorithm = crypto.SHA256
	}
	sum := hash.New(algorithm)
	head := append(append(make([]byte, 0, 32), t.Bytes()...), ' ')
	_, _ = sum.Write(append(strconv.AppendInt(head, size, 10), 0))
	return Hasher{sum, f}
}

// Hash returns the hash of what was written.
func (h Hasher) Hash() Hash {
	return h.format.Hash(h.sum.Sum(nil))
}

// LooseHash returns the hash of the object in a loose object's file.
func (f Format) LooseHash(file io.Reader) (Hash, error) {
	r, err := objfile.NewReader(file)
	if err != nil {
		return Hash{}, err
	}
	defer r.Close()
	t, size, err := r.Header()
	if err != nil {
		return Hash{}, err
	}
	if f == SHA1 { // the reader computes it itself
		_, err = io.Copy(io.Discard, r)
		sum := r.Hash()
		return f.Hash(sum[:]), err
	}
	h := f.Hasher(t, size)
	_, err = io.Copy(h, r)
	return h.Hash(), err
}
