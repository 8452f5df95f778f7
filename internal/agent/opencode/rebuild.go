package opencode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/limit"
	"gitagent/internal/terminal"
	"gitagent/internal/transcript"
)

// Rebuild keeps these fields of a message and its parts: the client's next
// request is made from them, or its schema needs them.
type (
	message struct {
		ID     string   `json:"id"`
		Was    string   `json:"was,omitempty"`   // the id before, by which ledgers know a prompt
		After  string   `json:"after,omitempty"` // of a line that is no message, see Continues
		Queued bool     `json:"queued,omitempty"`
		Window int64    `json:"window,omitempty"`
		Info   info     `json:"info"`
		Parts  []*piece `json:"parts"`
	}
	info struct {
		ID         string      `json:"id"`
		SessionID  string      `json:"sessionID"`
		Role       string      `json:"role"`
		Time       *span       `json:"time"`
		Agent      string      `json:"agent"`
		Model      *model      `json:"model,omitempty"` // of a prompt
		ParentID   string      `json:"parentID,omitempty"`
		Mode       string      `json:"mode,omitempty"`
		Path       *place      `json:"path,omitempty"`
		Cost       *float64    `json:"cost,omitempty"`
		Tokens     *tokenCount `json:"tokens,omitempty"`
		ModelID    string      `json:"modelID,omitempty"`
		ProviderID string      `json:"providerID,omitempty"`
		Variant    string      `json:"variant,omitempty"`
		Finish     string      `json:"finish,omitempty"`
		Summary    *bool       `json:"summary,omitempty"`
		Error      *failure    `json:"error,omitempty"`
	}
	piece struct {
		ID        string          `json:"id"`
		SessionID string          `json:"sessionID"`
		MessageID string          `json:"messageID"`
		Type      string          `json:"type"`
		Text      *string         `json:"text,omitempty"`
		Synthetic bool            `json:"synthetic,omitempty"`
		Ignored   bool            `json:"ignored,omitempty"`
		Time      *span           `json:"time,omitempty"`
		Metadata  json.RawMessage `json:"metadata,omitempty"` // for the provider: a signature of thoughts
		CallID    string          `json:"callID,omitempty"`
		Tool      string          `json:"tool,omitempty"`
		State     *toolState      `json:"state,omitempty"`
		Mime      string          `json:"mime,omitempty"`
		Filename  string          `json:"filename,omitempty"`
		URL       string          `json:"url,omitempty"`
		Reason    string          `json:"reason,omitempty"`
		Cost      *float64        `json:"cost,omitempty"`
		Tokens    *tokenCount     `json:"tokens,omitempty"`
		Auto      *bool           `json:"auto,omitempty"`
		Overflow  bool            `json:"overflow,omitempty"`
		Tail      string          `json:"tail_start_id,omitempty"`
	}
	toolState struct {
		Status      string          `json:"status"`
		Input       json.RawMessage `json:"input"`
		Output      *string         `json:"output,omitempty"`
		Error       *string         `json:"error,omitempty"`
		Title       *string         `json:"title,omitempty"`
		Metadata    *shown          `json:"metadata,omitempty"`
		Time        *span           `json:"time,omitempty"`
		Attachments []*piece        `json:"attachments,omitempty"`
	}
	shown struct { // a tool's result on the screen
		Output      *string         `json:"output,omitempty"`
		Diff        string          `json:"diff,omitempty"`
		Exit        *int            `json:"exit,omitempty"`
		Truncated   bool            `json:"truncated,omitempty"`
		Interrupted bool            `json:"interrupted,omitempty"`               // then the output is sent
		Notice      json.RawMessage `json:"shared_agent_board_notice,omitempty"` // Kilo sends it with the output
	}
	span struct {
		Created   int64 `json:"created,omitempty"`
		Completed int64 `json:"completed,omitempty"`
		Start     int64 `json:"start,omitempty"`
		End       int64 `json:"end,omitempty"`
		Compacted int64 `json:"compacted,omitempty"` // the output is no longer sent
	}
	model struct {
		ProviderID string `json:"providerID"`
		ModelID    string `json:"modelID"`
		Variant    string `json:"variant,omitempty"`
	}
	place struct {
		Cwd  string `json:"cwd"`
		Root string `json:"root"`
	}
	tokenCount struct {
		Total     int64 `json:"total,omitempty"`
		Input     int64 `json:"input"`
		Output    int64 `json:"output"`
		Reasoning int64 `json:"reasoning"`
		Cache     struct {
			Read  int64 `json:"read"`
			Write int64 `json:"write"`
		} `json:"cache"`
	}
	failure struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	}
)

