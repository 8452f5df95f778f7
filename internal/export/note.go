package export

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gitagent/internal/agent"
	"gitagent/internal/blame"
	"gitagent/internal/git/object"
	"gitagent/turns"
)

// NotesRef is the ref for notes of the Git AI Standard.
const NotesRef = "refs/notes/ai"

const noteVersion = "authorship/3.0.0"

// noteMetadata follows a note's lines.
type noteMetadata struct {
	Version  string                 `json:"schema_version"`
	Base     object.Hash            `json:"base_commit_sha"`
	Prompts  struct{}               `json:"prompts"` // of notes before there were sessions
	Sessions map[string]noteSession `json:"sessions"`
}

type noteSession struct {
	Agent noteAgent `json:"agent_id"`
}

type noteAgent struct {
	Tool  string `json:"tool"`
	ID    string `json:"id"`
	Model string `json:"model"`
}

// Note returns a commit's note in the Git AI Standard 3.0.0, or nil if there is
// nothing to say. left lists the paths that the format can't hold. A session is
// the client's conversation, a trace in it a turn. Only the most likely of
// several turns is named.
func Note(c CommitShare) (note []byte, left []string, err error) {
	var b bytes.Buffer
	meta := noteMetadata{Version: noteVersion, Base: c.Hash, Sessions: make(map[string]noteSession)}
	latest := make(map[string]*turns.Turn) // by session
	for _, f := range c.Files {
		lines := slices.Clone(f.Lines)
		lines = slices.DeleteFunc(lines, func(l blame.Line) bool { return anonymous(l.Turn) })
		if len(lines) == 0 {
			continue
		}
		if strings.ContainsAny(f.Path, "\"\n") || !utf8.ValidString(f.Path) {
			left = append(left, f.Path)
			continue
		}
		for i := range lines {
			lines[i].Others = nil
		}
		b.WriteString(notePath(f.Path) + "\n")
		for _, s := range spans(lines) {
			agent := newNoteAgent(s.turns[0])
			session := "s_" + digits(agent.Tool+":"+agent.ID)
			if t := latest[session]; t == nil || s.turns[0].At.After(t.At) { // the model can change
				latest[session], meta.Sessions[session] = s.turns[0], noteSession{agent}
			}
			var ranges []string
			for _, r := range s.ranges {
				text := fmt.Sprintf("%d-%d", r[0], r[1])
				if r[0] == r[1] {
					text = fmt.Sprint(r[0])
				}
				ranges = append(ranges, text)
			}
			fmt.Fprintf(&b, "  %s::t_%s %s\n", session, digits(name(s.turns[0])), strings.Join(ranges, ","))
		}
	}
	if b.Len() == 0 {
		return nil, left, nil
	}
	b.WriteString("---\n")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(meta)
	return b.Bytes(), left, err
}

// notePath returns a path, quoted if it has blanks or is the line after paths.
func notePath(path string) string {
	if path == "---" || strings.ContainsFunc(path, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return `"` + path + `"`
	}
	return path
}

const unknown = "unknown"

// newNoteAgent describes the turn's conversation, or its mission's.
func newNoteAgent(t *turns.Turn) noteAgent {
	tool := t.Agent
	if a, ok := agent.Find(tool); ok {
		tool = a.Program
	}
	return noteAgent{Tool: cmp.Or(tool, unknown), ID: cmp.Or(t.Session, string(t.Mission)), Model: cmp.Or(modelName(t.Model), unknown)}
}

// digits returns the first 14 hexadecimal digits of text's SHA-256.
func digits(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:7])
}
