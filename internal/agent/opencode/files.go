package opencode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// The plugin keeps each conversation in a file, <data>/opencode/<session>.jsonl, to which it only ever
// adds: a message with its parts per line, once it is complete. When a person has gone back in the
// conversation, it goes on in <session>.1.jsonl, <session>.2.jsonl, whose first line says after which
// message. The files may be deleted at any time: the plugin begins them again, from what OpenCode has.

// conversations is the directory of these files, "" if the environment names no home directory.
func conversations(getenv func(string) string) string {
	data := getenv("XDG_DATA_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(data) {
		if home == "" {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "git-agent", "opencode")
}

// Files lists the files of the sessions whose id begins with a prefix.
func Files(config, prefix string) ([]transcript.File, error) {
	dir := conversations(os.Getenv)
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list conversations of OpenCode: %w", err)
	}
	var list []transcript.File
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Name(), ".")
		if strings.HasSuffix(e.Name(), ".jsonl") && e.Type().IsRegular() && hooks.ValidID(id) && strings.HasPrefix(id, prefix) {
			list = append(list, transcript.File{Session: id, Path: filepath.Join(dir, e.Name())})
		}
	}
	return list, nil // in order of their names, as the directory is read
}

// Continues reads the first line of a file.
func Continues(path string) (promptID string, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 1<<10).ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(line, []byte(`{"continues":`)) || !gjson.ValidBytes(line) {
		return "", nil // a message, which may be longer than this
	}
	if id := gjson.GetBytes(line, "continues").Str; hooks.ValidID(id) {
		promptID = id
	}
	return promptID, nil
}
