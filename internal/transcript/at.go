package transcript

import (
	"bytes"
	"encoding/json"
)

// At returns the cursor at offset in the file at path. The caller must know that a line ends there.
// Errors are those of [ReadSegment].
func At(path string, offset int64) (Cursor, error) {
	f, _, err := open(path)
	if err != nil {
		return Cursor{}, err
	}
	defer f.Close()
	before, err := readRange(f, max(0, offset-window), offset)
	return cursorAt(offset, before), err
}

// ReadRange returns the bytes of the file at path from one offset to another, or fewer if it ends
// before. Errors are those of [ReadSegment].
func ReadRange(path string, from, to int64) ([]byte, error) {
	f, _, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRange(f, from, to)
}

// Readable reports whether a segment could come from a client: it is empty, or one of its lines is
// a JSON object.
func Readable(segment []byte) bool {
	for _, line := range lines(segment) {
		if json.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(line), []byte{'{'}) {
			return true
		}
	}
	return len(segment) == 0
}
