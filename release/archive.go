package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file of an archive. Directories have none: they are those of the files.
type file struct {
	path string // with slashes
	mode fs.FileMode
	data []byte
}

// A made file is one of the release.
type made struct{ name, sha256 string }

// A packer writes one file of a release.
type packer func(io.Writer) error

// add makes one file of the release.
func (r *release) add(name string, pack packer) error {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if err := pack(io.MultiWriter(f, sum)); err != nil {
		return err
	}
	r.made = append(r.made, made{name, hex.EncodeToString(sum.Sum(nil))})
	return f.Close()
}

// inOrder is files with their directories, each before what is in it, as their paths with and without a
// slash at the end.
func inOrder(files []file) []file {
	seen := map[string]bool{".": true}
	all := slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(f.path); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			all = append(all, file{path: dir + "/", mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return all
}

// tarball packs files below a prefix.
func tarball(prefix string, files []file, at time.Time) packer {
	return func(w io.Writer) error {
		zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		tw := tar.NewWriter(zw)
		for _, f := range append([]file{{mode: fs.ModeDir | 0o755}}, inOrder(files)...) {
			h := &tar.Header{Typeflag: tar.TypeReg, Name: prefix + f.path, Size: int64(len(f.data)), Mode: int64(f.mode.Perm()), ModTime: at, Uname: "root", Gname: "root"}
			if f.mode.IsDir() {
				h.Typeflag = tar.TypeDir
			}
			if err := tw.WriteHeader(h); err != nil {
				return err
			}
			if _, err := tw.Write(f.data); err != nil {
				return err
			}
		}
		if err := tw.Close(); err != nil {
			return err
		}
		return zw.Close()
	}
}

// zipped is tarball for zip.
func zipped(prefix string, files []file, at time.Time) packer {
	return func(w io.Writer) error {
		zw := zip.NewWriter(w)
		for _, f := range inOrder(files) {
			h := &zip.FileHeader{Name: prefix + f.path, Method: zip.Deflate, Modified: at}
			h.SetMode(f.mode)
			out, err := zw.CreateHeader(h)
			if err != nil {
				return err
			}
			if _, err := out.Write(f.data); err != nil {
				return err
			}
		}
		return zw.Close()
	}
}
