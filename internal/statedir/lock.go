package statedir

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Lock is a file that this process has locked. The system unlocks it when the
// process ends, however it does. A child can share it through [Lock.File]; it
// is free when both have ended. So its next holder knows that the previous one
// and its child are gone, and that their [Lock.Note] has no owner.
type Lock struct {
	dir   *Dir
	name  string
	file  *os.File
	left  Note
	noted Note
}

// A Note says what the holder of a lock is about to do.
type Note struct {
	At    time.Time // the time of the note; zero for now
	Words []string  // such as paths of files; without NUL
	Long  bool      // it takes longer than a moment
}

// long is the word before a long note's own.
const long = "long"

const step = 5 * time.Millisecond // between the attempts of Dir.Lock

// Lock waits for the lock of a file until ctx ends. It makes directories.
func (d *Dir) Lock(ctx context.Context, name string) (*Lock, error) {
	for {
		l, err := d.TryLock(name)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-time.After(step):
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", filepath.Base(name), ctx.Err())
		}
	}
}

// TryLock takes the lock if it is free. Otherwise it returns nil and no error.
func (d *Dir) TryLock(name string) (*Lock, error) {
	l, err := d.lock(name)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(name), err)
	}
	return l, nil
}

func (d *Dir) lock(name string) (*Lock, error) {
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l := &Lock{dir: d, name: name, file: f}
	ok, err := try(f)
	if err == nil && ok {
		err = l.read()
	}
	if err != nil || !ok {
		_ = f.Close()
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held == nil {
		d.held = make(map[string]bool)
	}
	d.held[name] = true
	return l, nil
}

// Holds reports whether a lock was taken through d and is not released, so that
// it is not another process that has it.
func (d *Dir) Holds(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held[name]
}

// Release unlocks the file. Closing is not enough: a starting child has a copy
// until it runs its program.
func (l *Lock) Release() {
	l.dir.mu.Lock()
	delete(l.dir.held, l.name)
	l.dir.mu.Unlock()
	unlock(l.file)
	_ = l.file.Close() // fails only if the lock is gone already
}

// File returns the locked file, for a child that keeps the lock as it runs.
func (l *Lock) File() *os.File { return l.file }

// With runs do, with n added to what this process has noted.
func (l *Lock) With(n Note, do func() error) error {
	before := l.noted
	n.Words = append(slices.Clip(before.Words), n.Words...)
	if err := l.Note(n); err != nil {
		return err
	}
	return cmp.Or(do(), l.Note(before))
}

// Done clears the previous holder's note.
func (l *Lock) Done() error { l.left = Note{}; return l.Note(Note{}) }

// Note notes what this process is about to do; the zero Note clears that.
func (l *Lock) Note(n Note) error {
	if n.Words != nil && n.At.IsZero() {
		n.At = time.Now()
	}
	l.noted = n
	text := ""
	if n.Words != nil {
		head := []string{strconv.FormatInt(n.At.UnixNano(), 10)}
		if n.Long {
			head = append(head, long)
		}
		text = strings.Join(append(head, n.Words...), "\x00") + "\x00"
	}
	_, err := l.file.WriteAt([]byte(text), 0)
	if err == nil {
		err = l.file.Truncate(int64(len(text)))
	}
	if err != nil {
		return fmt.Errorf("note in %s: %w", filepath.Base(l.file.Name()), err)
	}
	return nil
}

// Left returns the note of a previous holder that died, or the zero Note.
func (l *Lock) Left() Note { return l.left }

const maxNote = 1 << 20 // bytes of a note that are read

func (l *Lock) read() error {
	if info, err := l.file.Stat(); err != nil || !own(info) {
		return nil // another user's note is not acted upon
	}
	text, err := io.ReadAll(io.NewSectionReader(l.file, 0, maxNote))
	if err != nil || len(text) == 0 {
		return err
	}
	parts := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	nanos, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return nil // the holder died while writing the note, before it did anything
	}
	l.left = Note{At: time.Unix(0, nanos), Words: parts[1:]}
	if len(parts) > 1 && parts[1] == long {
		l.left.Words, l.left.Long = parts[2:], true
	}
	return nil
}
