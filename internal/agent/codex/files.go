package codex

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/transcript"
)

// The directories of the client's configuration in which rollouts are: by day, and put away.
const (
	sessions = "sessions"
	archived = "archived_sessions"
)

// A file is a rollout by its name: rollout-<time>-<thread>.jsonl, or rollout-<time>-<thread>_<id>.jsonl
// if it is another file of the same thread. The client begins one when a person goes back.
type file struct {
	path   string
	began  string // when, as the name has it: later names sort behind
	thread string
	id     string // of the file: the thread's for its first one
}

// parse returns what a rollout's name says; ok is false for other names.
func parse(path string) (f file, ok bool) {
	const time = len("2006-01-02T15-04-05-")
	name, is := strings.CutPrefix(filepath.Base(path), "rollout-")
	name, ends := strings.CutSuffix(name, ".jsonl")
	if !is || !ends || len(name) <= time || name[time-1] != '-' {
		return file{}, false
	}
	thread, id, more := strings.Cut(name[time:], "_")
	if !more {
		id = thread
	}
	f = file{path: path, began: name[:time-1], thread: thread, id: id}
	return f, safe(thread) && safe(id)
}

// safe reports whether an id is one, and so neither a path nor an option.
func safe(id string) bool {
	return id != "" && id[0] != '-' && !strings.ContainsFunc(id, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// rollouts lists the rollouts below the client's configuration, in order of their names.
func rollouts(config string) (list []file, err error) {
	if config == "" {
		return nil, nil
	}
	for _, top := range []string{sessions, archived} {
		root := filepath.Join(config, top) + string(filepath.Separator) // which may be a symbolic link
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			}
			if f, ok := parse(path); ok && d.Type().IsRegular() {
				list = append(list, f)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list rollouts: %w", err)
		}
	}
	slices.SortFunc(list, func(a, b file) int { return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.id, b.id)) })
	return list, nil
}

// current returns of each thread the file that it is in now, the newest, in order of the threads' ids.
func current(config string) ([]file, error) {
	list, err := rollouts(config)
	newest := make(map[string]file, len(list))
	for _, f := range list {
		newest[f.thread] = f
	}
	list = list[:0]
	for _, f := range newest {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(a.thread, b.thread) })
	return list, err
}

// Files lists the rollouts of the threads whose id begins with a prefix: of each the newest.
func Files(config, prefix string) ([]transcript.File, error) {
	list, err := current(config)
	var files []transcript.File
	for _, f := range list {
		if strings.HasPrefix(f.thread, prefix) {
			files = append(files, transcript.File{Session: f.thread, Path: f.path})
		}
	}
	return files, err
}

// History lists the threads that were begun in one of dirs, or below one. Those of sub-agents are no
// conversations.
func History(config string, dirs []string) ([]transcript.File, error) {
	list, err := current(config)
	if err != nil {
		return nil, err
	}
	running, _ := Running(config) // that nothing runs is a good guess
	var all []transcript.File
	for _, f := range list {
		m, err := readMeta(f.path)
		if err != nil || m.Thread == "subagent" || !slices.ContainsFunc(dirs, func(dir string) bool { return within(m.Cwd, dir) }) {
			continue
		}
		info, err := os.Stat(f.path)
		if err != nil {
			continue // it was moved to the archive, or removed
		}
		one := transcript.File{Session: f.thread, Path: f.path, Size: info.Size()}
		for _, r := range running {
			one.Runs = one.Runs || r.Session == f.thread && r.Runs()
		}
		all = append(all, one)
	}
	return all, nil
}

// within reports whether a path is a directory or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), filepath.Clean(dir))
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// A meta is what is read of a rollout's first record.
type meta struct {
	Cwd    string `json:"cwd"`
	Thread string `json:"thread_source"`
	Base   *base  `json:"history_base"`
}

// A base is where a rollout goes on from.
type base struct {
	File string `json:"thread_id"` // that file's id, which is the thread's only for its first one
	End  int64  `json:"end_byte_offset"`
}

// readMeta reads a rollout's first record, which has the client's instructions in it: 20 KB.
func readMeta(path string) (meta, error) {
	const most = 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return meta{}, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, most)).ReadBytes('\n')
	if err != nil {
		return meta{}, fmt.Errorf("read the first record of %q: %w", path, err)
	}
	var record struct {
		Type    string `json:"type"`
		Payload meta   `json:"payload"`
	}
	if err = json.Unmarshal(line, &record); err == nil && record.Type != "session_meta" {
		err = errors.New("it says something else")
	}
	if err != nil {
		return meta{}, fmt.Errorf("read the first record of %q: %w", path, err)
	}
	return record.Payload, nil
}

// Continues returns the id of the last turn before the place that a rollout goes on from. The client
// begins such a file when a person goes back in the conversation, and for a fork of its own. What it
// goes on from is looked for by its id among the client's rollouts: "" if it isn't there, or is not
// what it was.
func Continues(path string) (promptID string, err error) {
	const deepest = 100 // times that a person has gone back, and further
	config, ok := configOf(path)
	if !ok {
		return "", nil
	}
	m, err := readMeta(path)
	if err != nil || m.Base == nil {
		return "", err
	}
	list, err := rollouts(config)
	if err != nil {
		return "", err
	}
	for range deepest {
		at := slices.IndexFunc(list, func(f file) bool { return f.id == m.Base.File })
		if at < 0 {
			return "", nil
		}
		id, err := lastTurn(list[at].path, m.Base.End)
		if id != "" || err != nil {
			return id, err
		}
		if m, err = readMeta(list[at].path); err != nil || m.Base == nil {
			return "", err
		}
	}
	return "", nil
}

// configOf returns the client's configuration directory, of a path within it.
func configOf(path string) (config string, ok bool) {
	for dir := filepath.Dir(path); ; {
		up := filepath.Dir(dir)
		switch name := filepath.Base(dir); {
		case name == sessions || name == archived:
			return up, true
		case up == dir:
			return "", false
		}
		dir = up
	}
}

// lastTurn returns the id of the last turn that begins before an offset of a rollout, at which a line
// must end: else it isn't the file that was meant. It is looked for from there backwards, in more and
// more of the file, which may have hundreds of megabytes.
func lastTurn(path string, end int64) (id string, err error) {
	for size := int64(1 << 20); id == "" && end > 0; size = min(8*size, transcript.MaxSegment) {
		from := max(0, end-size)
		data, err := transcript.ReadRange(path, from, end)
		if err != nil || int64(len(data)) < end-from || data[len(data)-1] != '\n' {
			return "", err
		}
		if from > 0 {
			_, data, _ = bytes.Cut(data, []byte{'\n'}) // the end of a line
		}
		id = lastIn(data)
		if from == 0 || size == transcript.MaxSegment {
			break
		}
	}
	return id, nil
}

// lastIn returns the id of the last turn that begins in a part of a rollout.
func lastIn(data []byte) (id string) {
	r := Reader()
	at := 0
	for line := range bytes.Lines(data) {
		if e := r.Read(at, bytes.TrimSuffix(line, []byte{'\n'})); e.Opens != nil {
			id = e.Opens.PromptID
		}
		at += len(line)
	}
	return id
}
