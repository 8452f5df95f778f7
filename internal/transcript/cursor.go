package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

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
	f, _, err := open(path)
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
	f, info, err := open(path)
	if err != nil {
		return Cursor{}, err
	}
	defer f.Close()
	c, err := end(f, info.Size())
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
