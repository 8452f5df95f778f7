package opencode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// The plugin only appends to a conversation's file,
// <data>/<program>/<session>.jsonl: each complete message with its parts as a
// line. After a person has gone back, it goes on in <session>.1.jsonl,
// <session>.2.jsonl, whose first line names the message before. If files are
// deleted, the plugin begins them again from the client's data. The conversations
// of a session's subagents are in the directory <session>.

// conversations returns the directory of these files, or "" without a home.
func (c Edition) conversations(getenv func(string) string) string {
	data := getenv("XDG_DATA_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(data) {
		if home == "" {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "git-agent", c.Program)
}

// Files lists the files of the sessions with a prefix.
func (c Edition) Files(config, prefix string) ([]transcript.File, error) {
	dir := c.conversations(os.Getenv)
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list conversations of %s: %w", c.Title, err)
	}
	var list []transcript.File
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Name(), ".")
		if strings.HasSuffix(e.Name(), ".jsonl") && e.Type().IsRegular() && hooks.ValidID(id) && strings.HasPrefix(id, prefix) {
			list = append(list, transcript.File{Session: id, Path: filepath.Join(dir, e.Name())})
		}
	}
	return list, nil // by name, as the directory is read
}

// Continues finds the message that the file at path goes on after in the files
// before it, and returns the id of the prompt that led to it: its first turn
// jumps there.
func Continues(path string, at int64) (promptID string, jumps bool, err error) {
	name, _ := strings.CutSuffix(filepath.Base(path), ".jsonl")
	session, number, _ := strings.Cut(name, ".")
	n, err := strconv.Atoi(number)
	if err != nil || at > 0 {
		return "", false, nil // in a session's first file, none jumps
	}
	first, err := transcript.ReadRange(path, 0, 1<<10)
	if err != nil {
		return "", false, err
	}
	first, _, _ = bytes.Cut(first, []byte{'\n'}) // of a message, perhaps only a part
	after, jumps := follows(first)
	for n > 0 && after != "" {
		n--
		before := filepath.Join(filepath.Dir(path), session+".jsonl")
		if n > 0 {
			before = filepath.Join(filepath.Dir(path), session+"."+strconv.Itoa(n)+".jsonl")
		}
		said, err := transcript.ReadSegment(before, transcript.Cursor{})
		if err != nil {
			return "", jumps, err
		}
		if promptID, after = promptOf(said.Bytes, after); promptID != "" {
			break
		}
	}
	return promptID, jumps, nil
}

// follows returns the id of the message that a file goes on after, by its first
// line; it is "" if all was undone, and is false if that is a message.
func follows(line []byte) (id string, is bool) {
	after := gjson.GetBytes(line, "after")
	if is = after.Exists() && transcript.Valid(line); is && hooks.ValidID(after.Str) {
		id = strings.Clone(after.Str)
	}
	return id, is
}

// promptOf returns the id of the prompt that led to a message of a file. If the
// file has the message but not the prompt, or lacks the message, before is the
// one to look for in the file before.
func promptOf(file []byte, message string) (promptID, before string) {
	r := Reader()
	begins := message
	for line := range bytes.Lines(file) {
		e := r.Read(0, bytes.TrimSuffix(line, []byte{'\n'}))
		switch {
		case e.Opens != nil:
			promptID = cmp.Or(strings.Clone(gjson.GetBytes(line, "was").Str), e.Opens.PromptID)
		case e.ID == "" && promptID == "":
			if id, is := follows(line); is {
				begins = id
			}
		}
		if e.ID == message {
			return promptID, begins
		}
	}
	return "", message
}
