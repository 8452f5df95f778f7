package claude

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the subagents of a session. Each has a file "agent-<id>.jsonl" in
// "<session>/subagents", and a note. The client removes them after some weeks.
//
// A long session's directory has hundreds of them, so it is read only if the
// turn's records tell of a subagent, or one still runs. Links are not followed,
// see [transcript.SubagentFiles].
func Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error) {
	session, ok := strings.CutSuffix(path, ".jsonl")
	if !ok || !running && !tellsOfSide(segment) {
		return nil, nil
	}
	files, err := transcript.SubagentFiles(filepath.Join(session, "subagents"), hooks.ValidID, read)
	var list []transcript.SubagentFile
	for _, s := range files {
		if describeSide(&s) {
			list = append(list, s)
		}
	}
	return list, err
}

// tellsOfSide reports whether a turn calls a subagent, or is told of one.
func tellsOfSide(segment []byte) bool {
	for _, sign := range []string{`"name":"Agent"`, `"name":"Task"`, `"agentId"`, `<task-id>`} {
		if bytes.Contains(segment, []byte(sign)) {
			return true
		}
	}
	return false
}

// describeSide adds the client's note of a subagent. ok is false if that compacts
// a conversation and repeats all of it, which has an empty type.
func describeSide(s *transcript.SubagentFile) (ok bool) {
	var note struct {
		Type     *string `json:"agentType"`
		Call     string  `json:"toolUseId"`
		Finished bool    `json:"finished"`
	}
	if json.Unmarshal(s.Note(), &note) != nil {
		return true
	}
	s.Call, s.Over = note.Call, note.Finished
	if note.Type != nil {
		s.Type = *note.Type
	}
	return note.Type == nil || *note.Type != ""
}
