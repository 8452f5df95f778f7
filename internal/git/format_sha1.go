//go:build !sha256

package git

import (
	"crypto/sha1"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// What this program is built for: the object format as git calls it, its number in git's files, and the header
// of commits in which git looks for a signature.
const (
	ObjectFormat       = "sha1"
	ObjectFormatNumber = 1
	SignatureHeader    = "gpgsig"
)

// emptyTree is the hash of a tree without entries; git knows it without having it.
var emptyTree = plumbing.NewHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// Checksum is what git's files end with. It names nothing that somebody could want to collide, so it is not go-git's
// SHA-1, which looks for collisions and takes longer.
func Checksum(data []byte) [hash.Size]byte { return sha1.Sum(data) }
