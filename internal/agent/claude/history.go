package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// History lists, by id, conversations that may have begun in or below dirs.
//
// A conversation is a file, <config>/projects/<directory>/<session>.jsonl. The
// directory's name does not distinguish `repo/old` from `repo-old`, but the
// file does, see [transcript.First]. Subagents' files are left out, and the
// smaller of two files of a session: the client moves a file when the session
// changes to another worktree. The error names unreadable directories.
func History(config string, dirs []string) ([]transcript.File, error) {
	if config == "" {
		return nil, nil
	}
	top := filepath.Join(config, "projects")
	projects, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the client's sessions: %w", err)
	}
	var begun []string // beginnings of names
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(Path(config, dir, "")))
		begun = append(begun, name[:min(len(name), MaxName)])
	}
	list := make(map[string]transcript.File)
	var unread []error
	for _, p := range projects {
		if !beginsWithAny(p.Name()+"-", begun) {
			continue
		}
		files, err := os.ReadDir(filepath.Join(top, p.Name()))
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			unread = append(unread, fmt.Errorf("list the client's sessions: %w", err))
			continue
		}
		for _, f := range files {
			id, end, ok := strings.Cut(f.Name(), ".jsonl")
			info, err := f.Info()
			if !ok || end != "" && !transcript.Compressed(end) || err != nil || !info.Mode().IsRegular() || !hooks.ValidID(id) || strings.HasPrefix(id, "agent-") {
				continue
			}
			one := transcript.File{Session: id, Path: filepath.Join(top, p.Name(), f.Name()), Size: info.Size()}
			if end != "" {
				one.Err = fmt.Errorf("read session file %q: %w", one.Path, transcript.ErrForeign)
			}
			if old, twice := list[id]; !twice && one.Size > 0 || twice && one.Err == nil && (old.Err != nil || one.Size > old.Size) {
				list[id] = one
			}
		}
	}
	registered, err := Running(config)
	if err != nil {
		return nil, err
	}
	for _, r := range registered {
		if s, ok := list[r.Session]; ok && (!r.Here() || r.Runs()) {
			s.Runs = true
			list[r.Session] = s
		}
	}
	sorted := make([]transcript.File, 0, len(list))
	for _, id := range slices.Sorted(maps.Keys(list)) {
		sorted = append(sorted, list[id])
	}
	return sorted, errors.Join(unread...)
}

func beginsWithAny(name string, begun []string) bool {
	for _, b := range begun {
		if strings.HasPrefix(name, b+"-") {
			return true
		}
	}
	return false
}
