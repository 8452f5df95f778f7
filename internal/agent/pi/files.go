package pi

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Conversations are in sessions/--<directory>--/<time>_<session>.jsonl, or in
// one directory that the environment or the user's settings name: moved returns
// that, or "".
func moved(config string, getenv func(string) string) string {
	if dir := inHome(getenv, getenv("PI_CODING_AGENT_SESSION_DIR")); dir != "" {
		return dir
	}
	settings, _ := os.ReadFile(filepath.Join(config, "settings.json")) // a damaged file moves nothing
	if dir := gjson.GetBytes(settings, "sessionDir"); dir.Type == gjson.String {
		return inHome(getenv, dir.Str)
	}
	return ""
}

// placeOf returns the file of a new session that will live in dir.
func placeOf(config, dir, session string, at time.Time) string {
	in := moved(config, os.Getenv)
	if in == "" {
		name := strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(filepath.ToSlash(dir), "/"))
		in = filepath.Join(config, "sessions", "--"+name+"--")
	}
	return filepath.Join(in, strings.NewReplacer(":", "-", ".", "-").Replace(transcript.Stamp(at))+"_"+session+".jsonl")
}

// Files lists the conversations by a prefix of the session.
func Files(config, prefix string) ([]transcript.File, error) {
	dirs := []string{moved(config, os.Getenv)}
	if dirs[0] == "" {
		top := filepath.Join(config, "sessions")
		entries, err := os.ReadDir(top)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list conversations of pi: %w", err)
		}
		dirs = nil
		for _, e := range entries {
			dirs = append(dirs, filepath.Join(top, e.Name()))
		}
	}
	var list []transcript.File
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what can't be read has none
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".jsonl")
			_, id, timed := strings.Cut(name, "_")
			if ok && timed && e.Type().IsRegular() && hooks.ValidID(id) && strings.HasPrefix(id, prefix) {
				list = append(list, transcript.File{Session: id, Path: filepath.Join(dir, e.Name())})
			}
		}
	}
	return list, nil
}

// History lists the conversations that began in or near dirs.
func History(config string, dirs []string) ([]transcript.File, error) {
	files, err := Files(config, "")
	var all []transcript.File
	for _, f := range files {
		if !transcript.Near(began(f.Path), dirs) {
			continue
		}
		if info, err := os.Stat(f.Path); err == nil { // otherwise it was removed
			f.Size = info.Size()
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b transcript.File) int { return cmp.Compare(a.Session, b.Session) })
	return all, err
}

// began returns the directory that a file's first line names.
func began(path string) string {
	head := transcript.Head(path)
	if gjson.GetBytes(head, "type").Str != "session" {
		return ""
	}
	return transcript.Kept(gjson.GetBytes(head, "cwd"))
}
