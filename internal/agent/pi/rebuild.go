package pi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Rebuild keeps these fields of entries: the client's next request is made from
// them, or it needs them to show the conversation.
type (
	head struct {
		Type      string `json:"type"`
		Version   int    `json:"version"`
		ID        string `json:"id"`
		Timestamp string `json:"timestamp"`
		Cwd       string `json:"cwd"`
	}
	entry struct {
		Type      string   `json:"type"`
		ID        string   `json:"id"`
		Parent    *string  `json:"parentId"`
		Timestamp string   `json:"timestamp"`
		Message   *message `json:"message,omitempty"`

		CustomType string   `json:"customType,omitempty"` // custom_message
		Content    *content `json:"content,omitempty"`
		Display    *bool    `json:"display,omitempty"`

		Summary   string          `json:"summary,omitempty"` // compaction, branch_summary
		FirstKept string          `json:"firstKeptEntryId,omitempty"`
		Before    *int64          `json:"tokensBefore,omitempty"`
		System    json.RawMessage `json:"systemMessage,omitempty"`
		From      string          `json:"fromId,omitempty"`

		Target      string          `json:"targetId,omitempty"` // context_edit
		Replacement json.RawMessage `json:"replacement,omitempty"`

		Provider string `json:"provider,omitempty"` // model_change
		Model    string `json:"modelId,omitempty"`
		Thinking string `json:"thinkingLevel,omitempty"` // thinking_level_change
	}
	message struct {
		Role      string  `json:"role"`
		Content   content `json:"content"`
		Timestamp int64   `json:"timestamp,omitempty"`

		Sections json.RawMessage `json:"sections,omitempty"` // system
		Added    json.RawMessage `json:"toolsAdded,omitempty"`
		Removed  json.RawMessage `json:"toolsRemoved,omitempty"`

		API      string  `json:"api,omitempty"` // assistant
		Provider string  `json:"provider,omitempty"`
		Model    string  `json:"model,omitempty"`
		Usage    *figure `json:"usage,omitempty"`
		Stop     string  `json:"stopReason,omitempty"`
		Error    string  `json:"errorMessage,omitempty"`
		Thinking string  `json:"thinkingLevel,omitempty"`

		Call   string `json:"toolCallId,omitempty"` // toolResult
		Tool   string `json:"toolName,omitempty"`
		Failed *bool  `json:"isError,omitempty"`

		Command   string `json:"command,omitempty"` // bashExecution
		Output    string `json:"output,omitempty"`
		Exit      *int   `json:"exitCode,omitempty"`
		Cancelled *bool  `json:"cancelled,omitempty"`
		Truncated *bool  `json:"truncated,omitempty"`
		Excluded  bool   `json:"excludeFromContext,omitempty"`
	}
	// A content is a text or a list of parts.
	content struct {
		text  *string
		parts []part
	}
	part struct {
		Type string  `json:"type"`
		Text *string `json:"text,omitempty"`

		Thought  *string         `json:"thinking,omitempty"`
		Redacted bool            `json:"redacted,omitempty"`
		ID       string          `json:"id,omitempty"`
		Name     string          `json:"name,omitempty"`
		Input    json.RawMessage `json:"arguments,omitempty"`
		Space    string          `json:"namespace,omitempty"`
		Data     string          `json:"data,omitempty"`
		Media    string          `json:"mimeType,omitempty"`

		// What a provider may want back as it was.
		TextSignature string `json:"textSignature,omitempty"`
		Signature     string `json:"thinkingSignature,omitempty"`
		CallSignature string `json:"thoughtSignature,omitempty"`
	}
	figure struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
		Total      int64 `json:"totalTokens"`
		Cost       cost  `json:"cost"`
	}
	cost struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
		Total      float64 `json:"total"`
	}
)

// UnmarshalJSON leaves out what is neither.
func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.text) != nil {
		c.text = nil
		_ = json.Unmarshal(data, &c.parts)
	}
	return nil
}

// MarshalJSON makes a list of what is no text: the client takes no null.
func (c content) MarshalJSON() ([]byte, error) {
	if c.text != nil {
		return json.Marshal(c.text)
	}
	return json.Marshal(append([]part{}, c.parts...))
}

