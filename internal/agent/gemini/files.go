package gemini

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Conversations are in tmp/<project>/chats/session-<time>-<first 8 of the
// id>.jsonl; tmp/<project>/.project_root has the project's directory.
const (
	projects = "tmp"
	chats    = "chats"
	owner    = ".project_root"
)

type project struct {
	name string
	dir  string // "" if unknown
}

// known lists the projects of a configuration, by name.
func known(config string) ([]project, error) {
	entries, err := os.ReadDir(filepath.Join(config, projects))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var list []project
	for _, e := range entries {
		if e.IsDir() {
			data, _ := os.ReadFile(filepath.Join(config, projects, e.Name(), owner))
			list = append(list, project{e.Name(), strings.TrimSpace(string(data))})
		}
	}
	return list, err
}

// in lists a project's conversations by a prefix of the session. A resumed
// session may have other files with the head and no words of a person.
func (p project) in(config, prefix string) []transcript.File {
	dir := filepath.Join(config, projects, p.name, chats)
	entries, _ := os.ReadDir(dir)
	var files []transcript.File
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		at := strings.LastIndexByte(name, '-')
		if !ok || at < 0 || !strings.HasPrefix(name, "session-") || !e.Type().IsRegular() {
			continue
		}
		if short := name[at+1:]; !strings.HasPrefix(prefix, short) && !strings.HasPrefix(short, prefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if id := sessionOf(path); strings.HasPrefix(id, prefix) && hooks.ValidID(id) {
			files = append(files, transcript.File{Session: id, Path: path})
		}
	}
	return files
}

// sessionOf returns the session that a file begins with, or "" if it is empty.
func sessionOf(path string) (id string) {
	const most = 8 << 20 // of heads, each with the client's text about the project
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, most), 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		switch {
		case err != nil:
			return ""
		case id == "":
			if id = gjson.GetBytes(line, "sessionId").Str; id == "" {
				return ""
			}
		case bytes.HasPrefix(line, []byte(`{"id":`)):
			return id
		}
	}
}

// Files lists the conversations of all projects.
func Files(config, prefix string) ([]transcript.File, error) {
	list, err := known(config)
	var files []transcript.File
	for _, p := range list {
		files = append(files, p.in(config, prefix)...)
	}
	return files, err
}

// History lists the conversations of the projects in or below dirs.
func History(config string, dirs []string) ([]transcript.File, error) {
	list, err := known(config)
	if err != nil {
		return nil, err
	}
	var all []transcript.File
	for _, p := range list {
		if !slices.ContainsFunc(dirs, func(dir string) bool { return within(p.dir, dir) }) {
			continue
		}
		for _, f := range p.in(config, "") {
			if info, err := os.Stat(f.Path); err == nil { // otherwise it was removed
				f.Size = info.Size()
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(a, b transcript.File) int { return cmp.Compare(a.Session, b.Session) })
	return all, nil
}

func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), filepath.Clean(dir))
	return path != "" && ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}
