package finisher

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/usage"
	"gitagent/turns"
)

func TestAssistants(t *testing.T) {
	t.Parallel()
	by := func(models ...string) usage.ByModel {
		m := usage.ByModel{}
		for i, name := range models {
			m[name] = usage.Tokens{Output: int64(10 - i)}
		}
		return m
	}
	for _, tt := range []struct {
		name string
		turn turns.Turn
		want string
	}{
		{"nothing is known", turns.Turn{}, ""},
		{"an agent", turns.Turn{Agent: "codex"}, "codex"},
		{"a model", turns.Turn{Model: "gpt-5.4"}, "gpt-5.4"},
		{"both", turns.Turn{Agent: "claude-code", Model: "claude-opus-4-8"}, "claude-code:claude-opus-4-8"},
		{"an unknown agent", turns.Turn{Agent: "my agent"}, "my-agent"},
		{"a model of a provider", turns.Turn{Agent: "opencode", Model: "qwen/qwen3-coder:free"}, "opencode:qwen/qwen3-coder:free"},
		{"a model with a window", turns.Turn{Agent: "claude-code", Model: "claude-opus-4-8[1m]"}, "claude-code:claude-opus-4-8-1m"},
		{"several models", turns.Turn{Agent: "a", Model: "m", Tokens: by("o", "n", "m")}, "a:m a:o a:n a:m"},
		{
			"sub-agents",
			turns.Turn{Agent: "a", Model: "m", Agents: []record.Subagent{{Tokens: by("s")}, {Tokens: by("m")}}},
			"a:m a:m a:s",
		},
		{"the client's own words", turns.Turn{Agent: "a", Model: "<synthetic>"}, "a"},
		{"purged", turns.Turn{Agent: "a", Model: "[redacted:purged]", Tokens: by("m")}, "a:m"},
		{"a sign-off", turns.Turn{Agent: "a", Model: "m\n\nSigned-off-by: Anna <anna@example.invalid>\x1b[1m"}, "a:m-Signed-off-by:-Anna-anna@example.invalid-1m"},
		{"long", turns.Turn{Model: strings.Repeat("m", 1000)}, strings.Repeat("m", maxWord)},
	} {
		got := strings.Join(assistants(&tt.turn), " ")
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestAssistantsOnce: a mission of many turns must fit into the arguments of a command.
func TestAssistantsOnce(t *testing.T) {
	t.Parallel()
	k := &unfinished{}
	for n := range 3000 {
		k.turns = append(k.turns, worked{number: n + 1, changed: n > 0, assistants: []string{fmt.Sprint("a:", n%2), "a:m"}})
	}
	if got := k.assistants(ledger.Ranges{{First: 1, Last: 3000}}); !slices.Equal(got, []string{"a:1", "a:m", "a:0"}) {
		t.Errorf("got %q", got)
	}
}

func TestValidTrailer(t *testing.T) {
	t.Parallel()
	var valid []string
	for _, name := range []string{
		"Assisted-by", "Generated-by", "AI-assistant", "x",
		"", "-by", "Assisted by", "Assisted-by:", "a=b", "signed-off-by", "Signed-off-by", "Agent-Mission", "agent-x", strings.Repeat("x", 51),
	} {
		if ValidTrailer(name) {
			valid = append(valid, name)
		}
	}
	if want := []string{"Assisted-by", "Generated-by", "AI-assistant", "x"}; !slices.Equal(valid, want) {
		t.Errorf("got %q, want %q", valid, want)
	}
}
