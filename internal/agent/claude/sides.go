package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the subagents of a session. Each has a file "agent-<id>.jsonl" in
// "<session>/subagents", and a note. The client removes them after some weeks.
//
// A long session's directory has hundreds of them, so it is read only if the
// turn's records tell of a subagent, or one still runs. A link in its place, or
// in that of a file, is not followed: the error names it.
func Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error) {
	session, ok := strings.CutSuffix(path, ".jsonl")
	if !ok || !running && !tellsOfSide(segment) {
		return nil, nil
	}
	dir := filepath.Join(session, "subagents")
	for _, d := range []string{session, dir} {
		switch info, err := os.Lstat(d); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("sub-agents: %s is no directory, and is not followed", d)
		}
	}
	entries, err := os.ReadDir(dir)
	var list []transcript.SubagentFile
	for _, e := range entries {
		name, begins := strings.CutPrefix(e.Name(), "agent-")
		id, ends := strings.CutSuffix(name, ".jsonl")
		if !begins || !ends || !hooks.ValidID(id) {
			continue
		}
		if e.Type() == fs.ModeSymlink {
			err = errors.Join(err, fmt.Errorf("sub-agent %s: %s is a link, and is not followed", id, filepath.Join(dir, e.Name())))
		}
		info, gone := e.Info() // of a symbolic link itself
		if gone != nil || !info.Mode().IsRegular() || info.Size() == read[id] {
			continue
		}
		s := transcript.SubagentFile{ID: id, Path: filepath.Join(dir, e.Name()), Size: info.Size()}
		if readAbout(filepath.Join(dir, "agent-"+id+".meta.json")).describe(&s) {
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

// An about is the client's note of a subagent.
type about struct {
	Type     *string `json:"agentType"`
	Call     string  `json:"toolUseId"`
	Finished bool    `json:"finished"`
}

// maxAbout bounds such a note, in bytes; it has the call's description.
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

// describe describes a subagent. ok is false if it compacts a conversation and
// repeats all of it, which has an empty type.
func (a about) describe(s *transcript.SubagentFile) (ok bool) {
	s.Call, s.Over = a.Call, a.Finished
	if a.Type != nil {
		s.Type = *a.Type
	}
	return a.Type == nil || *a.Type != ""
}