// Rebuild makes the file of a new session, as the plugin would have written it,
// under new ids: with old ones the client resumes a session without messages.
// The client's snapshots of files, requested agents and commands, and files of
// this machine are left out; nothing that is left makes the client act.
//
// A foreign conversation also loses files elsewhere, what the client says in its own name, and
// settings that its user shall decide: which agent and model go on, and so what
// they may do and who reads it, and when to compact. Providers may put what
// they want back into a request unchanged, even in place of a message's role.
func (o Edition) Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	dir := o.conversations(os.Getenv)
	if dir == "" {
		return nil, fmt.Errorf("rebuild session %s: the environment names no home directory", c.Session)
	}
	b := &builder{Cut: c, agent: o.Agent, ids: idsAt(c.At), renamed: map[string]string{}}
	return &transcript.Rebuilt{
		Path: filepath.Join(dir, c.Session+".jsonl"), Write: b.write,
		Adopt: func(ctx context.Context) error { return o.adopt(ctx, c, b.list) },
	}, nil
}

// A builder makes messages from lines.
type builder struct {
	transcript.Cut
	agent   string // of a message that names none
	ids     *ids
	list    []*message
	renamed map[string]string // ids of messages
	prompt  string            // the last one's id
}

func (b *builder) write(w *bufio.Writer) error {
	for line, err := range b.Lines {
		if err != nil {
			return err
		}
		b.add(line)
	}
	b.trim()
	if len(b.list) == 0 {
		return fmt.Errorf("rebuild session %s: %w", b.Session, transcript.ErrEmpty)
	}
	for _, m := range b.list {
		line, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("rebuild session %s: %w", b.Session, err)
		}
		_, _ = w.Write(append(line, '\n')) // its Flush returns the error, too
		m.Was = ""                         // the client doesn't know it
	}
	return nil
}

// unknown names an agent and a model that the client must have but can't find.
// Its screen then keeps the user's own; without one, a model must be given.
const unknown = "unknown"

func (b *builder) add(line []byte) {
	m := new(message)
	// A tool puts what it likes into its metadata: what has another type there is left out.
	if err := json.Unmarshal(line, m); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return
	}
	if m.After != "" {
		b.back(m.After)
		return
	}
	if m.Info.ID == "" || b.renamed[m.Info.ID] != "" || m.Info.Time == nil {
		return
	}
	i := &m.Info
	if i.Role != "assistant" {
		if i.Role != "user" || i.Model == nil {
			return
		}
		*i = info{ID: i.ID, Role: i.Role, Time: i.Time, Agent: i.Agent, Model: i.Model}
	}
	if b.Foreign {
		i.Agent, i.Cost, i.Tokens = unknown, nil, nil
		if i.Model != nil {
			i.Model = &model{ProviderID: unknown, ModelID: unknown}
		}
	} else if i.Agent == "" {
		i.Agent = b.agent
	}
	old := i.ID
	m.ID, m.Was = b.ids.make("msg"), ""
	i.ID, i.SessionID = m.ID, b.Session
	if i.Role == "user" {
		b.prompt, m.Was = m.ID, old
	} else if !b.assistant(i) {
		return
	}
	b.renamed[old] = m.ID
	parts := []*piece{} // the client takes no null
	for _, p := range m.Parts {
		if p != nil && b.part(p, i.Role) {
			p.ID, p.SessionID, p.MessageID = b.ids.make("prt"), b.Session, m.ID
			parts = append(parts, p)
		}
	}
	if m.Parts = parts; len(parts) == 0 && (i.Role == "user" || i.Error == nil) {
		return
	}
	b.list = append(b.list, m)
}

// back takes out what a person has undone: all after a message.
func (b *builder) back(to string) {
	last, known := b.renamed[to]
	if !known {
		return
	}
	b.list = slices.DeleteFunc(b.list, func(m *message) bool { return m.ID > last })
	b.prompt = ""
	for _, m := range b.list {
		if m.Info.Role == "user" {
			b.prompt = m.ID
		}
	}
}

func (b *builder) assistant(i *info) bool {
	if b.prompt == "" || i.ModelID == "" || i.ProviderID == "" {
		return false
	}
	i.Model, i.ParentID = nil, b.prompt
	i.Mode, i.Path = i.Agent, &place{b.Dir, b.Dir}
	if i.Cost == nil {
		i.Cost = new(float64)
	}
	if i.Tokens == nil {
		i.Tokens = new(tokenCount)
	}
	if i.Time.Completed == 0 { // otherwise it counts as running
		i.Time.Completed = max(i.Time.Created, 1)
	}
	if i.Error != nil {
		name := "UnknownError"
		if i.Error.Name == "MessageAbortedError" {
			name = i.Error.Name
		}
		i.Error.Name = name
	}
	return true
}

