package main

import (
	"testing"

	"gitagent/internal/usage"
)

func TestModelNames(t *testing.T) {
	t.Parallel()
	some := func(n int64) usage.Tokens { return usage.Tokens{Output: n} }
	for _, tt := range []struct {
		models usage.ByModel
		want   string
	}{
		{nil, ""},
		{usage.ByModel{"one": some(1)}, "one"},
		{usage.ByModel{"one": some(1), "two": some(2)}, "two +1"},
		{usage.ByModel{"one": some(1), "two": some(2), "three": some(3)}, "three +2"},
		{usage.ByModel{"o\x1b[1mne": some(1)}, `o\x1b[1mne`},
	} {
		if got := modelNames(tt.models); got != tt.want {
			t.Errorf("modelNames(%v) = %q, want %q", tt.models, got, tt.want)
		}
	}
}
