package codex

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// The directories of rollouts: by day, and archived.
const (
	sessions = "sessions"
	archived = "archived_sessions"
)

// A file is a rollout by its name, rollout-<time>-<thread>.jsonl, or, after a
// person went back, rollout-<time>-<thread>_<id>.jsonl. The client compresses
// old ones if its features.local_thread_store_compression is on, adds
// [transcript.Zst] to the name, and decompresses one that is resumed.
type file struct {
	path   string
	began  string // the time in the name, which sorts files
	thread string
	id     string // of the file: the thread's for its first one
	err    error  // why it can't be read, by its name
}

// parse reads a rollout's name; ok is false for other names.
func parse(path string) (f file, ok bool) {
	const time = len("2006-01-02T15-04-05-")
	name, is := strings.CutPrefix(filepath.Base(path), "rollout-")
	name, end, ends := strings.Cut(name, ".jsonl")
	var err error
	switch {
	case end == "" || end == transcript.Zst:
	case transcript.Compressed(end):
		err = transcript.ErrForeign
	default:
		return file{}, false
	}
	if !is || !ends || len(name) <= time || name[time-1] != '-' {
		return file{}, false
	}
	thread, id, more := strings.Cut(name[time:], "_")
	if !more {
		id = thread
	}
	f = file{path: path, began: name[:time-1], thread: thread, id: id, err: err}
	return f, safe(thread) && safe(id)
}

// safe reports whether id is neither a path nor an option.
func safe(id string) bool {
	return id != "" && id[0] != '-' && !strings.ContainsFunc(id, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// rollouts lists all rollouts, the oldest first. One that is there as it is and
// compressed, while the client does that, is listed as it is.
func rollouts(config string) (list []file, err error) {
	if config == "" {
		return nil, nil
	}
	for _, top := range []string{sessions, archived} {
		root := filepath.Join(config, top) + string(filepath.Separator) // may be a symbolic link
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
	slices.SortFunc(list, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.id, b.id), cmp.Compare(len(a.path), len(b.path)))
	})
	return slices.CompactFunc(list, func(a, b file) bool { return a.began == b.began && a.id == b.id }), nil
}

// current returns the newest file of each thread, by the thread's id.
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

// Files lists the newest rollouts of threads by a prefix of their ids.
func Files(config, prefix string) ([]transcript.File, error) {
	list, err := current(config)
	var files []transcript.File
	for _, f := range list {
		if strings.HasPrefix(f.thread, prefix) && f.err == nil {
			files = append(files, transcript.File{Session: f.thread, Path: f.path})
		}
	}
	return files, err
}

// History lists the threads that may have begun in or below dirs, but not those
// of subagents. One that does not say where it began may have begun anywhere.
func History(config string, dirs []string) ([]transcript.File, error) {
	list, err := current(config)
	if err != nil {
		return nil, err
	}
	running, _ := Running(config) // nothing running is a good guess
	var all []transcript.File
	for _, f := range list {
		m, unread := f.meta()
		if unread == nil && (m.thread == "subagent" || !transcript.Near(m.cwd, dirs) && (m.commit == "" || !transcript.Beside(m.cwd, dirs))) {
			continue
		}
		info, err := os.Stat(f.path)
		if err != nil || info.Size() == 0 {
			continue // it was archived or removed, or is only begun
		}
		one := transcript.File{
			Session: f.thread, Path: f.path, Size: info.Size(),
			Dir: m.cwd, Commit: m.commit, Remote: m.remote, Err: unread,
		}
		for _, r := range running {
			one.Runs = one.Runs || r.Session == f.thread && r.Runs()
		}
		all = append(all, one)
	}
	return all, nil
}

func (f file) meta() (meta, error) {
	if f.err != nil {
		return meta{}, fmt.Errorf("read %q: %w", f.path, f.err)
	}
	return readMeta(f.path)
}

// A meta is the part that we read of a rollout's first record.
type meta struct {
	cwd, thread    string
	base           *base  // nil if it begins a conversation
	commit, remote string // of the repository, when the thread began
}

// A base is the point that a rollout goes on from.
type base struct {
	file string // that file's id, the thread's only for the first
	end  int64  // offset in it
}

// readMeta reads a rollout's first record, which with instructions has 20 KB.
func readMeta(path string) (m meta, err error) {
	const most = 1 << 20
	f, err := transcript.Open(path)
	if err != nil {
		return meta{}, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, most)).ReadBytes('\n')
	if err == nil && !transcript.Valid(line) {
		err = transcript.ErrDamaged
	}
	if err == nil && gjson.GetBytes(line, "type").Str != "session_meta" {
		err = errors.New("it is in the format of another version of the client")
	}
	if err != nil {
		return meta{}, fmt.Errorf("read the first record of %q: %w", path, err)
	}
	gjson.GetBytes(line, "payload").ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "cwd":
			m.cwd = transcript.Kept(value)
		case "thread_source":
			m.thread = transcript.Kept(value)
		case "history_base":
			if value.IsObject() {
				m.base = &base{transcript.Kept(value.Get("thread_id")), value.Get("end_byte_offset").Int()}
			}
		case "git":
			m.commit, m.remote = transcript.Kept(value.Get("commit_hash")), transcript.Kept(value.Get("repository_url"))
		}
		return true
	})
	return m, nil
}

// Continues returns the id of the last turn before the point that a rollout
// goes on from, as it does after a person has gone back, or as a fork: its first
// turn jumps. The id is "" if that file is not among the rollouts or has changed.
func Continues(path string, at int64) (promptID string, jumps bool, err error) {
	const deepest = 100 // repeated goings back
	config, ok := configOf(path)
	if !ok || at > 0 {
		return "", false, nil
	}
	m, err := readMeta(path)
	if err != nil || m.base == nil {
		return "", false, err
	}
	list, err := rollouts(config)
	if err != nil {
		return "", false, err
	}
	for range deepest {
		at := slices.IndexFunc(list, func(f file) bool { return f.id == m.base.file })
		if at < 0 {
			return "", true, nil
		}
		id, err := lastTurn(list[at].path, m.base.end)
		if id != "" || err != nil {
			return id, true, err
		}
		if m, err = readMeta(list[at].path); err != nil || m.base == nil {
			return "", true, err
		}
	}
	return "", true, nil
}

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

// lastTurn returns the id of the last turn that begins before offset end of a
// rollout. A line must end there, otherwise it is another file. It searches
// backwards in ever larger parts, as the file may have hundreds of megabytes.
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