// Rebuild makes the file of a new session from the entries that the last turn's
// goes on from, as the client's own /fork would: what was said on branches that
// were left is not in it. The client makes what it tells the model about itself
// and its tools anew.
//
// A foreign conversation also loses what the client and extensions said in
// their own name, thoughts and what a provider may want back, and settings that
// its user shall decide: which model goes on, and when to compact.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	return &transcript.Rebuilt{Path: placeOf(c.Config, c.Dir, c.Session, c.At), Write: func(w *bufio.Writer) error { return rebuild(w, c) }}, nil
}

func rebuild(w *bufio.Writer, c transcript.Cut) error {
	entries, err := branch(c)
	if err != nil {
		return err
	}
	file := []any{head{"session", 3, c.Session, transcript.Stamp(c.At), c.Dir}}
	said := false
	for _, e := range entries {
		said = said || e.Message != nil && (e.Message.Role == "user" || e.Message.Role == "assistant")
		file = append(file, e)
	}
	if !said {
		return fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
	}
	for _, v := range file {
		line, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("rebuild session %s: %w", c.Session, err)
		}
		_, _ = w.Write(append(line, '\n')) // its Flush returns the error, too
	}
	return nil
}

// branch returns the entries that are kept, each after the one before it.
func branch(c transcript.Cut) ([]*entry, error) {
	all, leaf, err := tree(c.Lines)
	if err != nil {
		return nil, err
	}
	var path []*entry
	for at := leaf; at != ""; {
		e, ok := all[at]
		if !ok {
			break
		}
		delete(all, at) // no entry comes after itself
		path = append(path, e)
		at = ""
		if e.Parent != nil {
			at = *e.Parent
		}
	}
	slices.Reverse(path)
	var kept []*entry
	instead := make(map[string]string) // of entries that are left out, the next one
	var out []string
	for _, e := range path {
		if !e.keep(c.Foreign) {
			out = append(out, e.ID)
			continue
		}
		for _, id := range out {
			instead[id] = e.ID
		}
		out, e.Parent = nil, nil
		if transcript.Moment(e.Timestamp).IsZero() {
			e.Timestamp = transcript.Stamp(c.At)
		}
		if n := len(kept); n > 0 {
			e.Parent = &kept[n-1].ID
		}
		if id, ok := instead[e.FirstKept]; ok {
			e.FirstKept = id
		}
		kept = append(kept, e)
	}
	return kept, nil
}

// tree returns the entries by their ids, and the last one that goes on from
// where the last turn begins.
func tree(lines iter.Seq2[[]byte, error]) (all map[string]*entry, leaf string, err error) {
	all = make(map[string]*entry)
	r := Reader()
	var last map[string]bool // the entries of the last turn; nil before the first
	for line, err := range lines {
		if err != nil {
			return nil, "", err
		}
		e := new(entry)
		if json.Unmarshal(line, e) != nil || !hooks.ValidID(e.ID) || all[e.ID] != nil {
			continue
		}
		all[e.ID] = e
		switch opens := r.Read(0, bytes.TrimSpace(line)).Opens != nil; {
		case opens:
			last = map[string]bool{e.ID: true}
		case last == nil: // before any turn
		case e.Parent != nil && last[*e.Parent]:
			last[e.ID] = true
		default:
			continue
		}
		leaf = e.ID
	}
	return all, leaf, nil
}

// unknown names a provider and a model that the client can't find: it goes on
// with its user's own.
const unknown = "unknown"

// keep corrects an entry, or returns false to leave it out.
func (e *entry) keep(foreign bool) bool {
	now := *e
	*e = entry{Type: now.Type, ID: now.ID, Parent: now.Parent, Timestamp: now.Timestamp}
	switch now.Type {
	case "message":
		e.Message = now.Message
		return e.Message != nil && e.Message.keep(foreign)
	case "custom_message":
		if foreign || now.Content == nil {
			return false
		}
		said := now.Content.keep("user", false)
		e.CustomType, e.Content, e.Display = now.CustomType, &said, now.Display
		return e.CustomType != ""
	case "compaction":
		e.Summary, e.FirstKept, e.Before = now.Summary, now.FirstKept, now.Before
		if !foreign && gjson.GetBytes(now.System, "role").Str == "system" {
			e.System = plain(now.System)
		}
		if e.Before == nil {
			e.Before = new(int64)
		}
		return e.Summary != "" && e.FirstKept != ""
	case "branch_summary":
		e.Summary, e.From = now.Summary, "root" // it may be on a branch that is not kept
		return e.Summary != ""
	case "context_edit":
		e.Target, e.Replacement = now.Target, edit(now.Replacement, foreign)
		return e.Target != ""
	case "model_change":
		e.Provider, e.Model = now.Provider, now.Model
		return !foreign && e.Provider != "" && e.Model != ""
	case "thinking_level_change":
		e.Thinking = now.Thinking
		return !foreign && e.Thinking != ""
	}
	return false
}

