package snapshot

import (
	"path/filepath"
	"strings"
)

// askSubmodules starts looking for submodules with uncommitted changes, and returns a function that
// waits for their paths. It costs a process for each submodule. The paths are only reported, so its
// failure is no failure of the snapshot.
//
// It must not be part of the one pass over the worktree: git would pass that one's settings on to
// the submodules, and rewrite their indexes with them.
func (t *taker) askSubmodules() func() []string {
	modules := t.file(".gitmodules")
	if !exists(modules) {
		return func() []string { return nil }
	}
	found := make(chan []string, 1)
	go func() { found <- t.dirtySubmodules(modules) }()
	return func() []string { return <-found }
}

func (t *taker) dirtySubmodules(modules string) []string {
	repo := t.index.repo.With("GIT_INDEX_FILE="+t.index.path, "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1")
	out, err := repo.Output(t.ctx, nil, "config", "-z", "--file", modules, "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil
	}
	args := []string{"status", "--porcelain=v2", "-z", "-unormal", "--no-renames", "--ignore-submodules=none", "--"}
	options := len(args)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		// One path outside the worktree would make git fail for all of them.
		if _, path, _ := strings.Cut(entry, "\n"); filepath.IsLocal(path) {
			args = append(args, path)
		}
	}
	if len(args) == options {
		return nil
	}
	if out, err = repo.Output(t.ctx, nil, args...); err != nil {
		return nil
	}
	_, entries, err := parseStatus(string(out))
	if err != nil {
		return nil
	}
	var dirty []string
	for _, e := range entries {
		if e.dirty {
			dirty = append(dirty, e.path)
		}
	}
	return dirty
}
