//go:build sha256

package git

import (
	"crypto/sha256"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// What this program is built for: the object format as git calls it, its number in git's files, and the header
// of commits in which git looks for a signature.
const (
	ObjectFormat       = "sha256"
	ObjectFormatNumber = 2
	SignatureHeader    = "gpgsig-sha256"
)

// emptyTree is the hash of a tree without entries; git knows it without having it.
var emptyTree = plumbing.NewHash("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")

// Checksum is what git's files end with.
func Checksum(data []byte) [hash.Size]byte { return sha256.Sum256(data) }
