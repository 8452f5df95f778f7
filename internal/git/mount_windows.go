package git

import (
	"path/filepath"
	"strings"
)

// sameMount reports whether two directories are on one drive.
func sameMount(a, b string) bool {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b))
}
