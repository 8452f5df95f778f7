package main

import (
	"testing"

	"gitagent/internal/spent"
)

func TestModelNames(t *testing.T) {
	t.Parallel()
	some := func(n int64) spent.Tokens { return spent.Tokens{Output: n} }
	for _, tt := range []struct {
		models spent.ByModel
		want   string
	}{
		{nil, ""},
		{spent.ByModel{"one": some(1)}, "one"},
		{spent.ByModel{"one": some(1), "two": some(2)}, "two +1"},
		{spent.ByModel{"one": some(1), "two": some(2), "three": some(3)}, "three +2"},
		{spent.ByModel{"o\x1b[1mne": some(1)}, `o\x1b[1mne`},
	} {
		if got := modelNames(tt.models); got != tt.want {
			t.Errorf("modelNames(%v) = %q, want %q", tt.models, got, tt.want)
		}
	}
}
