package hooks

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the owner of the process, as with other editors.
func keepOwner(*os.File, fs.FileInfo) {}
