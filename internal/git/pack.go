package git

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// writePack writes the objects as one pack. Git sees a pack by its index,
// so the index gets its name last; a process that dies before that leaves
// files that git prunes by their names.
func (o *Objects) writePack(hashes []plumbing.Hash) error {
	var pack, idx bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, o, false).Encode(hashes, 0); err != nil {
		return err
	}
	if err := indexPack(&idx, pack.Bytes()); err != nil {
		return err
	}
	dir := filepath.Join(o.dir, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	packTmp, err := tempFile(dir, "tmp_pack_", pack.Bytes())
	if err != nil {
		return err
	}
	defer os.Remove(packTmp) // gone already when all went well
	idxTmp, err := tempFile(dir, "tmp_idx_", idx.Bytes())
	if err != nil {
		return err
	}
	defer os.Remove(idxTmp)
	// Like git, name the pack by a hash over it: two writers of the same objects meet in the same file.
	base := filepath.Join(dir, fmt.Sprintf("pack-%x", sha1.Sum(pack.Bytes())))
	if err := os.Rename(packTmp, base+".pack"); err != nil {
		return err
	}
	return os.Rename(idxTmp, base+".idx")
}

// indexPack writes the index of a pack.
func indexPack(w io.Writer, pack []byte) error {
	index := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(bytes.NewReader(pack)), index)
	if err != nil {
		return err
	}
	if _, err := parser.Parse(); err != nil {
		return err
	}
	idx, err := index.Index()
	if err != nil {
		return err
	}
	_, err = idxfile.NewEncoder(w).Encode(idx)
	return err
}

// tempFile writes a read-only file and returns its name.
func tempFile(dir, prefix string, content []byte) (string, error) {
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o444)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
