package gittest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gitagent/internal/sshsig"
)

// Key gives a home directory the key of a user to sign ledgers with, if it has none, and returns its
// public part. A name always has the same key.
func Key(home, name string) string {
	seed := sha256.Sum256([]byte(name))
	key, err := sshsig.NewKey(bytes.NewReader(seed[:]))
	if err != nil {
		panic(err)
	}
	file, err := key.Encode(name + "@example.invalid")
	dir := filepath.Join(home, ".config", "git-agent")
	path := filepath.Join(dir, "key")
	if _, e := os.Lstat(path); err == nil && errors.Is(e, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(path, file, 0o600)
		}
	}
	if err != nil {
		panic(err)
	}
	return key.Public().String()
}
