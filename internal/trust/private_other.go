//go:build !unix

package trust

import (
	"errors"
	"io/fs"
)

// private returns an error if the file is none; who may read it, the system keeps elsewhere.
func private(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	return nil
}
