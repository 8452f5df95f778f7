package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxSegment is the most bytes read at once. A turn adds 20 KB and an image
// some MB; the largest known files have 400 MB.
const MaxSegment = 256 << 20

// ErrTooLarge reports more than [MaxSegment] bytes after the cursor, or asked
// for. Nothing was read; [End] gives a cursor to continue from.
var ErrTooLarge = errors.New("segment too large")

// A NewLines is the content of a session file after a cursor.
type NewLines struct {
	// Bytes are whole lines, with the last newline, as they are in the file. A
	// partial line is left for the next segment. The caller owns them.
	Bytes []byte

	Cursor Cursor // where the next segment starts: after Bytes

	// Restarted is set if the cursor does not fit, as the file is another one
	// or was rewritten. Bytes are from its beginning then.
	Restarted bool

	// Complete is set by [Wait] if Bytes contain the record it waited for.
	Complete bool
}

// ReadSegment reads the complete lines after c in the file at path. If it is
// missing, the error wraps [fs.ErrNotExist]. Only regular files are read; pipes
// and devices do not block. See also [ErrTooLarge].
func ReadSegment(path string, c Cursor) (NewLines, error) {
	t := tail{path: path, from: c}
	if _, err := t.poll(); err != nil {
		return NewLines{}, err
	}
	return t.segment(), nil
}

// A tail follows a session file from a cursor and reads each byte once.
type tail struct {
	path string
	from Cursor

	info      fs.FileInfo // of the file that buf was read from; nil before the first poll
	base      int64       // the segment's offset in the file
	buf       []byte      // up to window bytes before the segment, then the segment
	start     int         // index in buf at which the segment starts
	end       int         // index in buf after the last newline; start if none
	restarted bool
}

type change int

const (
	same     change = iota
	grown           // bytes were appended to buf
	replaced        // another file, or other content: buf is new
)

// poll reads what was added since the last poll. It opens the file by name, as
// a rename may have replaced it.
func (t *tail) poll() (change, error) {
	f, err := open(t.path)
	if err != nil {
		return same, err
	}
	defer f.Close()

	have := t.base + int64(len(t.buf)-t.start)
	if t.info == nil || !os.SameFile(t.info, f.info) {
		return replaced, t.load(f)
	}
	if f.size == have && f.info.ModTime().Equal(t.info.ModTime()) {
		return same, nil
	}
	if f.size-t.base > MaxSegment {
		return same, fmt.Errorf("read session file %q: %w", t.path, ErrTooLarge)
	}
	// Read the last bytes again: the file may have shrunk and grown since.
	back := min(len(t.buf), window)
	fresh, err := readRange(f, have-int64(back), f.size)
	if err != nil {
		return same, err
	}
	if !bytes.HasPrefix(fresh, t.buf[len(t.buf)-back:]) {
		return replaced, t.load(f)
	}
	t.info = f.info
	if len(fresh) == back { // touched, or its last bytes rewritten
		return same, nil
	}
	t.buf = append(t.buf, fresh[back:]...)
	t.seal(len(t.buf) - len(fresh) + back)
	return grown, nil
}

// load reads the file after the cursor, or all if the cursor does not fit.
func (t *tail) load(f *file) error {
	t.info, t.base = f.info, max(0, t.from.Offset)
	before, err := readRange(f, max(0, t.base-window), t.base)
	if err != nil {
		return err
	}
	t.restarted = cursorAt(t.base, before) != t.from
	if t.restarted {
		t.base, before = 0, nil
	}
	if f.size-t.base > MaxSegment {
		return fmt.Errorf("read session file %q: %w", t.path, ErrTooLarge)
	}
	t.start = len(before)
	if t.buf, err = readRange(f, t.base-int64(t.start), f.size); err != nil {
		return err
	}
	if len(t.buf) < t.start { // cut between the two reads: all that is left was read before
		t.buf = before
	}
	t.end = t.start
	t.seal(t.start)
	return nil
}

func (t *tail) seal(from int) {
	if i := bytes.LastIndexByte(t.buf[from:], '\n'); i >= 0 {
		t.end = from + i + 1
	}
}

func (t *tail) segment() NewLines {
	return NewLines{
		Bytes:     t.buf[t.start:t.end:t.end],
		Cursor:    cursorAt(t.base+int64(t.end-t.start), t.buf[:t.end]),
		Restarted: t.restarted,
	}
}

// ReadRange returns the bytes from one offset to another of the file at path,
// or fewer if it ends. Errors are those of [ReadSegment].
func ReadRange(path string, from, to int64) ([]byte, error) {
	if to-from > MaxSegment {
		return nil, fmt.Errorf("read session file %q: %w", path, ErrTooLarge)
	}
	f, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if packed(f.Name()) {
		return readPacked(path, from, to)
	}
	return readRange(f, from, to)
}

// Head returns the first line of the file at path if it is JSON of some KB, or
// else nil.
func Head(path string) []byte {
	const most = 64 << 10
	data, _ := ReadRange(path, 0, most)
	line, _, whole := bytes.Cut(data, []byte{'\n'})
	if !whole || !json.Valid(line) {
		return nil
	}
	return line
}

