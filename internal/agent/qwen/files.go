package qwen

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Files lists the conversations of all projects.
func Files(config, prefix string) ([]transcript.File, error) {
	list, err := projectsOf(config)
	var files []transcript.File
	for _, name := range list {
		files = append(files, in(config, name, prefix)...)
	}
	return files, err
}

// History lists, by id, conversations that may have begun in or below dirs: a
// project's name does not distinguish `repo/old` from `repo-old`, but the file
// does, see [transcript.First].
func History(config string, dirs []string) ([]transcript.File, error) {
	list, err := projectsOf(config)
	if err != nil {
		return nil, err
	}
	registered, err := Running(config)
	if err != nil {
		return nil, err
	}
	var all []transcript.File
	for _, name := range list {
		if !slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name+"-", project(dir)+"-") }) {
			continue
		}
		for _, f := range in(config, name, "") {
			info, err := os.Stat(f.Path)
			if err != nil { // it was removed
				continue
			}
			f.Size = info.Size()
			for _, r := range registered {
				f.Runs = f.Runs || r.Session == f.Session && (!r.Here() || r.Runs())
			}
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b transcript.File) int { return cmp.Compare(a.Session, b.Session) })
	return all, nil
}

// projectsOf lists the names of a configuration's projects.
func projectsOf(config string) (names []string, err error) {
	if config == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Join(config, projects))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the client's sessions: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// in lists a project's conversations by a prefix of the session.
func in(config, name, prefix string) (files []transcript.File) {
	dir := filepath.Join(config, projects, name, chats)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if ok && strings.HasPrefix(id, prefix) && hooks.ValidID(id) && e.Type().IsRegular() {
			files = append(files, transcript.File{Session: id, Path: filepath.Join(dir, e.Name())})
		}
	}
	return files
}
