package gittest

import (
	"path/filepath"
	"regexp"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/hash"
)

var sha1Hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{40}\b`) })

// Hashes returns a text in which every made-up hash of 40 hexadecimal digits has as many as those of the object format
// that the tests are built for. Zeros stay zeros, and what was equal stays equal.
func Hashes(text string) string {
	return sha1Hash().ReplaceAllStringFunc(text, func(h string) string { return (h + h)[:hash.HexSize] })
}

// OtherFormat is the object format that the tests are not built for.
var OtherFormat = map[int]string{20: "sha256", 32: "sha1"}[hash.Size]

// Vectors is the directory of the test vectors in dir that are for the object format that the tests are built for.
func Vectors(dir string) string {
	if hash.Size == 32 {
		return filepath.Join(dir, "sha256")
	}
	return dir
}

// Tags are the build tags of programs for the object format that the tests are built for.
var Tags = map[int]string{32: "sha256"}[hash.Size]
