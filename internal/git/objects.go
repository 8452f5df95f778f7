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
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// Objects is the object database of a repository.
//
// A written object can be read at once, and reaches the disk with [Objects.Flush], as one pack:
// nothing may refer to it before Flush has returned. A turn writes about 16 objects, and creating
// files is what costs (0.15 to 0.8 ms each). [Repo.RollUp] keeps the packs few.
//
// A loose object, or one in a small pack, is read in-process. Everything else (large packs,
// alternates, what a partial clone lacks) is read through one `git cat-file --batch`: go-git would
// read the whole index first, 275 ms at a million objects; git needs 2 ms.
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

// An event reads the same commits and trees several times; so this many of this size are remembered.
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
	hex := h.String()
	f, err := os.Open(filepath.Join(o.dir, hex[:2], hex[2:]))
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

// ask sends a command about the object h to a `git cat-file`, which the first call starts, and
// returns the object; without its content unless the command is "contents".
func (o *Objects) ask(command string, h plumbing.Hash) (*Object, error) {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if o.batch == nil {
		var err error
		if o.batch, err = o.repo.Start(o.ctx, "cat-file", "--batch-command"); err != nil {
			return nil, err
		}
	}
	var obj *Object
	_, err := io.WriteString(o.batch.stdin, command+" "+h.String()+"\n")
	if err == nil {
		obj, err = o.batch.object(h.String(), command == "contents")
	}
	if err != nil && err != plumbing.ErrObjectNotFound {
		o.batch.Kill() // its output no longer matters
		o.batch = nil
		err = fmt.Errorf("read object %s: %w", h, err)
	}
	return obj, err
}

// object reads an answer of `git cat-file`: `<hash> <type> <size>`, then the content and a newline
// if that was asked for; or the spec and the word "missing" if there is no such object.
func (p *Process) object(spec string, whole bool) (*Object, error) {
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\n")
	if line == spec+" missing" {
		return nil, plumbing.ErrObjectNotFound
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || !plumbing.IsHash(fields[0]) {
		return nil, fmt.Errorf("unexpected answer %q", line)
	}
	obj := &Object{Hash: plumbing.NewHash(fields[0])}
	if obj.Type, err = plumbing.ParseObjectType(fields[1]); err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || !whole {
		return obj, err
	}
	content := make([]byte, size+1)
	_, err = io.ReadFull(p.stdout, content)
	obj.Content = content[:size]
	return obj, err
}

// CatFiles reads many objects in one git process and passes each to f with its index in specs, in
// order. A spec is a hash or git's `<tree>:<path>`, without a newline. obj is nil if there is no
// such object. The first error of f ends the walk and is returned.
func (r *Repo) CatFiles(ctx context.Context, specs []string, f func(i int, obj *Object) error) error {
	if len(specs) == 0 {
		return nil
	}
	var in bytes.Buffer
	for _, spec := range specs {
		if strings.Contains(spec, "\n") { // git before 2.42 can't be asked for it
			return fmt.Errorf("read object %q: a newline in its name", spec)
		}
		in.WriteString(spec + "\n")
	}
	p, err := r.Start(ctx, "cat-file", "--batch", "--buffer")
	if err != nil {
		return err
	}
	go func() { // a write fails only when git is gone, and then reading fails too
		_, _ = p.stdin.Write(in.Bytes())
		_ = p.stdin.Close()
	}()
	for i, spec := range specs {
		obj, err := p.object(spec, true)
		if err == nil || err == plumbing.ErrObjectNotFound {
			err = f(i, obj)
		} else {
			err = fmt.Errorf("read object %s: %w", spec, err)
		}
		if err != nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
			return err
		}
	}
	if err := p.cmd.Wait(); err != nil {
		return failure(p.args, &p.stderr, err)
	}
	return nil
}
