package remote_test

import (
	"testing"

	"gitagent/internal/remote"
)

func TestUsual(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"fork"}, "fork"},
		{[]string{"fork", "origin"}, "origin"},
		{[]string{"fork", "upstream"}, ""},
	} {
		if got := remote.Usual(tt.names); got != tt.want {
			t.Errorf("Usual(%q) = %q, want %q", tt.names, got, tt.want)
		}
	}
}
