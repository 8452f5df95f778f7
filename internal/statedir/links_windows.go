package statedir

import (
	"io/fs"
	"os"
)

func own(fs.FileInfo) bool { return true } // the directory for temporary files is the user's own

func links(fs.FileInfo) int { return 1 } // a file that is open does not tell

// On Windows what we make has the access list of the directory above.

func shared(fs.FileInfo) bool { return false }

func (d *Dir) giveDir(*os.Root, string) error { return nil }

func (d *Dir) giveAll(*os.Root, string, *os.File, fs.FileInfo) error { return nil }
