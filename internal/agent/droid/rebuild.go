package droid

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Rebuild makes the file of a session that the client then forks: without an
// account it resumes none. It finds the file by its project, and its copy keeps
// the records' ids.
//
// Lines may be untrusted: only known fields of messages and compactions are
// kept, see [known]. They form a chain of their own. What hooks said, and what
// the client showed to the user alone, is left out. A foreign conversation also
// loses the model's thoughts, all that only the service can have signed, and what
// the client told the model about its place, which it then says again.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	path := filepath.Join(c.Config, sessions, project(c.Dir), c.Session+extension)
	return &transcript.Rebuilt{Path: path, Write: func(w *bufio.Writer) error { return rebuild(w, c) }}, nil
}

func rebuild(w *bufio.Writer, c transcript.Cut) error {
	_, _ = w.Write(start(c)) // its Flush returns the error, too
	parent, said := "", false
	for line, err := range c.Lines {
		if err != nil {
			return err
		}
		kept, message := keep(line, parent, c.Foreign)
		if kept == nil {
			continue
		}
		if message {
			parent = gjson.GetBytes(kept, "id").Raw
		}
		_, _ = w.Write(append(kept, '\n'))
		said = said || message && gjson.GetBytes(kept, "message.visibility").Str == ""
	}
	if !said {
		return fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
	}
	return nil
}

// start returns the line that a file begins with. The client reads no file
// without an owner.
func start(c transcript.Cut) []byte {
	line, _ := json.Marshal(struct { // strings cause no error
		Type    string `json:"type"`
		Session string `json:"id"`
		Title   string `json:"title"`
		Owner   string `json:"owner"`
		Version int    `json:"version"`
		Dir     string `json:"cwd"`
	}{"session_start", c.Session, "New Session", "unknown", 2, c.Dir})
	return append(line, '\n')
}

// known are the kept fields of records, and of the objects in them, whose names
// have a dot. They are from files and the code of droid 0.225.2, and tested with
// it. Nothing that makes the client act is kept: modes, efforts, hooks, tasks.
var known = sync.OnceValue(func() transcript.Fields {
	return transcript.Fields{Foreign: thinks, Known: map[string]string{
		"message": "id timestamp message{.message} compactionSummaryId",
		".message": "role content{.part} visibility modelId openaiMessageId? openaiPhase openaiEncryptedContent? openaiReasoningId? " +
			"openaiReasoningSummary? geminiThoughtSignature? chatCompletionReasoningField? chatCompletionReasoningContent? isError",
		".part": "type text thinking? signature? signatureProvider? data? id name input tool_use_id is_error content source{.source}",

		".source": "type media_type data",

		"compaction_state": "id timestamp summaryText summaryTokens summaryKind anchorMessage{.anchor} removedCount",
		".anchor":          "id index",
	}}
})

// thinks reports whether a part of a message is a thought of the model's.
func thinks(part gjson.Result) bool { return strings.Contains(part.Get("type").Str, "thinking") }

// keep returns the known part of a line that follows another message, or nil to
// leave it out.
func keep(line []byte, parent string, foreign bool) (kept []byte, message bool) {
	kind := gjson.GetBytes(line, "type").Str
	if message = kind == "message"; !message && kind != "compaction_state" || !json.Valid(line) || !utf8.Valid(line) {
		return nil, message
	}
	record := gjson.ParseBytes(line)
	m := record.Get("message")
	switch visible := m.Get("visibility").Str; {
	case transcript.Moment(record.Get("timestamp").Str).IsZero() || record.Get("id").Type != gjson.String || message && !m.Get("content").Exists():
		return nil, message
	case m.Get("hookEventName").Exists(), visible == "user_only", visible == "llm_only" && foreign:
		return nil, message
	}
	out, ok := known().Keep(kind, record, foreign)
	if !ok || gjson.GetBytes(out, "message.content").Raw == "[]" {
		return nil, message
	}
	head := `{"type":"` + kind + `",`
	if message && parent != "" {
		head += `"parentId":` + parent + `,`
	}
	return slices.Concat([]byte(head), out[1:]), message
}
