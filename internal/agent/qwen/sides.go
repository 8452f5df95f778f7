package qwen

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the sub-agents of the conversation at path. Each has a file
// agent-<id>.jsonl in subagents/<session>, beside the directory of the
// conversations, and a note. That directory is read only if the turn's records
// tell of a sub-agent, or one still runs. Links are not followed, see
// [transcript.SubagentFiles].
func Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error) {
	session, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok || !running && !tellsOfSide(segment) {
		return nil, nil
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(path)), "subagents", session)
	list, err := transcript.SubagentFiles(dir, hooks.ValidID, read)
	for i := range list {
		var note struct {
			Type   string `json:"agentType"`
			Call   string `json:"toolUseId"`
			Status string `json:"status"`
		}
		if s := &list[i]; json.Unmarshal(s.Note(), &note) == nil {
			s.Type, s.Call, s.Over = note.Type, note.Call, note.Status != "" && note.Status != "running"
		}
	}
	return list, err
}

// tellsOfSide reports whether a turn calls a sub-agent, or is told of one.
func tellsOfSide(segment []byte) bool {
	for _, sign := range []string{`"name":"agent"`, `"agentId"`, `<task-id>`} {
		if bytes.Contains(segment, []byte(sign)) {
			return true
		}
	}
	return false
}
