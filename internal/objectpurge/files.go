package objectpurge

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gitagent/internal/git"
)

const (
	// piece is how many bytes of something large are searched at once. Pieces
	// share overlap bytes, so only longer texts are missed where they are cut.
	piece   = 16 << 20
	overlap = 1 << 20

	smallest = 64 << 10 // bytes of a buffer
)

// pieces passes what r reads to f, until f returns true. It returns the buffer,
// grown with what is read, as most files are small.
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

// files passes each plain file of a git directory, and of the one with its
// refs, but no objects, to f: the directory and the file's path from there.
func files(repo *git.Repo, f func(dir, name string) error) error {
	refs := repo.RefsDir()
	if refs != repo.CommonDir {
		if err := filesIn(refs, "", f); err != nil {
			return err
		}
	}
	return filesIn(repo.CommonDir, refs, f)
}

func filesIn(dir, but string, f func(dir, name string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) { // as a lock, or a file of a session
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "objects" || name == "modules" || path == but && path != dir):
			return fs.SkipDir
		case d.Type().IsRegular():
			return f(dir, name)
		}
		return nil
	})
}
