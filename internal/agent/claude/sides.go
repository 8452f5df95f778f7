package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the sub-agents of a session: beside its file, in the directory "<session>/subagents", each has
// a file "agent-<id>.jsonl", and one that says what it is. The client removes all of them some weeks later.
//
// Most turns have no sub-agent, and the directory of a long session has hundreds: it is read only if the
// turn's records tell of one, or one still runs.
func Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error) {
	session, ok := strings.CutSuffix(path, ".jsonl")
	if !ok || !running && !tellsOfSide(segment) {
		return nil, nil
	}
	dir := filepath.Join(session, "subagents")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []transcript.SubagentFile
	for _, e := range entries {
		name, begins := strings.CutPrefix(e.Name(), "agent-")
		id, ends := strings.CutSuffix(name, ".jsonl")
		if !begins || !ends || !hooks.ValidID(id) {
			continue
		}
		info, err := e.Info() // of a symbolic link, not of where it leads
		if err != nil || !info.Mode().IsRegular() || info.Size() == read[id] {
			continue
		}
		s := transcript.SubagentFile{ID: id, Path: filepath.Join(dir, e.Name()), Size: info.Size()}
		if readAbout(filepath.Join(dir, "agent-"+id+".meta.json")).describe(&s) {
			list = append(list, s)
		}
	}
	return list, err
}

// tellsOfSide reports whether a turn has to do with sub-agents: it calls one, or is told of one.
func tellsOfSide(segment []byte) bool {
	for _, sign := range []string{`"name":"Agent"`, `"name":"Task"`, `"agentId"`, `<task-id>`} {
		if bytes.Contains(segment, []byte(sign)) {
			return true
		}
	}
	return false
}

// about is what the client notes of a sub-agent.
type about struct {
	Type     *string `json:"agentType"`
	Call     string  `json:"toolUseId"`
	Finished bool    `json:"finished"`
}

// maxAbout is how large such a note is at most, in bytes; it has the call's description.
const maxAbout = 1 << 20

// readAbout reads the note, which older clients don't write.
func readAbout(path string) (a about) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return about{}
	}
	f, err := os.Open(path)
	if err != nil {
		return about{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAbout))
	if err != nil || json.Unmarshal(data, &a) != nil {
		return about{}
	}
	return a
}

// describe says what is known of a sub-agent. ok is false for those that compact a conversation, which are
// of no type: they repeat all of it.
func (a about) describe(s *transcript.SubagentFile) (ok bool) {
	s.Call, s.Over = a.Call, a.Finished
	if a.Type != nil {
		s.Type = *a.Type
	}
	return a.Type == nil || *a.Type != ""
}
