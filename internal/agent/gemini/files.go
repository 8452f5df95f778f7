package gemini

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
//
// Before, a project was the SHA-256 of its directory: the client renames that
// when it is started there. And a conversation was one document, with the name
// but for the last letter: a client that resumes it first writes it again as
// lines, those of [transcript.Document], and leaves the document.
const (
	projects = "tmp"
	chats    = "chats"
	owner    = ".project_root"
)

// Worktrees is where --worktree makes worktrees.
const Worktrees = ".gemini/worktrees"

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

// in lists a project's conversations by a prefix of the session, and what can't
// be read by that of the file's name. A resumed session may have other files
// with the head and no words of a person.
func (p project) in(config, prefix string) []transcript.File {
	dir := filepath.Join(config, projects, p.name, chats)
	entries, _ := os.ReadDir(dir)
	var files []transcript.File
	for _, e := range entries {
		name, end, _ := strings.Cut(e.Name(), ".")
		at := strings.LastIndexByte(name, '-')
		if at < 0 || !strings.HasPrefix(name, "session-") || !e.Type().IsRegular() {
			continue
		}
		if end != "jsonl" {
			_, err := os.Lstat(filepath.Join(dir, name+".jsonl"))
			if err == nil || end != "json" && !transcript.Compressed(end) {
				continue // a document that was resumed since, or something else
			}
		}
		if short := name[at+1:]; !strings.HasPrefix(prefix, short) && !strings.HasPrefix(short, prefix) {
			continue
		}
		one := transcript.File{Session: name, Path: filepath.Join(dir, e.Name()), Dir: p.dir}
		id, err := sessionOf(one.Path)
		switch {
		case err != nil:
			one.Err = err
		case strings.HasPrefix(id, prefix) && hooks.ValidID(id):
			one.Session = id
		default:
			continue
		}
		files = append(files, one)
	}
	return files
}

// sessionOf returns the session that a file begins with, or "" if nothing was
// said in it, or only by a subagent.
func sessionOf(path string) (id string, err error) {
	const most = 8 << 20 // of heads, each with the client's text about the project
	if transcript.Compressed(path) {
		return "", fmt.Errorf("read session file %q: %w", path, transcript.ErrForeign)
	}
	f, err := transcript.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, most), 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return "", nil
		case err != nil:
			return "", err
		case id == "":
			head := gjson.ParseBytes(line)
			switch id = head.Get("sessionId").Str; {
			case !transcript.Valid(line) || id == "":
				return "", fmt.Errorf("read session file %q: %w: it does not begin with a session", path, transcript.ErrDamaged)
			case head.Get("kind").Str == "subagent":
				return "", nil
			}
		case bytes.HasPrefix(line, []byte(`{"id":`)):
			return id, nil
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
	return slices.DeleteFunc(files, func(f transcript.File) bool { return f.Err != nil }), err
}

// History lists the conversations of the projects that may be in or below dirs:
// of two files of a session, the larger.
func History(config string, dirs []string) ([]transcript.File, error) {
	list, err := known(config)
	if err != nil {
		return nil, err
	}
	hashed := make(map[string]string, len(dirs))
	for _, dir := range dirs {
		sum := sha256.Sum256([]byte(dir))
		hashed[hex.EncodeToString(sum[:])] = dir
	}
	var all []transcript.File
	for _, p := range list {
		if p.dir = cmp.Or(p.dir, hashed[p.name]); p.dir == "" || !transcript.Near(p.dir, dirs) {
			continue
		}
		for _, f := range p.in(config, "") {
			if info, err := os.Stat(f.Path); err == nil { // otherwise it was removed
				f.Size = info.Size()
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(a, b transcript.File) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(b.Size, a.Size))
	})
	return slices.CompactFunc(all, func(a, b transcript.File) bool { return a.Session == b.Session }), nil
}
