package objectpurge

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	// piece is how many bytes of something large are looked at at once, and overlap how many of them
	// again with the next ones: nothing that is longer is found where it is cut.
	piece   = 16 << 20
	overlap = 1 << 20

	smallest = 64 << 10 // bytes of a buffer
)

// pieces passes what r reads to f, until f returns true. The buffer is of the caller's, or made if it is
// too small, and returned. It grows with what is read: most files are small.
func pieces(r io.Reader, buffer []byte, f func(part []byte) bool) ([]byte, error) {
	buffer = slices.Grow(buffer[:0], smallest)
	from, before := 0, 0 // what was read, and what of it was passed with the piece before
	for {
		n, err := io.ReadFull(r, buffer[from:min(piece, cap(buffer))])
		if from += n; err == nil && from < piece {
			buffer = slices.Grow(buffer[:from], from)
			continue
		}
		part := buffer[:from]
		if from > before || from == 0 {
			if f(part) {
				return buffer, nil
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return buffer, nil
		}
		if err != nil {
			return buffer, err
		}
		from = copy(buffer[:overlap], part[len(part)-overlap:])
		before = from
	}
}

// files passes the path of every plain file of a git directory to f, relative to it, but for the objects
// and what is a repository of its own.
func files(commonDir string, f func(name string) error) error {
	return filepath.WalkDir(commonDir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) { // as a lock, or a file of a session
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(commonDir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "objects" || name == "modules"):
			return fs.SkipDir
		case d.Type().IsRegular():
			return f(name)
		}
		return nil
	})
}
