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

	"gitagent/internal/git/object"
)

// Objects is the object database of a repository, safe for concurrent use.
//
// A written object can be read at once; [Objects.Flush] brings all to disk, as
// one pack, and nothing may refer to them before. A turn writes about 16
// objects, and creating files is what costs (0.15 to 0.8 ms each).
// [RollUp] keeps the packs few.
//
// Loose objects and small packs are read in-process. All else (large packs,
// alternates, what a partial clone lacks) goes through one `git cat-file
// --batch`, in 2 ms; go-git would first read the index, 275 ms at a million
// objects.
//
// Readers bound the size, because an untrusted pack of 500 KB can hold a blob
// of 500 MB. It is known before content is read; see [ErrTooLarge].
type Objects struct {
	repo   *Repo
	format object.Format
	ctx    context.Context // of the operation that opened it; cancelling it ends the batch process
	dir    string          // the object directory

	mu     sync.Mutex
	known  map[object.Hash]*Object // everything written, flushed or not
	staged []object.Hash           // to be written by Flush
	recent map[object.Hash]*Object // small objects that were read

	small smallPacks

	flushMu sync.Mutex // held while a pack is written

	batchMu sync.Mutex
	batch   *Process // a running `git cat-file`
}

// An Object is one object of the database. Its content must not be changed.
type Object struct {
	Hash    object.Hash
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
		known:  make(map[object.Hash]*Object), recent: make(map[object.Hash]*Object),
	}
}

// Format returns the object format of the repository.
func (o *Objects) Format() object.Format { return o.format }

// Close ends the batch process. Objects that were not flushed are lost.
func (o *Objects) Close() {
	o.small.close()
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if o.batch != nil {
		o.endBatch()
	}
}

// Write stages an object and returns its hash. The content is copied.
func (o *Objects) Write(t plumbing.ObjectType, content []byte) (object.Hash, error) {
	if o.format == 0 { // git would not know such an object
		return object.Hash{}, fmt.Errorf("write object: %w", ErrFormat)
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

// ErrTooLarge is [object.ErrTooLarge].
var ErrTooLarge = object.ErrTooLarge

func tooLarge(size, most int64) error {
	return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, size, most)
}

// ErrDamaged reports an object that exists but can't be read.
var ErrDamaged = errors.New("damaged")

// Lost reports whether an object is missing or damaged. The user then needs
// `git agent-turn doctor --repair`.
func Lost(err error) bool {
	return errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrDamaged)
}

// MaxCommit and MaxTree bound, in bytes, what is read of a repository's own
// history. Git has no limits.
const (
	MaxCommit = 16 << 20
	MaxTree   = 64 << 20
)

// Read returns the content, not to be changed, of an object of type t and at
// most most bytes. The error wraps [plumbing.ErrObjectNotFound] if there is
// none, and [ErrTooLarge] if it is larger.
func (o *Objects) Read(t plumbing.ObjectType, h object.Hash, most int64) ([]byte, error) {
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
func (o *Objects) Blob(h object.Hash, most int64) ([]byte, error) {
	return o.Read(plumbing.BlobObject, h, most)
}

// Has returns nil if the object exists, and [plumbing.ErrObjectNotFound] if git
// could tell that it does not.
func (o *Objects) Has(h object.Hash) error {
	if o.written(h) != nil {
		return nil
	}
	_, err := o.size(h)
	return err
}

// inMemory is the largest object that [Objects.Stream] reads at once.
const inMemory = 4 << 20

// Stream calls f with a blob of at most most bytes, a large one while git sends
// it. Errors are those of [Objects.Read] and of f.
func (o *Objects) Stream(h object.Hash, most int64, f func(io.Reader) error) error {
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
	out, ended, err := o.repo.With(Wary).Pipe(o.ctx, nil, "-c", "core.bigFileThreshold=1m", "cat-file", "blob", h.String())
	if err != nil {
		return err
	}
	err = f(out)
	_ = out.Close() // git must not wait for a reader that has stopped
	return cmp.Or(err, <-ended)
}

func (o *Objects) written(h object.Hash) *Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[h]
}

// Bounds of the cache: an event reads the same commits and trees several times.
const (
	maxRecent     = 256
	maxRecentSize = 16 << 10
)

// names reports whether h may name an object here: it is not zero, nor of
// another repository's format.
func (o *Objects) names(h object.Hash) bool { return !h.IsZero() && h.Format() == o.format }

