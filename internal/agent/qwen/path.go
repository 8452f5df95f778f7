package qwen

import (
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// Conversations are in projects/<name>/chats/<session>.jsonl.
const (
	projects = "projects"
	chats    = "chats"
)

// Worktrees is where --worktree makes worktrees.
const Worktrees = ".qwen/worktrees"

// project returns the name of a directory's project: every UTF-16 unit outside
// A-Z, a-z, 0-9 becomes a dash.
func project(dir string) string {
	var name strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			name.WriteByte(byte(u))
		} else {
			name.WriteByte('-')
		}
	}
	return name.String()
}

// path returns where the client keeps the conversation of a session in dir.
func path(config, dir, session string) string {
	return filepath.Join(config, projects, project(dir), chats, session+".jsonl")
}
