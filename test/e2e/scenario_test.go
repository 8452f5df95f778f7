//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A scenario says what the model answers. The header of
// testdata/mock-anthropic.mjs describes the format.
type scenario struct {
	Usage    map[string]int `json:"usage,omitempty"`
	Rules    []rule         `json:"rules"`
	Fallback reply          `json:"fallback"`
	Aside    reply          `json:"aside,omitempty"`
}

// A rule answers the prompts that match: step i answers the request with i
// assistant messages after the prompt, and the last step repeats.
type rule struct {
	Match string  `json:"match,omitempty"` // regular expression
	Steps []reply `json:"steps"`
}

// A reply is one answer of the model.
type reply map[string]any

// on makes a rule for prompts with a line that begins with a word.
func on(word string, steps ...reply) rule {
	return rule{Match: `(^|\n)` + word + `\b`, Steps: steps}
}

// say is a reply of text alone.
func say(text string) reply { return reply{"text": text} }

// talk is a reply whose first paragraph arrives at once, and the rest when the file exists.
func talk(first, rest, file string) reply {
	// The mock sends pieces of forty characters, and the client shows whole paragraphs.
	return reply{"text": first + "\n\n" + strings.Repeat("-", max(3, 38-len(first))) + "\n\n" + rest, "hold": file}
}

// bash is a reply that calls the Bash tool.
func bash(command string) reply {
	return reply{"tool": "Bash", "input": map[string]any{"command": command, "description": "run"}}
}

// behind is a reply that calls the Bash tool, and has the command go on in the background, if the client's tool can.
func behind(command string) reply {
	return reply{"tool": "Bash", "input": map[string]any{"command": command, "description": "run", "background": true}}
}

// write is a reply that calls the Write tool. The path is below the client's working directory.
func write(path, content string) reply {
	return reply{"tool": "Write", "input": map[string]any{"file_path": "${CWD}/" + path, "content": content}}
}

func readScenario(t testing.TB, name string) scenario {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	gittest.Must(t, err)
	var s scenario
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatalf("read testdata/%s: %v", name, err)
	}
	return s
}
