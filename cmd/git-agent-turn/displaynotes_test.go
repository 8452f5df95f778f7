package main

import "testing"

func TestDisplaysOurs(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"refs/notes/*":       true,
		"refs/*":             true,
		"notes/*":            true,
		"refs/notes/a*":      true,
		"refs/notes/*/*":     true,
		"refs/notes/[ab]*":   true,
		others:               false,
		"refs/notes/commits": false,
		"refs/notes/agent/*": false, // as the user wants it
		"refs/notes/review*": false,
		"refs/notes/?":       false,
		"":                   false,
		"refs/notes/[":       false,
	} {
		if got := displaysOurs(pattern); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}
