package copilot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// sessions is the directory with one for each session, named as it.
const sessions = "session-state"

// Path returns the file of a session. Payloads of most events lack it.
func Path(config, session string) string {
	return filepath.Join(config, sessions, session, "events.jsonl")
}

// Files lists the conversations.
func Files(config, prefix string) ([]transcript.File, error) {
	entries, err := os.ReadDir(filepath.Join(config, sessions))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []transcript.File
	for _, e := range entries {
		if id := e.Name(); e.IsDir() && strings.HasPrefix(id, prefix) && hooks.ValidID(id) {
			path := Path(config, id)
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				files = append(files, transcript.File{Session: id, Path: path, Size: info.Size()})
			}
		}
	}
	return files, err
}

// History lists the conversations that began near dirs, or beside them in a
// repository.
func History(config string, dirs []string) ([]transcript.File, error) {
	all, err := Files(config, "")
	for i := range all {
		all[i].Dir, all[i].Commit = began(all[i].Path)
	}
	return slices.DeleteFunc(all, func(f transcript.File) bool {
		return f.Dir == "" || !transcript.Near(f.Dir, dirs) && (f.Commit == "" || !transcript.Beside(f.Dir, dirs))
	}), err
}

// began returns the directory and the commit that a file's first line names.
func began(path string) (dir, commit string) {
	context := gjson.GetBytes(transcript.Head(path), "data.context")
	return text(context, "cwd"), text(context, "headCommit")
}
