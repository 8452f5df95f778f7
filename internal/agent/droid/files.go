package droid

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

// Conversations are in sessions/<project>/<session>.jsonl. A project is named
// after its directory, in which the client looks for a session.
const (
	sessions  = "sessions"
	extension = ".jsonl"
)

// project returns the name that the client gives to a directory.
func project(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	names := strings.FieldsFunc(filepath.ToSlash(dir), func(c rune) bool { return c == '/' })
	return "-" + strings.Join(names, "-")
}

// Files lists the conversations of all projects.
func Files(config, prefix string) ([]transcript.File, error) {
	projects, err := os.ReadDir(filepath.Join(config, sessions))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []transcript.File
	for _, p := range projects {
		dir := filepath.Join(config, sessions, p.Name())
		entries, _ := os.ReadDir(dir) // none, if it is no directory
		for _, e := range entries {
			id, is := strings.CutSuffix(e.Name(), extension)
			if !is || !strings.HasPrefix(id, prefix) || !hooks.ValidID(id) || !e.Type().IsRegular() {
				continue
			}
			if info, err := e.Info(); err == nil { // otherwise it was removed
				files = append(files, transcript.File{Session: id, Path: filepath.Join(dir, e.Name()), Size: info.Size()})
			}
		}
	}
	return files, err
}

// History lists the conversations that began near dirs.
func History(config string, dirs []string) ([]transcript.File, error) {
	all, err := Files(config, "")
	for i := range all {
		all[i].Dir = began(all[i].Path)
	}
	all = slices.DeleteFunc(all, func(f transcript.File) bool { return f.Dir == "" || !transcript.Near(f.Dir, dirs) })
	slices.SortFunc(all, func(a, b transcript.File) int { return strings.Compare(a.Session, b.Session) })
	return all, err
}

// began returns the directory that a file's first line names.
func began(path string) string {
	return text(gjson.ParseBytes(transcript.Head(path)), "cwd")
}
