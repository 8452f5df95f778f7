package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/statedir"
)

// The journal's file in $GIT_DIR/agent, and the one that is to replace it.
const (
	File  = "steps"
	Fresh = "steps.new"
)

const (
	maxSize = 1 << 20             // bytes of the file
	maxAge  = 14 * 24 * time.Hour // of an entry, when old ones go
	recent  = 128 << 10           // bytes that [Newest] reads
)

// Append adds an entry; a line that does not end is no part of it. The caller
// must hold the worktree's lock. Without ctimes of this machine's clock, as in
// a container's shared directory, the entry is stored without them.
func Append(repo *git.Repo, e *Entry) error {
	dir := statedir.Of(repo.GitDir)
	err := write(dir, e)
	if errors.Is(err, errFull) {
		err = shorten(dir, e)
	}
	if err != nil {
		return fmt.Errorf("write the journal of the worktree: %w", err)
	}
	return nil
}

// Claim adds an entry without a state while another process has the worktree's
// lock. Where the journal is full, or that process shortens it, it is lost.
func Claim(repo *git.Repo, e *Entry) error {
	if err := write(statedir.Of(repo.GitDir), e); err != nil && !errors.Is(err, errFull) {
		return fmt.Errorf("write the journal of the worktree: %w", err)
	}
	return nil
}

func write(dir *statedir.Dir, e *Entry) error {
	f, err := dir.OpenFile(File, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	return cmp.Or(add(f, e), f.Close())
}

var errFull = errors.New("the journal is full")

func add(f *os.File, e *Entry) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if len(e.Ctimes) > 0 && !sameClock(f, info) {
		e.Ctimes = nil
	}
	text, err := encode(e)
	if err != nil {
		return err
	}
	if size+int64(len(text)) > maxSize {
		return errFull
	}
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' { // of a process that was killed, or had a full disk
			text = append([]byte{'\n'}, text...)
		}
	}
	_, err = f.Write(text)
	return err
}

// maxSkew is how far the clock of a file system may differ from ours.
const maxSkew = 50 * time.Millisecond

// sameClock reports whether the ctimes of a file's file system are of our
// clock. It sets the file's, and does not change its content.
func sameClock(f *os.File, is fs.FileInfo) bool {
	before := time.Now()
	// A truncation, for who does not own the file, may take a claim that is added meanwhile.
	if f.Chmod(is.Mode()) != nil && f.Truncate(is.Size()) != nil {
		return false
	}
	after := time.Now() // it may be long after, on a busy machine
	info, err := f.Stat()
	if err != nil {
		return false
	}
	ms, ok := Ctime(info)
	at := time.UnixMilli(ms)
	return ok && !at.Before(before.Add(-maxSkew)) && !at.After(after.Add(maxSkew))
}

// shorten replaces the file by a shorter one with one more line. The claims and
// states of older entries stay while there is room, without the times of files,
// which take most of it.
func shorten(dir *statedir.Dir, e *Entry) error {
	text, err := encode(e)
	if err != nil {
		return err
	}
	lines, err := read(dir, maxSize)
	if err != nil {
		return err
	}
	var kept []byte
	left := len(lines)
	for line := range bytes.Lines(lines) {
		old := decode(line)
		left -= len(line)
		if old == nil || old.At < e.At-maxAge.Milliseconds() {
			continue
		}
		if old.Ctimes != nil && left > maxSize/4 {
			old.Ctimes = nil
			if line, err = encode(old); err != nil {
				return err
			}
		}
		kept = append(kept, line...)
	}
	if most := maxSize / 2; len(kept) > most {
		_, kept, _ = bytes.Cut(kept[len(kept)-most:], []byte{'\n'})
	}
	if err = dir.WriteFile(Fresh, append(kept, text...)); err == nil {
		err = dir.Rename(Fresh, File)
	}
	return err
}

// read returns the whole lines among the last most bytes of the file.
func read(dir *statedir.Dir, most int64) ([]byte, error) {
	f, err := dir.OpenFile(File, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-most)
	text := make([]byte, info.Size()-from)
	n, err := f.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text = text[:n]
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	return text[:bytes.LastIndexByte(text, '\n')+1], nil
}

// Read returns the entries, the oldest first; without a journal there are none.
func Read(repo *git.Repo) ([]*Entry, error) {
	entries, err := newest(repo, maxSize)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(entries)
	slices.Reverse(all)
	return all, nil
}

// Newest returns the last entries, at least 100 of usual ones, the newest
// first.
func Newest(repo *git.Repo) (iter.Seq[*Entry], error) { return newest(repo, recent) }

func newest(repo *git.Repo, most int64) (iter.Seq[*Entry], error) {
	text, err := read(statedir.Of(repo.GitDir), most)
	if err != nil {
		return nil, fmt.Errorf("read the journal of the worktree: %w", err)
	}
	return func(yield func(*Entry) bool) {
		for rest := text; len(rest) > 0; {
			at := bytes.LastIndexByte(rest[:len(rest)-1], '\n') + 1
			if e := decode(rest[at:]); e != nil && !yield(e) {
				return
			}
			rest = rest[:at]
		}
	}, nil
}

// Drop removes the journal. The trees that it had stay in the object database.
func Drop(repo *git.Repo) error {
	dir := statedir.Of(repo.GitDir)
	for _, file := range []string{File, Fresh} {
		if err := dir.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("drop the journal of the worktree: %w", err)
		}
	}
	return nil
}
