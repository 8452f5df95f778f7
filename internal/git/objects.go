package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

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
// Whoever reads an object says how large it may be, since it may come from a stranger: a pack of 500
// KB can hold a blob of 500 MB. The size is known before the content is read, see [ErrTooLarge].
//
// Objects is safe for concurrent use.
type Objects struct {
	repo   *Repo
	format Format
	ctx    context.Context // of the operation that opened it; its end ends the batch process
	dir    string          // the object directory

	mu     sync.Mutex
	known  map[Hash]*Object // everything written, flushed or not
	staged []Hash           // what Flush will write
	recent map[Hash]*Object // small ones that were read

	small smallPacks

	flushMu sync.Mutex // held while a pack is written

	batchMu sync.Mutex
	batch   *Process // a running `git cat-file`
}

// An Object is one object of the database. Its content must not be changed.
type Object struct {
	Hash    Hash
	Type    plumbing.ObjectType
	Content []byte
}

// Objects opens the object database. The caller must call Close.
func (r *Repo) Objects(ctx context.Context) *Objects {
	return &Objects{
		repo:   r,
		format: r.Format(),
		ctx:    ctx,
		dir:    filepath.Join(r.CommonDir, "objects"),
		small:  smallPacks{dir: filepath.Join(r.CommonDir, "objects", "pack"), format: r.Format()},
		known:  make(map[Hash]*Object), recent: make(map[Hash]*Object),
	}
}

// Format returns the object format of the repository.
func (o *Objects) Format() Format { return o.format }

// Close ends the batch process. Anything not flushed is lost.
func (o *Objects) Close() {
	o.small.close()
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if o.batch != nil {
		o.endBatch()
	}
}

// Write stages an object and returns its hash. The content is copied.
func (o *Objects) Write(t plumbing.ObjectType, content []byte) (Hash, error) {
	if o.format == 0 { // git would not know such an object
		return Hash{}, fmt.Errorf("write object: %w", ErrFormat)
	}
	h := o.format.Object(t, content)
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

// ErrTooLarge reports an object that is larger than its reader allows. Its content was not read.
var ErrTooLarge = errors.New("too large")

func tooLarge(size, most int64) error {
	return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, size, most)
}

// ErrDamaged reports an object that is there, and can't be read.
var ErrDamaged = errors.New("damaged")

// Lost reports whether an error means that an object is not here or is damaged. Then
// `git agent-turn doctor --repair` says what it belongs to, and gets it where a remote has it.
func Lost(err error) bool {
	return errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrDamaged)
}

// MaxCommit and MaxTree are the largest commits and trees, in bytes, that are read of a repository's
// own history. Git has no limits.
const (
	MaxCommit = 16 << 20
	MaxTree   = 64 << 20
)

// Read returns the content of an object of the given type and of at most so many bytes, which must
// not be changed. If there is none, the error wraps [plumbing.ErrObjectNotFound]; if it is larger,
// [ErrTooLarge].
func (o *Objects) Read(t plumbing.ObjectType, h Hash, most int64) ([]byte, error) {
	obj, err := o.object(h, most)
	if err == nil && obj.Type != t {
		err = plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", t, h, err)
	}
	return obj.Content, nil
}

// Blob is Read for a blob.
func (o *Objects) Blob(h Hash, most int64) ([]byte, error) {
	return o.Read(plumbing.BlobObject, h, most)
}

// Has returns nil if the object exists. The error is [plumbing.ErrObjectNotFound] if git could tell
// that it does not.
func (o *Objects) Has(h Hash) error {
	if o.written(h) != nil {
		return nil
	}
	_, err := o.size(h)
	return err
}

// inMemory is the largest object, in bytes, that [Objects.Stream] reads at once.
const inMemory = 16 << 20

// Stream hands the content of a blob of at most so many bytes to f, a large one while git reads it.
// Errors are those of [Objects.Read] and of f.
func (o *Objects) Stream(h Hash, most int64, f func(io.Reader) error) error {
	content, err := o.Blob(h, min(most, inMemory))
	if err == nil {
		return f(bytes.NewReader(content))
	}
	if most <= inMemory || !errors.Is(err, ErrTooLarge) {
		return err
	}
	size, err := o.size(h)
	if err != nil {
		return err
	}
	if size > most {
		return fmt.Errorf("read blob %s: %w", h, tooLarge(size, most))
	}
	out, ended, err := o.repo.Wary().Pipe(o.ctx, nil, "-c", streamed, "cat-file", "blob", h.String())
	if err != nil {
		return err
	}
	err = f(out)
	_ = out.Close() // git must not wait for a reader that has seen enough
	return cmp.Or(err, <-ended)
}

// written returns the object if it was written through o, flushed or not; otherwise nil.
func (o *Objects) written(h Hash) *Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[h]
}

