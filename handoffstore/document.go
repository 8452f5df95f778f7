package handoffstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gitagent/internal/ledger"
	"gitagent/internal/redact"
)

// MaxDocument bounds a document, in bytes: a hundred times what is told of it.
const MaxDocument = 1 << 20

// ErrEmpty reports an empty document or summary, which replaces nothing.
var ErrEmpty = errors.New("there is nothing in it")

// A Document is what the agent wrote for the next session.
type Document struct {
	Text      []byte // redacted, valid UTF-8, not blank
	Source    string // where it was found; for people
	Truncated bool   // it was longer than [MaxDocument]
}

// ReadDocument reads a text document, not empty and without NUL. Of a long one
// it keeps the beginning: a session out of context has no other.
func ReadDocument(rules *redact.Rules, r io.Reader, source string) (*Document, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	d := &Document{Source: source}
	kept, cut := cutLines(raw, MaxDocument)
	d.Text, d.Truncated = bytes.ToValidUTF8(rules.Bytes(kept), []byte("\uFFFD")), cut
	switch {
	case err != nil:
	case bytes.IndexByte(raw, 0) >= 0:
		err = errors.New("it is not text")
	case cut && len(kept) == 0:
		err = fmt.Errorf("its first line has more than %d bytes", MaxDocument)
	case len(bytes.TrimSpace(d.Text)) == 0:
		err = ErrEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", source, err)
	}
	if d.Text[len(d.Text)-1] != '\n' {
		d.Text = append(d.Text[:len(d.Text):len(d.Text)], '\n')
	}
	return d, nil
}

// clean makes a text fit for a record: redacted, valid UTF-8, at most n runes.
func clean(rules *redact.Rules, s string, n int) string {
	const limit = 256 << 10 // bytes, so that secrets within the few KB that are kept are whole
	s = strings.ToValidUTF8(rules.String(s[:min(len(s), limit)]), "\uFFFD")
	return ledger.Head(strings.TrimSpace(s), n)
}

// cutLines returns the whole lines in limit bytes, and whether any was cut.
func cutLines(text []byte, limit int64) ([]byte, bool) {
	if int64(len(text)) <= limit {
		return text, false
	}
	return text[:bytes.LastIndexByte(text[:limit], '\n')+1], true
}
