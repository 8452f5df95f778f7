package gemini

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Rebuild makes the file of a new session. It has the final conversation, each
// message once: what the client would go on with after reading the lines'
// patches.
//
// Lines may be untrusted: only known fields of messages of user and model
// are kept, see [fields]. What the client says to the user is left out, and
// what it tells the model about its place, which it says again. Hooks' words
// before a prompt are left out, as the client would forget the prompt with them
// on resuming. A foreign conversation also loses the model's thoughts and all
// that only the service can have signed.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	name, adopt, err := claim(c.Config, c.Dir)
	if err != nil {
		return nil, fmt.Errorf("rebuild session %s: %w", c.Session, err)
	}
	// A session resumed within its name's minute gets a second head, and then
	// its conversation lacks tools' results.
	began := c.At.UTC().Add(-time.Minute).Format("2006-01-02T15-04")
	path := filepath.Join(c.Config, projects, name, chats, "session-"+began+"-"+c.Session[:min(8, len(c.Session))]+".jsonl")
	return &transcript.Rebuilt{Path: path, Write: func(w *bufio.Writer) error { return rebuild(w, c) }, Adopt: adopt}, nil
}

func rebuild(w *bufio.Writer, c transcript.Cut) error {
	now := chat{at: make(map[string]int)}
	for line, err := range c.Lines {
		if err != nil {
			return err
		}
		now.follow(line)
	}
	_, _ = w.Write(head(c)) // its Flush returns the error, too
	said := false
	for _, m := range now.messages {
		if kept := keep(m, c.Foreign); kept != nil {
			_, _ = w.Write(append(kept, '\n'))
			said = true
		}
	}
	if !said {
		return fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
	}
	return nil
}

func head(c transcript.Cut) []byte {
	hash := sha256.Sum256([]byte(c.Dir))
	line, _ := json.Marshal(struct { // strings cause no error
		Session string `json:"sessionId"`
		Project string `json:"projectHash"`
		Start   string `json:"startTime"`
		Updated string `json:"lastUpdated"`
		Kind    string `json:"kind"`
	}{c.Session, hex.EncodeToString(hash[:]), transcript.Stamp(c.At), transcript.Stamp(c.At), "main"})
	return append(line, '\n')
}

// claim returns the name of a directory's project. The client finds it in a
// list or by projects' files; adopt writes such a file if there is none.
func claim(config, dir string) (name string, adopt func(context.Context) error, err error) {
	list, err := known(config)
	if err != nil {
		return "", nil, err
	}
	data, err := os.ReadFile(filepath.Join(config, "projects.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	listed := ""
	if transcript.Valid(data) {
		gjson.GetBytes(data, "projects").ForEach(func(path, name gjson.Result) bool {
			if path.Str == dir {
				listed = name.Str
			}
			return listed == ""
		})
	}
	is := func(p project) bool { return p.dir == dir }
	if i := slices.IndexFunc(list, func(p project) bool { return is(p) && p.name == listed }); i >= 0 {
		return listed, nil, nil
	}
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i].name, nil, nil
	}
	hash := sha256.Sum256([]byte(dir))
	name = "git-agent-" + hex.EncodeToString(hash[:8])
	return name, func(context.Context) error {
		path := filepath.Join(config, projects, name, owner)
		if err := os.WriteFile(path, []byte(dir), 0o644); err != nil {
			return fmt.Errorf("say whose the client's project %s is: %w", name, err)
		}
		return nil
	}, nil
}

// A chat is a session's messages, in order and by id.
type chat struct {
	messages []gjson.Result
	at       map[string]int
}