// An event reads the same commits and trees several times; so this many of this size are remembered.
const (
	maxRecent     = 256
	maxRecentSize = 16 << 10
)

func (o *Objects) object(h Hash, most int64) (*Object, error) {
	if h.format != o.format { // none, or one of another repository
		return nil, plumbing.ErrObjectNotFound
	}
	o.mu.Lock()
	obj := o.known[h]
	if obj == nil {
		obj = o.recent[h]
	}
	o.mu.Unlock()
	if obj != nil {
		if size := int64(len(obj.Content)); size > most {
			return nil, tooLarge(size, most)
		}
		return obj, nil
	}
	obj, err := o.find(h, most)
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

func (o *Objects) find(h Hash, most int64) (*Object, error) {
	t, content, err := o.readLoose(h, most)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) { // of that a pack may have a whole one
		if t, content = o.small.get(h, most); t == plumbing.InvalidObject {
			return o.ask(h, most)
		}
	} else if err != nil {
		return nil, err
	}
	return &Object{h, t, content}, nil
}

func (o *Objects) readLoose(h Hash, most int64) (t plumbing.ObjectType, content []byte, err error) {
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
		if t, size, err = r.Header(); err == nil && size > most {
			err = tooLarge(size, most)
		}
		if err == nil {
			content, err = inflate(r, size)
		}
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		return t, nil, fmt.Errorf("read object %s: %w", h, err)
	case err != nil:
		return t, nil, fmt.Errorf("read object %s: %w: %v", h, ErrDamaged, err)
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

// size returns how large an object is that git has.
func (o *Objects) size(h Hash) (int64, error) {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	_, size, err := o.question("info", h)
	return size, err
}

// ask returns an object as a `git cat-file` has it: its size first, and the content if that is at most so
// many bytes.
func (o *Objects) ask(h Hash, most int64) (*Object, error) {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	_, size, err := o.question("info", h)
	if err == nil && size > most {
		err = fmt.Errorf("read object %s: %w", h, tooLarge(size, most))
	}
	if err != nil {
		return nil, err
	}
	obj, _, err := o.question("contents", h)
	return obj, err
}

// question is [Objects.questions] for one object.
func (o *Objects) question(command string, h Hash) (obj *Object, size int64, err error) {
	if h.format != o.format { // no git has to start for that
		return nil, 0, plumbing.ErrObjectNotFound
	}
	var errs [1]error
	err = o.questions(command, []Wanted{{Hash: h}}, errs[:], func(_ int, answer *Object, n int64) error {
		obj, size = answer, n
		return nil
	})
	if err == nil && errs[0] != nil && errs[0] != plumbing.ErrObjectNotFound {
		errs[0] = fmt.Errorf("read object %s: %w", h, errs[0])
	}
	return obj, size, cmp.Or(err, errs[0])
}

// damaged tells what it means that git has ended by itself: it does so at an object that it can't read.
func damaged(err error) error {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, fs.ErrClosed, syscall.EPIPE} {
		if errors.Is(err, end) {
			return fmt.Errorf("%w: git can't read it", ErrDamaged)
		}
	}
	return err
}

// ErrKilled is wrapped by errors about objects that could not be read because a signal has ended git
// twice. It says nothing about the objects: the system may lack memory.
var ErrKilled = errors.New("git was killed")

// crashes are the signals that a program brings upon itself.
var crashes = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGILL, syscall.SIGFPE}

// lost ends a `git cat-file` that has not answered as expected; what it says after that no longer
// matters. The result wraps [ErrKilled] if somebody had killed it. At an object that is damaged, or too
// large for it, git exits or crashes.
func (o *Objects) lost(err error) (killed error) {
	p := o.batch
	if p == nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		if p != nil {
			o.endBatch()
		}
		return nil
	}
	o.batch, p.finished = nil, true
	_ = p.stdin.Close()
	var exit *exec.ExitError
	if !errors.As(p.cmd.Wait(), &exit) {
		return nil
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && !slices.Contains(crashes, status.Signal()) {
		return fmt.Errorf("%w (%s)", ErrKilled, status.Signal())
	}
	return nil
}

const (
	// streamed has git write blobs of more than that piece by piece.
	streamed = "core.bigFileThreshold=32m"
	// frugal is how much git keeps of what objects are deltas of: it would be 96 MB.
	frugal = "core.deltaBaseCacheLimit=16m"
)

// Wary returns the same repository, but its git has only so much memory for an object, and ends at one
// that needs more. A stranger's may be large, or the delta of a large one, which git would build.
func (r *Repo) Wary() *Repo { return r.With("GIT_ALLOC_LIMIT=128m") }

// catFile is the running `git cat-file`. The caller holds batchMu.
func (o *Objects) catFile() (*Process, error) {
	var err error
	if o.batch == nil {
		o.batch, err = o.repo.Wary().Start(o.ctx, "-c", streamed, "-c", frugal, "cat-file", "--batch-command", "--buffer")
	}
	return o.batch, err
}