func (o *Objects) object(h object.Hash, most int64) (*Object, error) {
	if !o.names(h) {
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

func (o *Objects) find(h object.Hash, most int64) (*Object, error) {
	t, content, err := o.readLoose(h, most)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) { // a pack may have an undamaged copy
		if t, content = o.small.get(h, most); t == plumbing.InvalidObject {
			return o.ask(h, most)
		}
	} else if err != nil {
		return nil, err
	}
	return &Object{h, t, content}, nil
}

func (o *Objects) readLoose(h object.Hash, most int64) (t plumbing.ObjectType, content []byte, err error) {
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

// maxTrusted bounds the allocation for a size that a header announces; only
// reading shows damage.
const maxTrusted = 64 << 20

// inflate reads r, which must have size bytes. It allocates them at once:
// growing a buffer to megabytes takes longer than inflating.
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

func (o *Objects) size(h object.Hash) (int64, error) {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	_, size, err := o.question("info", h)
	return size, err
}

// ask returns an object of at most most bytes from `git cat-file`.
func (o *Objects) ask(h object.Hash, most int64) (*Object, error) {
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

func (o *Objects) question(command string, h object.Hash) (obj *Object, size int64, err error) {
	if !o.names(h) { // no need to start git
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

// damaged explains that git ended, as at an object that it can't read.
func damaged(err error) error {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, fs.ErrClosed, syscall.EPIPE} {
		if errors.Is(err, end) {
			return fmt.Errorf("%w: git can't read it", ErrDamaged)
		}
	}
	return err
}

// ErrKilled reports that a signal ended git twice as it read an object. The
// object may be fine: the system may lack memory.
var ErrKilled = errors.New("git was killed")

// crashes are the signals by which a program ends itself.
var crashes = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGILL, syscall.SIGFPE}

// lost ends a `git cat-file` that gave an unexpected answer. killed wraps
// [ErrKilled], unless git exited or crashed, as at a damaged or too large
// object.
func (o *Objects) lost(err error) (killed error) {
	p := o.batch
	if p == nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		if p != nil {
			o.endBatch()
		}
		return nil
	}
	o.batch, p.finished = nil, true
	_ = p.Stdin.Close()
	var exit *exec.ExitError
	if !errors.As(p.cmd.Wait(), &exit) {
		return nil
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && !slices.Contains(crashes, status.Signal()) {
		return fmt.Errorf("%w (%s)", ErrKilled, status.Signal())
	}
	return nil
}

// frugal bounds git's cache of delta bases, 96 MB by default.
const frugal = "core.deltaBaseCacheLimit=16m"

// catFile returns the running `git cat-file`. The caller holds batchMu.
func (o *Objects) catFile() (*Process, error) {
	var err error
	if o.batch == nil {
		o.batch, err = o.repo.With(Wary).Start(o.ctx, "-c", frugal, "cat-file", "--batch-command", "--buffer")
	}
	return o.batch, err
}

func (o *Objects) endBatch() {
	o.batch.Kill()
	o.batch = nil
}

// object reads `<hash> <type> <size>`, if whole with content and newline, or
// `<hash> missing`.
func (p *Process) object(h object.Hash, whole bool) (*Object, int64, error) {
	line, err := p.Stdout.ReadString('\n')
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
	_, err = io.ReadFull(p.Stdout, content)
	obj.Content = content[:size]
	return obj, size, err
}

// A Wanted is an object to be read, if it has at most Most bytes.
type Wanted struct {
	Hash object.Hash
	Most int64
}

const together = 256

// Each calls f for each object of list, in order, with its index, or with the
// error of [Objects.Read]. An error of f ends the walk and is returned. f must
// not use o. It misses objects that were not flushed, and suits thousands: git
// gets many questions at once.
func (o *Objects) Each(list []Wanted, f func(i int, obj *Object, err error) error) error {
	return o.inParts(plumbing.AnyObject, list, func(start int, part []Wanted, errs []error) error {
		next := 0 // the first that was not passed to f
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

// inParts asks git for types and sizes, and calls read for parts of list, with
// errors for objects that are missing, not of type t, or too large.
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

// questions asks `git cat-file` for the objects without an error, and calls
// answer for each. Git ends at a damaged or too large object; a new one
// continues after it. The error is answer's, or git could not start or was
// killed twice.
func (o *Objects) questions(command string, list []Wanted, errs []error, answer func(i int, obj *Object, size int64) error) error {
	for i, w := range list {
		if errs[i] == nil && !o.names(w.Hash) {
			errs[i] = plumbing.ErrObjectNotFound
		}
	}
	again := true // retry the same object if git is killed
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
		_, sent := io.WriteString(p.Stdin, in.String()) // git reads all of it before it answers
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
