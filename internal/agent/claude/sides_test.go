package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
)

// TestSides: which files are those of sub-agents, and what is said of them.
func TestSides(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"s/subagents/agent-a1.jsonl":          "12345",
		"s/subagents/agent-a2.jsonl":          "123",
		"s/subagents/agent-a2.meta.json":      `{"agentType":"Explore","toolUseId":"toolu_1","finished":true}`,
		"s/subagents/agent-a3.jsonl":          "1",
		"s/subagents/agent-a3.meta.json":      `{"agentType":"Explore","toolUseId":"toolu_2"}`,
		"s/subagents/agent-read.jsonl":        "123456",
		"s/subagents/agent-grown.jsonl":       "1234567",
		"s/subagents/agent-compact.jsonl":     "1",
		"s/subagents/agent-compact.meta.json": `{"agentType":""}`,
		"s/subagents/agent-broken.jsonl":      "1",
		"s/subagents/agent-broken.meta.json":  `{"agentType":`,
		"s/subagents/agent-.jsonl":            "1",
		"s/subagents/agent-a b.jsonl":         "1",
		"s/subagents/agent-a4.json":           "1",
		"s/subagents/other-a5.jsonl":          "1",
		"s/subagents/agent-dir.jsonl/x":       "1",
		"without.jsonl":                       "1",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	file := func(id string) string { return filepath.Join(dir, "s", "subagents", "agent-"+id+".jsonl") }
	all := []transcript.SubagentFile{
		{ID: "a1", Path: file("a1"), Size: 5},
		{ID: "a2", Path: file("a2"), Type: "Explore", Call: "toolu_1", Size: 3, Over: true},
		{ID: "a3", Path: file("a3"), Type: "Explore", Call: "toolu_2", Size: 1},
		{ID: "broken", Path: file("broken"), Size: 1},
		{ID: "grown", Path: file("grown"), Size: 7},
	}
	read := map[string]int64{"read": 6, "grown": 6}
	for _, tt := range []struct {
		name, session, segment string
		running                bool
		want                   []transcript.SubagentFile
	}{
		{name: "the turn calls one", session: "s.jsonl", segment: `{"type":"tool_use","name":"Agent"}`, want: all},
		{name: "one still runs", session: "s.jsonl", segment: `{"type":"user"}`, running: true, want: all},
		{name: "it has to do with none", session: "s.jsonl", segment: `{"type":"user"}`},
		{name: "none was started", session: "without.jsonl", segment: `{"type":"tool_use","name":"Agent"}`},
		{name: "it is no session's file", session: "s", segment: `{"type":"tool_use","name":"Agent"}`, running: true},
	} {
		got, err := Sides(filepath.Join(dir, tt.session), []byte(tt.segment), read, tt.running)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestTellsOfSide(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want bool
	}{
		{``, false},
		{`{"type":"user","message":{"content":"ask an Agent, or a Task"}}`, false},
		{`{"type":"tool_use","name":"TaskUpdate"}`, false},
		{`{"type":"tool_use","name":"Bash"}`, false},
		{`{"type":"tool_use","name":"Agent"}`, true},
		{`{"type":"tool_use","name":"Task"}`, true}, // of older clients
		{`{"toolUseResult":{"agentId":"a1"}}`, true},
		{`{"type":"user","message":{"content":"<task-notification>\n<task-id>a1</task-id>"}}`, true},
	} {
		for _, segment := range []string{tt.line, `{"type":"user"}` + "\n" + tt.line + "\n" + strings.Repeat(`{"type":"assistant"}`+"\n", 3)} {
			if got := tellsOfSide([]byte(segment)); got != tt.want {
				t.Errorf("%s: %t, want %t", segment, got, tt.want)
			}
		}
	}
}

// TestSidesLinked: a symbolic link in the place of a session's directory, of that of its sub-agents or of a file in it is
// not followed, and told.
func TestSidesLinked(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"s", "s/subagents", "s/subagents/agent-a1.jsonl", "s/subagents/agent-a1.meta.json"} {
		dir, other := t.TempDir(), t.TempDir()
		write(t, filepath.Join(dir, "s", "subagents", "agent-a1.jsonl"), "12345")
		write(t, filepath.Join(dir, "s", "subagents", "agent-a1.meta.json"), `{"agentType":"Explore"}`)
		path := filepath.Join(dir, filepath.FromSlash(place))
		moved := filepath.Join(other, "moved")
		if err := os.Rename(path, moved); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(moved, path); err != nil {
			t.Skip(err)
		}
		got, err := Sides(filepath.Join(dir, "s.jsonl"), []byte(`"agentId"`), nil, false)
		want := 0
		if strings.HasSuffix(place, ".meta.json") { // of which nothing is believed
			want = 1
		}
		if len(got) != want || want == 1 && got[0].Type != "" {
			t.Errorf("a link in the place of %s: %+v", place, got)
		}
		if (err == nil) == (want == 0) || err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("a link in the place of %s: %v", place, err)
		}
	}
}
