package handoffstore

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gitagent/internal/redact"
)

// clean makes a text fit for a record: no secrets, valid UTF-8, at most n runes, the beginning.
func clean(s string, n int) string {
	const limit = 256 << 10 // bytes: what is kept is a few KB, and a secret is whole within that
	s = strings.ToValidUTF8(redact.String(s[:min(len(s), limit)]), "\uFFFD")
	return head(strings.TrimSpace(s), n)
}

// head returns the first n runes of s; what is cut is marked.
func head(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s[:min(len(s), 4*n)])
	return string(r[:n-1]) + "…"
}

// tail returns the last n runes of s; what is cut is marked.
func tail(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s[max(0, len(s)-4*n):])
	return "…" + string(r[len(r)-n+1:])
}

// cutLines returns the whole lines of text that fit into limit bytes, and whether that is less than all.
func cutLines(text []byte, limit int64) ([]byte, bool) {
	if int64(len(text)) <= limit {
		return text, false
	}
	return text[:bytes.LastIndexByte(text[:limit], '\n')+1], true
}
