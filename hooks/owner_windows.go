package hooks

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the process's owner, as in editors.
func keepOwner(*os.File, fs.FileInfo) {}
