// Package lock keeps our processes apart with files that the system unlocks when the holder dies.
//
// A lock can be shared with a child through [Lock.File]; it is free when both have ended. So
// whoever takes a lock knows that the previous holder and its child are gone, and that whatever the
// holder noted in the lock ([Lock.Note]) no longer has an owner.
package lock

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

	"gitagent/internal/statedir"
)

// A Lock is a file that this process has locked.
type Lock struct {
	file  *os.File
	left  Note
	noted Note
}

// A Note says what a holder is about to do.
type Note struct {
	At    time.Time // when the note was made; now, if it is zero
	Words []string  // for instance paths of files; without NUL
	Long  bool      // it takes longer than a moment
}

// long is the word before a note's own that says so.
const long = "long"

const step = 5 * time.Millisecond // between attempts of Take

// Take waits for the lock of that name in dir until ctx ends. Missing directories are made.
func Take(ctx context.Context, dir *statedir.Dir, name string) (*Lock, error) {
	for {
		l, err := Try(dir, name)
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

// Try takes the lock if it is free. Otherwise it returns nil and no error.
func Try(dir *statedir.Dir, name string) (*Lock, error) {
	l, err := take(dir, name)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(name), err)
	}
	return l, nil
}

func take(dir *statedir.Dir, name string) (*Lock, error) {
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l := &Lock{file: f}
	ok, err := try(f)
	if err == nil && ok && own(f) { // what somebody else has noted is not acted upon
		err = l.read()
	}
	if err != nil || !ok {
		_ = f.Close()
		return nil, err
	}
	return l, nil
}

// Release unlocks the file. To close it would not do: a child that is being started just now has a
// copy until it runs its program.
func (l *Lock) Release() {
	unlock(l.file)
	_ = l.file.Close() // can only fail when the lock is gone already
}

// File is the locked file, for a child that keeps the lock while it runs.
func (l *Lock) File() *os.File { return l.file }

// With runs do, and meanwhile adds n to what this process has noted.
func (l *Lock) With(n Note, do func() error) error {
	before := l.noted
	n.Words = append(slices.Clip(before.Words), n.Words...)
	if err := l.Note(n); err != nil {
		return err
	}
	return cmp.Or(do(), l.Note(before))
}

// Done clears the previous holder's note, once that has been dealt with.
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

// Left is what the previous holder was about to do when it died; the zero Note if it did not die or
// had noted nothing.
func (l *Lock) Left() Note { return l.left }

const maxNote = 1 << 20 // bytes of a note that are read

func (l *Lock) read() error {
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
