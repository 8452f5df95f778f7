package claude

import (
	"path/filepath"
	"strings"

	"gitagent/internal/transcript"
)

// Worktrees is where --worktree and the agent's tool make worktrees. The client
// removes one without changes when its session ends.
const Worktrees = ".claude/worktrees"

// Files lists the conversations of all projects.
func Files(config, prefix string) ([]transcript.File, error) {
	if config == "" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(escape(config), "projects", "*", escape(prefix)+"*.jsonl"))
	var files []transcript.File
	for _, path := range paths {
		files = append(files, transcript.File{Session: strings.TrimSuffix(filepath.Base(path), ".jsonl"), Path: path})
	}
	return files, err
}

func escape(text string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(text)
}
