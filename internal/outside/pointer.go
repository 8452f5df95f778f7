package outside

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
)

// MaxPointer is the most bytes of a pointer of LFS.
const MaxPointer = 1 << 10

// An OID names an object of LFS: 64 hexadecimal digits.
type OID string

// Pointer returns the object that a blob of git names, or "" if the blob is no
// pointer of LFS.
func Pointer(blob []byte) (oid OID) {
	if len(blob) > MaxPointer || !bytes.HasPrefix(blob, []byte("version http")) {
		return ""
	}
	for line := range strings.Lines(string(blob)) {
		if text, ok := strings.CutPrefix(line, "oid sha256:"); ok {
			oid = OID(strings.TrimSpace(text))
		}
	}
	if sum, err := hex.DecodeString(string(oid)); err != nil || len(sum) != 32 || !bytes.Contains(blob, []byte("\nsize ")) {
		return ""
	}
	return oid
}

// UsesLFS reports whether a repository may have files of LFS. Where git-lfs was
// neither run nor configured there are none.
func UsesLFS(repo *git.Repo, config git.Config) bool {
	return config.Get("filter.lfs.clean") != "" || config.Get("filter.lfs.process") != "" || len(repo.Glob("lfs")) > 0
}

// Here reports whether the object is in the repository's own store.
func (o OID) Here(repo *git.Repo, config git.Config) bool {
	store := config.Get("lfs.storage")
	switch {
	case store == "":
		store = filepath.Join(repo.CommonDir, "lfs")
	case !filepath.IsAbs(store):
		store = filepath.Join(repo.CommonDir, store)
	}
	info, err := os.Stat(filepath.Join(store, "objects", string(o[:2]), string(o[2:4]), string(o)))
	return err == nil && info.Mode().IsRegular()
}
