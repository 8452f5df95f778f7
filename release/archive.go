package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"path"
	"testing/fstest"
	"time"
)

// below returns files below top and all their directories, with one time and no
// owner, which tar takes for root.
func below(top string, files fstest.MapFS, at time.Time) fs.FS {
	all := fstest.MapFS{}
	for name, f := range files {
		name = path.Join(top, name)
		all[name] = &fstest.MapFile{Data: f.Data, Mode: f.Mode, ModTime: at}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			all[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: at}
		}
	}
	return all
}

func tarball(files fs.FS) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.AddFS(files), w.Close()); err != nil {
		return nil, err
	}
	return compressed(b.Bytes())
}

func zipped(files fs.FS) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := errors.Join(w.AddFS(files), w.Close())
	return b.Bytes(), err
}

// compressed returns data as `gzip -9n` does, without a name and a time.
func compressed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}