// part corrects a part, or returns false to leave it out.
func (b *builder) part(p *piece, role string) bool {
	if b.Foreign || !bytes.HasPrefix(bytes.TrimSpace(p.Metadata), []byte("{")) {
		p.Metadata = nil
	}
	now := *p
	*p = piece{Type: now.Type, Metadata: now.Metadata}
	switch now.Type {
	case "text", "reasoning":
		if now.Text == nil || now.Type == "reasoning" && role == "user" || now.Synthetic && b.Foreign {
			return false
		}
		p.Text, p.Synthetic, p.Ignored, p.Time = now.Text, now.Synthetic, now.Ignored, now.Time
		if p.Time == nil && now.Type == "reasoning" {
			p.Time = &span{Start: b.At.UnixMilli()}
		}
		return true
	case "file":
		p.Mime, p.Filename, p.URL = now.Mime, now.Filename, now.URL
		p.Metadata = nil
		return now.Mime != "" && (strings.HasPrefix(now.URL, "data:") || strings.HasPrefix(now.URL, "http") && !b.Foreign)
	case "subtask": // the client would carry it out; this is what it says of one
		said := "The following tool was executed by the user"
		p.Type, p.Text, p.Synthetic, p.Metadata = "text", &said, true, nil
		return role == "user" && !b.Foreign
	case "step-start":
		return role == "assistant"
	case "step-finish":
		p.Reason, p.Cost, p.Tokens = now.Reason, now.Cost, now.Tokens
		return role == "assistant" && now.Cost != nil && now.Tokens != nil && !b.Foreign
	case "compaction":
		p.Auto, p.Overflow, p.Tail, p.Metadata = now.Auto, now.Overflow, b.renamed[now.Tail], nil
		return role == "user" && now.Auto != nil
	case "tool":
		p.CallID, p.Tool, p.State = now.CallID, now.Tool, now.State
		return role == "assistant" && p.Tool != "" && p.CallID != "" && b.state(p.State)
	}
	return false
}

// state corrects a tool's call. An unfinished one never finishes.
func (b *builder) state(s *toolState) bool {
	if s == nil || !bytes.HasPrefix(bytes.TrimSpace(s.Input), []byte("{")) {
		return false
	}
	if s.Time == nil {
		s.Time = new(span)
	}
	s.Time = &span{Start: max(s.Time.Start, 1), End: max(s.Time.End, s.Time.Start, 1), Compacted: s.Time.Compacted}
	switch {
	case s.Status == "completed" && s.Output != nil:
		var files []*piece
		for _, f := range s.Attachments {
			if f != nil && f.Type == "file" && b.part(f, "assistant") {
				f.ID, f.SessionID, f.MessageID = b.ids.make("prt"), b.Session, b.prompt
				files = append(files, f)
			}
		}
		s.Attachments, s.Error = files, nil
		if s.Title == nil {
			s.Title = new(string)
		}
		if s.Metadata == nil {
			s.Metadata = new(shown)
		}
		if b.Foreign {
			s.Metadata.Notice = nil
		}
		return true
	case s.Status == "error" && s.Error != nil:
	default:
		text := "[Tool execution was interrupted]"
		s.Error, s.Metadata = &text, nil
	}
	var said *shown
	if s.Metadata != nil && s.Metadata.Interrupted {
		said = &shown{Output: s.Metadata.Output, Interrupted: true}
	}
	*s = toolState{Status: "error", Input: s.Input, Error: s.Error, Metadata: said, Time: &span{Start: s.Time.Start, End: s.Time.End}}
	return true
}

// trim omits a final request to compact, which the client would carry out.
func (b *builder) trim() {
	for n := len(b.list); n > 0; n = len(b.list) {
		last := b.list[n-1]
		if last.Info.Role != "user" || len(last.Parts) == 0 || last.Parts[0].Type != "compaction" {
			return
		}
		b.list = b.list[:n-1]
	}
}

// adopt lets the client import a session in the directory where it will go on.
func (o Edition) adopt(ctx context.Context, c transcript.Cut, list []*message) (err error) {
	f, err := os.CreateTemp("", "git-agent-*.json")
	if err != nil {
		return fmt.Errorf("import the conversation: %w", err)
	}
	defer os.Remove(f.Name())
	at := c.At.UnixMilli()
	err = json.NewEncoder(f).Encode(map[string]any{
		"info": map[string]any{
			"id": c.Session, "slug": "git-agent", "projectID": "global", "directory": c.Dir, "title": title(list), "version": o.Tested,
			"time": map[string]int64{"created": at, "updated": at},
		},
		"messages": list,
	})
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("import the conversation: %w", err)
	}
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Import)
	defer cancel()
	out, err := terminal.Capture(ctx, c.Dir, o.Program, "import", f.Name())
	if err == nil && !strings.Contains(out, c.Session) {
		err = errors.New("it does not say that it has")
	}
	if err != nil {
		err = fmt.Errorf("import the conversation into %s: %w", o.Title, err)
		if out = strings.TrimSpace(out); out != "" {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	return err
}

// title returns the client's title of the session: the first line of its start.
func title(list []*message) string {
	for _, m := range list {
		for _, p := range m.Parts {
			if m.Info.Role == "user" && p.Text != nil && !p.Synthetic {
				line, _, _ := strings.Cut(strings.TrimSpace(*p.Text), "\n")
				if runes := []rune(line); len(runes) > 60 {
					line = string(runes[:60])
				}
				return line
			}
		}
	}
	return "fork"
}
