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
	"gitagent/internal/agent/claude/registry"
	"gitagent/internal/transcript"
)

// History lists the conversations that the client may have begun in one of some directories, or below
// one, in order of their ids. It looks at names alone.
//
// A conversation is a file, <config>/projects/<directory>/<session>.jsonl, and the directory's name
// does not tell `repo/old` from `repo-old`: what is in the file does, see [transcript.First]. Files
// of sub-agents are left out, and of two files of one session the smaller one: the client moves a
// file when its session changes to another worktree. Directories that can't be read are left out, and
// the error says which.
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
	var begun []string // what names begin with
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
			id, ok := strings.CutSuffix(f.Name(), ".jsonl")
			info, err := f.Info()
			if !ok || err != nil || !info.Mode().IsRegular() || !hooks.ValidID(id) || strings.HasPrefix(id, "agent-") {
				continue
			}
			if info.Size() > list[id].Size {
				list[id] = transcript.File{Session: id, Path: filepath.Join(top, p.Name(), f.Name()), Size: info.Size()}
			}
		}
	}
	registered, err := registry.All(config)
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
