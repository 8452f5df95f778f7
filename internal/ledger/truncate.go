package ledger

import "unicode/utf8"

// Head returns the first n runes of a text; the last is an ellipsis if it was
// cut.
func Head(s string, n int) string {
	if fits(s, n) {
		return s
	}
	r := []rune(s[:min(len(s), 4*n)])
	return string(r[:n-1]) + "…"
}

// Tail returns the last n runes of a text, the first an ellipsis if it was cut.
func Tail(s string, n int) string {
	if fits(s, n) {
		return s
	}
	r := []rune(s[max(0, len(s)-4*n):])
	return "…" + string(r[len(r)-n+1:])
}

func fits(s string, n int) bool { return len(s) <= n || utf8.RuneCountInString(s) <= n }
