package main

import (
	"testing"

	"gitagent/test/gittest"
)

func TestBar(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name string
		f    fill
		want string
	}{
		{"empty", fill{Window: 200_000, Warning: 100_000, Critical: 130_000}, "░░░░░░░░░░│░░│░░░░░░"},
		{"half", fill{Tokens: 100_000, Window: 200_000, Warning: 100_000, Critical: 130_000}, "██████████│░░│░░░░░░"},
		{"beyond the first limit", fill{Tokens: 120_000, Window: 200_000, Warning: 100_000, Critical: 130_000}, "██████████│█░│░░░░░░"},
		{"full", fill{Tokens: 250_000, Window: 200_000, Warning: 100_000, Critical: 130_000}, "██████████│██│██████"},
		{"limits beyond the window", fill{Tokens: 10, Window: 100, Warning: 500, Critical: 600}, "██░░░░░░░░░░░░░░░░░░"},
	} {
		if got := tt.f.bar(20); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := (&fill{Tokens: 1, Window: 2}).bar(0); got != "" {
		t.Errorf("without room: %q", got)
	}
}