// follow changes the conversation as the client does for a line.
func (c *chat) follow(line []byte) {
	if !bytes.HasPrefix(line, []byte{'{'}) || !json.Valid(line) || !utf8.Valid(line) {
		return
	}
	record := gjson.ParseBytes(line)
	fields, ok := transcript.Members(record)
	switch {
	case !ok:
	case fields["$rewindTo"].Type == gjson.String:
		c.cut(c.at[fields["$rewindTo"].Str]) // to the start if unknown
	case fields["id"].Type == gjson.String:
		c.put(record)
	case fields["$set"].IsObject():
		set, ok := transcript.Members(fields["$set"])
		if !ok || !set["messages"].IsArray() {
			return
		}
		c.cut(0)
		set["messages"].ForEach(func(_, m gjson.Result) bool {
			if m.Get("id").Type == gjson.String {
				c.put(m)
			}
			return true
		})
	}
}

func (c *chat) cut(n int) {
	for _, m := range c.messages[n:] {
		delete(c.at, m.Get("id").Str)
	}
	c.messages = c.messages[:n]
}

func (c *chat) put(m gjson.Result) {
	id := m.Get("id").Str
	if i, is := c.at[id]; is {
		c.messages[i] = m
		return
	}
	c.at[id] = len(c.messages)
	c.messages = append(c.messages, m)
}

// fields are the kept fields of messages, and of the objects in them. They are
// from files of Gemini CLI 0.61.0, and tested with it. Names of files and
// places that it would read (fileData), and fields that it only shows, are left
// out. A foreign conversation also loses the parts that are thoughts.
var fields = sync.OnceValue(func() transcript.Fields {
	return transcript.Fields{Foreign: func(part gjson.Result) bool { return part.Get("thought").Type == gjson.True }, Known: map[string]string{
		"user":   "id timestamp type content{part}",
		"gemini": "id timestamp type content{part} thoughts?{thought} tokens?{tokens} model toolCalls{call}",

		"part":             "text thought thoughtSignature? functionCall{functionCall} functionResponse{functionResponse} inlineData{inlineData}",
		"functionCall":     "id name args",
		"functionResponse": "id name response",
		"inlineData":       "mimeType data",

		"thought": "subject description timestamp",
		"tokens":  "input output cached thoughts tool total",
		"call":    "id name args result{part} status timestamp resultDisplay description displayName renderOutputAsMarkdown",
	}}
})

// keep returns the known part of a message in JSON, or nil to leave it out.
func keep(m gjson.Result, foreign bool) []byte {
	kind := m.Get("type").Str
	if content := m.Get("content"); kind != "user" && kind != "gemini" || content.Type != gjson.String && content.Type != gjson.JSON {
		return nil
	}
	out, ok := fields().Keep(kind, m, foreign)
	if !ok {
		return nil
	}
	if kind == "user" {
		return asked(out)
	}
	if m := gjson.ParseBytes(out); m.Get("content").Raw == `""` && !m.Get("toolCalls.0").Exists() {
		return nil
	}
	return out
}

// asked returns a user's message without hooks' additions, or nil.
func asked(message []byte) []byte {
	content := gjson.GetBytes(message, "content")
	var parts []json.RawMessage
	add := func(part gjson.Result) bool {
		if t := part.Get("text"); t.Type == gjson.String {
			said := typed(t.Str)
			if strings.TrimSpace(said) == "" || strings.HasPrefix(strings.TrimSpace(said), "<session_context>") {
				return true
			}
			if said != t.Str {
				text := gjson.AppendJSONString(nil, said)
				parts = append(parts, slices.Concat([]byte(`{"text":`), text, []byte(`}`)))
				return true
			}
		}
		parts = append(parts, json.RawMessage(part.Raw))
		return true
	}
	switch {
	case content.Type == gjson.String:
		add(gjson.ParseBytes(slices.Concat([]byte(`{"text":`), []byte(content.Raw), []byte(`}`))))
	case content.IsObject():
		add(content)
	case content.IsArray():
		content.ForEach(func(_, part gjson.Result) bool { return add(part) })
	}
	if len(parts) == 0 {
		return nil
	}
	list, err := json.Marshal(parts)
	if err != nil {
		return nil
	}
	return slices.Concat(message[:content.Index], list, message[content.Index+len(content.Raw):])
}