func (o *Objects) endBatch() {
	o.batch.Kill()
	o.batch = nil
}

// object reads an answer of `git cat-file`: `<hash> <type> <size>`, then the content and a newline
// if that was asked for; or the hash and the word "missing" if there is no such object.
func (p *Process) object(h Hash, whole bool) (*Object, int64, error) {
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		return nil, 0, err
	}
	line = strings.TrimSuffix(line, "\n")
	if line == h.String()+" missing" {
		return nil, 0, plumbing.ErrObjectNotFound
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != h.String() {
		return nil, 0, fmt.Errorf("unexpected answer %q", line)
	}
	obj := &Object{Hash: h}
	if obj.Type, err = plumbing.ParseObjectType(fields[1]); err != nil {
		return nil, 0, err
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || !whole {
		return obj, size, err
	}
	content := make([]byte, size+1)
	_, err = io.ReadFull(p.stdout, content)
	obj.Content = content[:size]
	return obj, size, err
}

// A Wanted is an object to be read, of at most so many bytes.
type Wanted struct {
	Hash Hash
	Most int64
}

// together is how many objects git is asked for at once.
const together = 256

// Each reads many objects and passes each to f with its index in list, in order, or the error that
// [Objects.Read] would return for it. An error of f ends the walk and is returned. f must not use o.
//
// What was written and not yet flushed is not found. It is for readers of thousands of objects, as
// it asks git for the sizes of many objects at once, and then for their contents.
func (o *Objects) Each(list []Wanted, f func(i int, obj *Object, err error) error) error {
	return o.inParts(plumbing.AnyObject, list, func(start int, part []Wanted, errs []error) error {
		next := 0 // the first that f has not got
		fail := func(until int) error {
			for ; next < until; next++ {
				if err := f(start+next, nil, fmt.Errorf("read object %s: %w", part[next].Hash, errs[next])); err != nil {
					return err
				}
			}
			return nil
		}
		err := o.questions("contents", part, errs, func(i int, obj *Object, _ int64) error {
			if err := fail(i); err != nil {
				return err
			}
			next++
			return f(start+i, obj, nil)
		})
		if err == nil {
			err = fail(len(part))
		}
		return err
	})
}

// inParts asks git for the types and sizes of many objects, and has read take each part of the list with the
// errors of those that can't be had: they are not there, not of type t, or too large.
func (o *Objects) inParts(t plumbing.ObjectType, list []Wanted, read func(start int, part []Wanted, errs []error) error) error {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	for start := 0; start < len(list); start += together {
		part := list[start:min(start+together, len(list))]
		errs := make([]error, len(part))
		err := o.questions("info", part, errs, func(i int, obj *Object, size int64) error {
			switch {
			case t != plumbing.AnyObject && obj.Type != t:
				errs[i] = plumbing.ErrObjectNotFound
			case size > part[i].Most:
				errs[i] = tooLarge(size, part[i].Most)
			}
			return nil
		})
		if err == nil {
			err = read(start, part, errs)
		}
		if err != nil {
			if o.batch != nil {
				o.endBatch()
			}
			return err
		}
	}
	return nil
}

// questions asks a `git cat-file` for those of the objects that have no error yet, and hands over
// its answers. Git ends at an object that is damaged, or too large for it; another one goes on
// behind that. The error is that of answer, or that git can't be started, or was killed twice.
func (o *Objects) questions(command string, list []Wanted, errs []error, answer func(i int, obj *Object, size int64) error) error {
	for i, w := range list {
		if errs[i] == nil && w.Hash.format != o.format {
			errs[i] = plumbing.ErrObjectNotFound
		}
	}
	again := true // with the same object, if git is killed
	for first := 0; first < len(list); {
		p, err := o.catFile()
		if err != nil {
			return err
		}
		var in strings.Builder
		for i := first; i < len(list); i++ {
			if errs[i] == nil {
				in.WriteString(command + " " + list[i].Hash.String() + "\n")
			}
		}
		in.WriteString("flush\n")
		_, sent := io.WriteString(p.stdin, in.String()) // git reads all of it before it answers
		for ; first < len(list) && o.batch != nil; first++ {
			if errs[first] != nil {
				continue
			}
			obj, size, err := p.object(list[first].Hash, command == "contents")
			if err == nil {
				if err := answer(first, obj, size); err != nil {
					return err
				}
				continue
			}
			if err != plumbing.ErrObjectNotFound {
				killed := o.lost(err)
				if ended := o.ctx.Err(); ended != nil {
					return ended
				}
				if killed != nil && again {
					again = false
					break
				}
				if killed != nil {
					return fmt.Errorf("read object %s: %w", list[first].Hash, killed)
				}
				err = damaged(cmp.Or(sent, err))
			}
			errs[first] = err
		}
		if err := o.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
