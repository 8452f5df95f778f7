package handoffstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gitagent/internal/redact"
)

// MaxDocument is how much of a document is kept, in bytes: a hundred times what a conversation is told of it.
const MaxDocument = 1 << 20

// ErrEmpty reports a document or a summary that says nothing. It never replaces one that does.
var ErrEmpty = errors.New("there is nothing in it")

// A Document is what the agent wrote for the next session.
type Document struct {
	Text      []byte // redacted, valid UTF-8, at least one letter
	Source    string // where it was found; for people
	Truncated bool   // it was longer than [MaxDocument]
}

// ReadDocument reads a document. What is not text (it has a NUL byte) or says nothing is an error; of one that is too
// long the beginning is kept: a session that runs out of context has no other.
func ReadDocument(r io.Reader, source string) (*Document, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", source, err)
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, fmt.Errorf("read document %s: it is not text", source)
	}
	d := &Document{Source: source}
	raw, d.Truncated = cutLines(raw, MaxDocument)
	if d.Truncated && len(raw) == 0 {
		return nil, fmt.Errorf("read document %s: its first line has more than %d bytes", source, MaxDocument)
	}
	d.Text = bytes.ToValidUTF8(redact.Bytes(raw), []byte("\uFFFD"))
	if len(bytes.TrimSpace(d.Text)) == 0 {
		return nil, fmt.Errorf("read document %s: %w", source, ErrEmpty)
	}
	if d.Text[len(d.Text)-1] != '\n' {
		d.Text = append(d.Text[:len(d.Text):len(d.Text)], '\n')
	}
	return d, nil
}
