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

// The plugin only appends to a conversation's file,
// <data>/opencode/<session>.jsonl: each complete message with its parts as a
// line. After a person has gone back, it goes on in <session>.1.jsonl,
// <session>.2.jsonl; the first line names the message before. If files are
// deleted, the plugin begins them again from OpenCode's data.

// conversations returns the directory of these files, or "" without a home.
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

// Files lists the files of the sessions with a prefix.
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
	return list, nil // by name, as the directory is read
}

// Continues reads the first line of a file: its first turn may jump.
func Continues(path string, at int64) (promptID string, jumps bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || at > 0 {
		return "", false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 1<<10).ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(line, []byte(`{"continues":`)) || !gjson.ValidBytes(line) {
		return "", false, nil // a message, which may be longer
	}
	if id := gjson.GetBytes(line, "continues").Str; hooks.ValidID(id) {
		promptID = id
	}
	return promptID, true, nil
}