// Tail returns whole lines from the end of the file at path, at most limit
// bytes. Errors are those of [ReadSegment].
func Tail(path string, limit int64) ([]byte, error) {
	end, err := End(path)
	if err != nil {
		return nil, err
	}
	from := max(0, end.Offset-limit)
	data, err := ReadRange(path, from, end.Offset)
	if err == nil && from > 0 {
		_, data, _ = bytes.Cut(data, []byte{'\n'}) // the first line may be partial
	}
	return data, err
}

// LastTurn is [Tail] without what comes before the last turn, if that begins
// there. It decodes no more than that.
func LastTurn(path string, reader func() Reader, limit int64) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	last, err := end(f, f.size)
	if err != nil {
		return nil, fmt.Errorf("find the last line of %q: %w", path, err)
	}
	for at, line := range backwards(f, max(0, last.Offset-limit), last.Offset) {
		if reader().Read(0, line).Opens != nil {
			return readRange(f, at, last.Offset)
		}
	}
	return Tail(path, limit)
}

func readRange(f io.ReaderAt, lo, hi int64) ([]byte, error) {
	buf := make([]byte, max(0, hi-lo))
	n, err := f.ReadAt(buf, lo)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read session file: %w", err)
	}
	return buf[:n], nil
}

// A file is an open session file.
type file struct {
	io.ReaderAt // of its lines
	io.Closer
	info fs.FileInfo
	size int64 // of its lines
}

// open opens the session file at path. The lines of a packed one are in memory.
func open(path string) (*file, error) {
	f, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if !packed(f.Name()) {
		return &file{f, f, info, info.Size()}, nil
	}
	defer f.Close()
	size, err := Size(path) // first, as what is compressed can be of any size
	if err != nil {
		return nil, err
	}
	lines, err := readPacked(path, 0, size)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(lines), io.NopCloser(nil), info, int64(len(lines))}, nil
}

// openFile opens the session file at path if it is a regular file: a hook's
// payload may name anything. It looks first, as opening a device can have
// effects, and passes O_NONBLOCK, as a pipe may replace the file in between. If
// the file is missing, the client may have compressed it since.
func openFile(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if later, gone := os.Stat(path + Zst); gone == nil {
			path, info, err = path+Zst, later, nil
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read session file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("read session file %q: not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("read session file: %w", err)
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("read session file: %w", err)
	}
	return f, info, nil
}

// window is how many bytes before a cursor its check covers. The client only
// rewrites the last 64 KiB (to retract a partial message), which always changes
// the last few bytes. Hashing takes 15 us; of 400 MB it would take 600 ms.
const window = 4 << 10

// A Cursor is a place up to which a session file was read. The zero Cursor is
// the start of any file.
type Cursor struct {
	Offset int64  `json:"offset"`          // bytes read; always the end of a line
	Check  string `json:"check,omitempty"` // of the up to 4 KiB before Offset: SHA-256, first 32 hex digits; empty at 0
}

// cursorAt returns the cursor at offset, after at least window bytes, or all.
func cursorAt(offset int64, before []byte) Cursor {
	if offset == 0 {
		return Cursor{}
	}
	sum := sha256.Sum256(before[max(0, len(before)-window):])
	return Cursor{Offset: offset, Check: hex.EncodeToString(sum[:16])}
}

func cursorIn(f io.ReaderAt, offset int64) (Cursor, error) {
	before, err := readRange(f, max(0, offset-window), offset)
	return cursorAt(offset, before), err
}

// At returns the cursor at an offset of the file at path, where a line must
// end. Errors are those of [ReadSegment].
func At(path string, offset int64) (Cursor, error) {
	f, err := open(path)
	if err != nil {
		return Cursor{}, err
	}
	defer f.Close()
	return cursorIn(f, offset)
}

// End returns the cursor after the last complete line of the file at path. Use
// it to skip what lies before: a fork's conversation that is stored already, or
// a file that grew by more than [MaxSegment]. The error wraps
// [io/fs.ErrNotExist] if the file is missing, and [ErrTooLarge] if no line ends
// in the last 64 MiB.
func End(path string) (Cursor, error) {
	f, err := open(path)
	if err != nil {
		return Cursor{}, err
	}
	defer f.Close()
	c, err := end(f, f.size)
	if err != nil {
		return Cursor{}, fmt.Errorf("find the last line of %q: %w", path, err)
	}
	return c, nil
}

func end(f io.ReaderAt, size int64) (Cursor, error) {
	const chunk = 64 << 10
	first := max(0, size-farthest)
	for hi := size; hi > first; hi -= chunk {
		lo := max(first, hi-chunk)
		buf, err := readRange(f, lo, hi)
		if err != nil {
			return Cursor{}, err
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			return cursorIn(f, lo+int64(i)+1)
		}
	}
	if first > 0 {
		return Cursor{}, ErrTooLarge
	}
	return Cursor{}, nil
}