// edit returns what takes the place of a message's content, or null: nothing
// does, and the message is not sent.
func edit(replacement json.RawMessage, foreign bool) json.RawMessage {
	var to struct {
		Content *content `json:"content"`
	}
	if json.Unmarshal(replacement, &to) != nil || to.Content == nil {
		return json.RawMessage("null")
	}
	*to.Content = to.Content.keep("assistant", foreign)
	line, _ := json.Marshal(to) // texts cause no error
	return line
}

func (m *message) keep(foreign bool) bool {
	now := *m
	*m = message{Role: now.Role, Content: now.Content.keep(now.Role, foreign), Timestamp: now.Timestamp}
	switch now.Role {
	case "system":
		m.Sections, m.Added, m.Removed = plain(now.Sections), plain(now.Added), plain(now.Removed)
		return !foreign
	case "user":
		return true
	case "assistant":
		m.API, m.Provider, m.Model, m.Usage, m.Stop, m.Error, m.Thinking = now.API, now.Provider, now.Model, now.Usage, now.Stop, now.Error, now.Thinking
		if foreign {
			m.API, m.Provider, m.Model, m.Usage, m.Thinking = unknown, unknown, unknown, nil, ""
		}
		if m.Usage == nil {
			m.Usage = new(figure)
		}
		return slices.Contains([]string{"stop", "length", "toolUse", "error", "aborted"}, m.Stop) && m.Provider != "" && m.Model != ""
	case "toolResult":
		m.Call, m.Tool, m.Failed = now.Call, now.Tool, now.Failed
		if m.Failed == nil {
			m.Failed = new(bool)
		}
		return m.Call != "" && m.Tool != ""
	case "bashExecution":
		m.Command, m.Output, m.Exit, m.Cancelled, m.Truncated, m.Excluded = now.Command, now.Output, now.Exit, now.Cancelled, now.Truncated, now.Excluded
		return m.Command != ""
	}
	return false
}

// keep returns the parts that a message of a role can have.
func (c content) keep(role string, foreign bool) content {
	switch {
	case c.text != nil && role != "assistant" && role != "toolResult":
		return c
	case c.text != nil: // the client takes none from these
		c.parts = []part{{Type: "text", Text: c.text}}
	}
	kept := content{parts: []part{}}
	for _, p := range c.parts {
		to := part{Type: p.Type}
		model := role == "assistant"
		switch {
		case p.Type == "text" && p.Text != nil:
			to.Text, to.TextSignature = p.Text, p.TextSignature
		case p.Type == "image" && !model:
			to.Data, to.Media = p.Data, p.Media
		case p.Type == "thinking" && p.Thought != nil && model && !foreign:
			to.Thought, to.Signature, to.Redacted = p.Thought, p.Signature, p.Redacted
		case p.Type == "toolCall" && model && p.ID != "" && p.Name != "":
			to.ID, to.Name, to.Space, to.CallSignature = p.ID, p.Name, p.Space, p.CallSignature
			if to.Input = plain(p.Input); !bytes.HasPrefix(to.Input, []byte("{")) {
				to.Input = json.RawMessage("{}")
			}
		default:
			continue
		}
		if foreign {
			to.TextSignature, to.CallSignature = "", ""
		}
		kept.parts = append(kept.parts, to)
	}
	return kept
}

// maxDepth bounds nesting in values that are kept whole.
const maxDepth = 50

// plain returns a value in which nothing is repeated or too deep, or nil.
func plain(v json.RawMessage) json.RawMessage {
	if v = bytes.TrimSpace(v); len(v) == 0 || !transcript.Plain(gjson.ParseBytes(v), maxDepth) {
		return nil
	}
	return v
}
