package qwen

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

// Sides lists the sub-agents of the conversation at path. Each has a file
// agent-<id>.jsonl in subagents/<session>, beside the directory of the
// conversations, and a note. That directory is read only if the turn's records
// tell of a sub-agent, or one still runs. A link in its place, or in that of a
// file, is not followed: the error names it.
func Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error) {
	session, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok || !running && !tellsOfSide(segment) {
		return nil, nil
	}
	all := filepath.Join(filepath.Dir(filepath.Dir(path)), "subagents")
	dir := filepath.Join(all, session)
	for _, d := range []string{all, dir} {
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
		about := readAbout(filepath.Join(dir, "agent-"+id+".meta.json"))
		list = append(list, transcript.SubagentFile{
			ID: id, Path: filepath.Join(dir, e.Name()), Size: info.Size(),
			Type: about.Type, Call: about.Call, Over: about.Status != "" && about.Status != "running",
		})
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

// An about is the client's note of a sub-agent.
type about struct {
	Type   string `json:"agentType"`
	Call   string `json:"toolUseId"`
	Status string `json:"status"`
}

func readAbout(path string) (a about) {
	const most = 1 << 20 // it has the call's description
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return about{}
	}
	f, err := os.Open(path)
	if err != nil {
		return about{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil || json.Unmarshal(data, &a) != nil {
		return about{}
	}
	return a
}
