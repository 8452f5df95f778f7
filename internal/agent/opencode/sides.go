package opencode

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the subagents of a session, also those that one of them started.
// The plugin keeps the conversation of each in <session>/<subagent>.jsonl. The
// directory is read only if the turn calls one, or one still runs. A link in its
// place, or in that of a file, is not followed: the error names it.
func Sides(path string, segment []byte, read map[string]int64, running bool) (list []transcript.SubagentFile, err error) {
	calls := started(segment)
	if !running && len(calls) == 0 {
		return nil, nil
	}
	session, _, _ := strings.Cut(filepath.Base(path), ".")
	dir := filepath.Join(filepath.Dir(path), session)
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("sub-agents: %s is no directory, and is not followed", dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), ".jsonl")
		if !is || !hooks.ValidID(id) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		if e.Type() == fs.ModeSymlink {
			err = errors.Join(err, fmt.Errorf("sub-agent %s: %s is a link, and is not followed", id, file))
		}
		info, gone := e.Info() // of a symbolic link itself
		if gone != nil || !info.Mode().IsRegular() || info.Size() == read[id] {
			continue
		}
		data, unread := transcript.ReadRange(file, 0, min(info.Size(), transcript.MaxSegment))
		if unread != nil {
			err = errors.Join(err, fmt.Errorf("sub-agent %s: %w", id, unread))
			continue
		}
		prompt, _, _ := bytes.Cut(data, []byte{'\n'})
		list = append(list, transcript.SubagentFile{ID: id, Path: file, Type: strings.Clone(gjson.GetBytes(prompt, "info.agent").Str), Size: info.Size()})
		for id, call := range started(data) {
			calls[id] = call
		}
	}
	for i := range list {
		list[i].Call = calls[list[i].ID]
	}
	return list, err
}

// started returns the sessions of subagents that a part of a conversation
// calls, with the ids of the calls.
func started(conversation []byte) map[string]string {
	calls := make(map[string]string)
	sign := []byte(`sessionId"`)
	if !bytes.Contains(conversation, sign) {
		return calls // most turns
	}
	for line := range bytes.Lines(conversation) {
		if !bytes.Contains(line, sign) || !transcript.Valid(line) {
			continue
		}
		each(gjson.GetBytes(line, "parts"), func(p gjson.Result) {
			if id := p.Get("state.metadata.sessionId").Str; p.Get("tool").Str == "task" && hooks.ValidID(id) {
				calls[strings.Clone(id)] = strings.Clone(p.Get("callID").Str)
			}
		})
	}
	return calls
}
