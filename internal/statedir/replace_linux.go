package statedir

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Replace renames from to to. If the system can exchange two files of one
// directory, the old one stays, as from: an exchange takes 0.1 ms, but ext4
// syncs a file that is renamed over another, in 0.35 to 0.7.
func (d *Dir) Replace(from, to string) error {
	in, err := d.directory(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer in.Close()
	fd := int(in.Fd())
	if unix.Renameat2(fd, filepath.Base(from), fd, filepath.Base(to), unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return d.Rename(from, to)
}
