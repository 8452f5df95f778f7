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

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Objects is the object database of a repository, for go-git.
//
// What is written is known at once and reaches the disk with [Objects.Flush],
// as one pack: nothing may refer to it before that has returned. A turn writes
// about 16 objects, and creating a file is what costs
// (0.15 to 0.8 ms on the machines that we measured, whatever its size).
// [Repo.RollUp] keeps the packs few.
//
// A loose object, or one in a small pack, is read in-process. Anything else (large packs, alternates, what a
// partial clone lacks) is asked of one `git cat-file --batch`: go-git would
// read the whole pack index first, 34 ms at 162,000 objects
// and 275 ms at a million, where git needs 2 ms.
//
// Objects is safe for concurrent use. It is SHA-1 only, as go-git v5 is.
type Objects struct {
	storer.EncodedObjectStorer // go-git's own, for what it asks beyond reading and writing single objects

	repo *Repo
	ctx  context.Context // of the operation that opened it; it ends the batch process
	dir  string          // the object directory

	mu     sync.Mutex
	known  map[plumbing.Hash]*plumbing.MemoryObject // what was written, flushed or not
	staged []plumbing.Hash                          // what Flush has to write

	smallMu sync.Mutex
	small   smallPacks

	flushMu sync.Mutex // held while a pack is written

	batchMu sync.Mutex
	batch   *batch
}

// Objects opens the object database. The caller calls Close.
func (r *Repo) Objects(ctx context.Context) *Objects {
	return &Objects{
		EncodedObjectStorer: filesystem.NewStorage(osfs.New(r.CommonDir), cache.NewObjectLRU(cache.MiByte)),
		repo:                r,
		ctx:                 ctx,
		dir:                 filepath.Join(r.CommonDir, "objects"),
		small:               smallPacks{dir: filepath.Join(r.CommonDir, "objects", "pack")},
		known:               make(map[plumbing.Hash]*plumbing.MemoryObject),
	}
}

// Close ends the batch process. What was not flushed is forgotten.
func (o *Objects) Close() {
	o.smallMu.Lock()
	o.small.close()
	o.smallMu.Unlock()
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if o.batch != nil {
		o.batch.close()
		o.batch = nil
	}
}

// Write stages an object and returns its hash.
func (o *Objects) Write(t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	obj := new(plumbing.MemoryObject)
	obj.SetType(t)
	if _, err := obj.Write(content); err != nil {
		return plumbing.ZeroHash, err
	}
	return o.SetEncodedObject(obj)
}

// SetEncodedObject stages an object and returns its hash.
func (o *Objects) SetEncodedObject(e plumbing.EncodedObject) (plumbing.Hash, error) {
	obj, ok := e.(*plumbing.MemoryObject)
	if !ok {
		content, err := Content(e)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		return o.Write(e.Type(), content)
	}
	h := obj.Hash()
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.known[h]; !known {
		o.known[h] = obj
		o.staged = append(o.staged, h)
	}
	return h, nil
}

// Flush writes what was staged to the disk, as one pack.
func (o *Objects) Flush() error {
	o.flushMu.Lock()
	defer o.flushMu.Unlock()
	o.mu.Lock()
	staged := make([]*plumbing.MemoryObject, len(o.staged))
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

// EncodedObject reads an object of the given type, or of any.
// If there is none, the error is [plumbing.ErrObjectNotFound].
func (o *Objects) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	obj, err := o.read(h)
	if err != nil {
		return nil, err
	}
	if t != plumbing.AnyObject && obj.Type() != t {
		return nil, plumbing.ErrObjectNotFound
	}
	return obj, nil
}

// HasEncodedObject is EncodedObject without the content.
func (o *Objects) HasEncodedObject(h plumbing.Hash) error {
	_, err := o.EncodedObjectSize(h)
	return err
}

// EncodedObjectSize returns the size of an object in bytes.
func (o *Objects) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	if obj := o.written(h); obj != nil {
		return obj.Size(), nil
	}
	var size int64
	err := o.ask("info", h, func(_ *batch, a answer) error { size = a.size; return nil })
	return size, err
}

// written returns what was written through o, flushed or not; otherwise nil.
func (o *Objects) written(h plumbing.Hash) *plumbing.MemoryObject {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[h]
}

func (o *Objects) read(h plumbing.Hash) (*plumbing.MemoryObject, error) {
	if obj := o.written(h); obj != nil {
		return obj, nil
	}
	t, content, err := o.content(h)
	if err != nil {
		return nil, err
	}
	return memory(t, content)
}

// memory makes an object. It copies the content.
func memory(t plumbing.ObjectType, content []byte) (*plumbing.MemoryObject, error) {
	obj := new(plumbing.MemoryObject)
	obj.SetType(t)
	_, err := obj.Write(content)
	return obj, err
}

// content reads an object that was not written through o.
func (o *Objects) content(h plumbing.Hash) (t plumbing.ObjectType, content []byte, err error) {
	t, content, err = o.readLoose(h)
	if errors.Is(err, fs.ErrNotExist) {
		if t, content = o.readSmall(h); t != plumbing.InvalidObject {
			return t, content, nil
		}
		err = o.ask("contents", h, func(b *batch, a answer) (err error) {
			t = a.kind
			content, err = b.content(a)
			return err
		})
	}
	return t, content, err
}

func (o *Objects) readSmall(h plumbing.Hash) (plumbing.ObjectType, []byte) {
	o.smallMu.Lock()
	defer o.smallMu.Unlock()
	return o.small.get(h)
}

func (o *Objects) readLoose(h plumbing.Hash) (t plumbing.ObjectType, content []byte, err error) {
	f, err := os.Open(o.loosePath(h))
	if err != nil {
		return t, nil, err
	}
	defer f.Close()
	r, err := objfile.NewReader(f)
	if err != nil {
		return t, nil, fmt.Errorf("read object %s: %w", h, err)
	}
	defer r.Close()
	t, size, err := r.Header()
	if err != nil {
		return t, nil, fmt.Errorf("read object %s: %w", h, err)
	}
	if content, err = inflate(r, size); err != nil {
		return t, nil, fmt.Errorf("read object %s: %w", h, err)
	}
	return t, content, nil
}

// maxTrusted is the largest size in bytes for which room is made because an object's header says so:
// that a file is damaged shows when it is read.
const maxTrusted = 64 << 20

// inflate reads r to its end, which has to come at the size that was announced. A conversation has megabytes: to grow a
// buffer for it piece by piece takes longer than to inflate it.
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

// Content returns the bytes of an object.
func Content(e plumbing.EncodedObject) ([]byte, error) {
	r, err := e.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content := make([]byte, e.Size())
	_, err = io.ReadFull(r, content)
	return content, err
}

// Blob returns the content of a blob. If there is none,
// the error wraps [plumbing.ErrObjectNotFound].
func (o *Objects) Blob(h plumbing.Hash) ([]byte, error) {
	t, content, err := plumbing.BlobObject, []byte(nil), error(nil)
	if obj := o.written(h); obj != nil {
		t = obj.Type()
		content, err = Content(obj)
	} else {
		t, content, err = o.content(h)
	}
	if err == nil && t != plumbing.BlobObject {
		err = plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", h, err)
	}
	return content, nil
}
