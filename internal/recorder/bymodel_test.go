package recorder

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/internal/usage"
)

// TestByModel: what models are called, the client says, and a proxy may call them anything.
func TestByModel(t *testing.T) {
	t.Parallel()
	many := make(map[string]transcript.Tokens)
	for i := range 100 {
		many[fmt.Sprintf("m%02d", i)] = transcript.Tokens{Output: int64(i)}
	}
	var names []string
	for i := range maxModels - 1 {
		names = append(names, fmt.Sprintf("m%02d", 99-i))
	}
	for _, tt := range []struct {
		name  string
		found map[string]transcript.Tokens
		want  []string
	}{
		{name: "none"},
		{name: "none that read or wrote", found: map[string]transcript.Tokens{"x": {}}},
		{name: "one without a name", found: map[string]transcript.Tokens{"": {Input: 1}}, want: []string{"unknown"}},
		{name: "a long name", found: map[string]transcript.Tokens{strings.Repeat("x", 500): {Input: 1}}, want: []string{strings.Repeat("x", maxModel-1) + "…"}},
		{
			name: "two long names that are cut alike", want: []string{strings.Repeat("x", maxModel-1) + "…"},
			found: map[string]transcript.Tokens{strings.Repeat("x", 500): {Input: 1}, strings.Repeat("x", 501): {Input: 1}},
		},
		{name: "no text", found: map[string]transcript.Tokens{"a\xff": {Input: 1}}, want: []string{"a\uFFFD"}},
		{
			name: "a secret", want: []string{"https://dev:[redacted:url-password]@example.invalid/m"},
			found: map[string]transcript.Tokens{"https://dev:hunter2hunter2@example.invalid/m": {Input: 1}},
		},
		{name: "many", found: many, want: append(names, usage.Others)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := byModel(tt.found)
			for _, name := range tt.want {
				if _, ok := got[name]; !ok {
					t.Errorf("%q is not there", name)
				}
			}
			if len(got) != len(tt.want) || got.Sum() != usage.ByModel(tt.found).Sum() {
				t.Errorf("byModel = %v, want %q", maps.Clone(got), tt.want)
			}
		})
	}
}
