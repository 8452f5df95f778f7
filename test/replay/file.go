package replay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// chain adds a record to the conversation.
func (c *Client) chain(kind string, fields map[string]any) {
	id := NewID()
	fields["type"], fields["uuid"], fields["sessionId"] = kind, id, c.Session
	fields["parentUuid"], fields["isSidechain"] = any(nil), c.side != ""
	if c.side != "" {
		fields["agentId"] = c.side
	}
	if c.parent != "" {
		fields["parentUuid"] = c.parent
	}
	fields["timestamp"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	fields["cwd"], fields["version"] = c.Cwd, "2.1.329"
	c.parent = id
	c.write(fields)
}

// aside adds a record that is not part of the conversation.
func (c *Client) aside(kind string, pairs ...string) {
	fields := map[string]any{"type": kind, "sessionId": c.Session}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	c.write(fields)
}

func (c *Client) write(record map[string]any) {
	line, err := json.Marshal(record)
	check(err)
	c.pending = append(append(c.pending, line...), '\n')
}

// Flush writes what was said and is not in the file yet.
func (c *Client) Flush() {
	c.append(c.pending)
	c.pending = nil
}

// append is one write, as the client does it: nobody ever saw a half line of it.
func (c *Client) append(data []byte) {
	if len(data) == 0 {
		return
	}
	check(os.MkdirAll(filepath.Dir(c.Path), 0o700))
	f, err := os.OpenFile(c.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	check(err)
	_, err = f.Write(data)
	check(err)
	check(f.Close())
}

// Size is how large the file is when all that was said is written, in bytes.
func (c *Client) Size() int64 {
	size := int64(len(c.pending))
	if info, err := os.Stat(c.Path); err == nil {
		size += info.Size()
	}
	return size
}

// Move moves the session's file to another directory, as entering a worktree does.
func (c *Client) Move() {
	c.Flush()
	to := filepath.Join(filepath.Dir(c.Path)+"-worktree", filepath.Base(c.Path))
	check(os.MkdirAll(filepath.Dir(to), 0o700))
	check(os.Rename(c.Path, to))
	c.Path = to
	c.aside("relocated", "to", c.Cwd)
}

// check ends the test: what fails here is the machine, or the test itself.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
