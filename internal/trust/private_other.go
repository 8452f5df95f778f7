//go:build !unix

package trust

import (
	"errors"
	"io/fs"
)

// private returns an error for other than regular files. info has no owner.
func private(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	return nil
}
