package handoffstore

import (
	"bytes"
	"strings"

	"gitagent/internal/ledger"
	"gitagent/internal/redact"
)

// clean makes a text fit for a record: without secrets, in valid UTF-8, and cut to n runes.
func clean(s string, n int) string {
	const limit = 256 << 10 // bytes: what is kept is a few KB, and a secret is whole within that
	s = strings.ToValidUTF8(redact.String(s[:min(len(s), limit)]), "\uFFFD")
	return ledger.Head(strings.TrimSpace(s), n)
}

// cutLines returns the whole lines of text that fit into limit bytes, and whether any were cut.
func cutLines(text []byte, limit int64) ([]byte, bool) {
	if int64(len(text)) <= limit {
		return text, false
	}
	return text[:bytes.LastIndexByte(text[:limit], '\n')+1], true
}
