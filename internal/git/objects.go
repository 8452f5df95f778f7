package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// Objects is the object database of a repository.
//
// A written object can be read at once, and reaches the disk with [Objects.Flush], as one pack:
// nothing may refer to it before Flush has returned. A turn writes about 16 objects, and the cost
// is in creating files (0.15 to 0.8 ms each on the machines measured, whatever the size).
// [Repo.RollUp] keeps the packs few.
//
// A loose object, or one in a small pack, is read in-process. Everything else (large packs,
// alternates, what a partial clone lacks) is read through one `git cat-file --batch`: go-git would
// read the whole pack index first, 34 ms at 162,000 objects and 275 ms at a million, where git
// needs 2 ms.
//
// Objects is safe for concurrent use. It is SHA-1 only, as go-git v5 is.
type Objects struct {
	repo *Repo
	ctx  context.Context // of the operation that opened it; its end ends the batch process
	dir  string          // the object directory

	mu     sync.Mutex
	known  map[plumbing.Hash]*Object // everything written, flushed or not
	staged []plumbing.Hash           // what Flush will write
	recent map[plumbing.Hash]*Object // small ones that were read

	small smallPacks

	flushMu sync.Mutex // held while a pack is written

	batchMu sync.Mutex
	batch   *Process // a running `git cat-file`
}

// An Object is one object of the database. Its content must not be changed.
type Object struct {
	Hash    plumbing.Hash
	Type    plumbing.ObjectType
	Content []byte
}

// Objects opens the object database. The caller must call Close.
func (r *Repo) Objects(ctx context.Context) *Objects {
	return &Objects{
		repo:  r,
		ctx:   ctx,
		dir:   filepath.Join(r.CommonDir, "objects"),
		small: smallPacks{dir: filepath.Join(r.CommonDir, "objects", "pack")},
		known: make(map[plumbing.Hash]*Object), recent: make(map[plumbing.Hash]*Object),
	}
}

// Close ends the batch process. Anything not flushed is lost.
func (o *Objects) Close() {
	o.small.close()
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if o.batch != nil {
		o.batch.Kill()
		o.batch = nil
	}
}

// Write stages an object and returns its hash. The content is copied.
func (o *Objects) Write(t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	h := plumbing.ComputeHash(t, content)
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.known[h]; !known {
		o.known[h] = &Object{h, t, bytes.Clone(content)}
		o.staged = append(o.staged, h)
	}
	return h, nil
}

// Flush writes the staged objects to disk, as one pack.
func (o *Objects) Flush() error {
	o.flushMu.Lock()
	defer o.flushMu.Unlock()
	o.mu.Lock()
	staged := make([]*Object, len(o.staged))
	for i, h := range o.staged {
		staged[i] = o.known[h]
	}
	o.mu.Unlock()
	if len(staged) == 0 {
		return nil
	}
	if err := o.writePack(staged); err != nil {
		return fmt.Errorf("write %d objects: %w", len(staged), err)
	}
	o.mu.Lock()
	o.staged = o.staged[len(staged):]
	o.mu.Unlock()
	return nil
}

func (o *Objects) loosePath(h plumbing.Hash) string {
	hex := h.String()
	return filepath.Join(o.dir, hex[:2], hex[2:])
}

// Read returns the content of an object of the given type, which must not be changed. If there is
// none, the error wraps [plumbing.ErrObjectNotFound].
func (o *Objects) Read(t plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	obj, err := o.object(h)
	if err == nil && obj.Type != t {
		err = plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", t, h, err)
	}
	return obj.Content, nil
}

// Blob is Read for a blob.
func (o *Objects) Blob(h plumbing.Hash) ([]byte, error) { return o.Read(plumbing.BlobObject, h) }

// Has returns nil if the object exists. The error is [plumbing.ErrObjectNotFound] if git could tell
// that it does not.
func (o *Objects) Has(h plumbing.Hash) error {
	if o.written(h) != nil {
		return nil
	}
	_, err := o.ask("info", h)
	return err
}

// written returns the object if it was written through o, flushed or not; otherwise nil.
func (o *Objects) written(h plumbing.Hash) *Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[h]
}

// An event reads the same commits and trees several times. They are remembered: up to maxRecent, of
// up to maxRecentSize bytes.
const (
	maxRecent     = 256
	maxRecentSize = 16 << 10
)

func (o *Objects) object(h plumbing.Hash) (*Object, error) {
	o.mu.Lock()
	obj := o.known[h]
	if obj == nil {
		obj = o.recent[h]
	}
	o.mu.Unlock()
	if obj != nil {
		return obj, nil
	}
	obj, err := o.find(h)
	if err == nil && len(obj.Content) <= maxRecentSize {
		o.mu.Lock()
		if len(o.recent) == maxRecent {
			clear(o.recent)
		}
		o.recent[h] = obj
		o.mu.Unlock()
	}
	return obj, err
}

func (o *Objects) find(h plumbing.Hash) (*Object, error) {
	t, content, err := o.readLoose(h)
	if errors.Is(err, fs.ErrNotExist) {
		if t, content = o.small.get(h); t == plumbing.InvalidObject {
			return o.ask("contents", h)
		}
	} else if err != nil {
		return nil, err
	}
	return &Object{h, t, content}, nil
}

func (o *Objects) readLoose(h plumbing.Hash) (t plumbing.ObjectType, content []byte, err error) {
	f, err := os.Open(o.loosePath(h))
	if err != nil {
		return t, nil, err
	}
	defer f.Close()
	r, err := objfile.NewReader(f)
	if err == nil {
		defer r.Close()
		var size int64
		if t, size, err = r.Header(); err == nil {
			content, err = inflate(r, size)
		}
	}
	if err != nil {
		return t, nil, fmt.Errorf("read object %s: %w", h, err)
	}
	return t, content, nil
}

// maxTrusted is the largest size in bytes for which memory is allocated on the word of an object's
// header: whether the file is damaged shows only when it is read.
const maxTrusted = 64 << 20

// inflate reads r to its end, which must come at the announced size. A conversation has megabytes,
// and growing a buffer for it piece by piece takes longer than inflating it.
func inflate(r io.Reader, size int64) ([]byte, error) {
	var content bytes.Buffer
	content.Grow(int(min(size, maxTrusted)) + bytes.MinRead)
	if n, err := content.ReadFrom(io.LimitReader(r, size+1)); err != nil {
		return nil, err
	} else if n != size {
		return nil, fmt.Errorf("its length is not the %d bytes that were announced", size)
	}
	return content.Bytes(), nil
}
