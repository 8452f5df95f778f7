package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// SubagentFiles lists the sub-agents that have a file agent-<id>.jsonl in dir
// that is not as long as read says, by ids that are valid. A link in the place
// of dir, of the directory that it is in, or of a file is not followed: the
// error names it.
func SubagentFiles(dir string, valid func(id string) bool, read map[string]int64) ([]SubagentFile, error) {
	for _, d := range []string{filepath.Dir(dir), dir} {
		switch info, err := os.Lstat(d); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("sub-agents: %s is no directory, and is not followed", d)
		}
	}
	entries, err := os.ReadDir(dir)
	var list []SubagentFile
	for _, e := range entries {
		name, begins := strings.CutPrefix(e.Name(), "agent-")
		id, ends := strings.CutSuffix(name, ".jsonl")
		if !begins || !ends || !valid(id) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if e.Type() == fs.ModeSymlink {
			err = errors.Join(err, fmt.Errorf("sub-agent %s: %s is a link, and is not followed", id, path))
		}
		info, gone := e.Info() // of a symbolic link itself
		if gone != nil || !info.Mode().IsRegular() || info.Size() == read[id] {
			continue
		}
		list = append(list, SubagentFile{ID: id, Path: path, Size: info.Size()})
	}
	return list, err
}

// Note returns what the client notes of a sub-agent in agent-<id>.meta.json
// beside its file. It is nil if there is none, as of older clients.
func (f SubagentFile) Note() []byte {
	const most = 1 << 20 // it has the call's description
	path := strings.TrimSuffix(f.Path, ".jsonl") + ".meta.json"
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	note, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return nil
	}
	return note
}
