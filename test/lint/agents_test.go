package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// named matches what names an agent.
var named = regexp.MustCompile(`(?i)claude|codex|opencode|gemini|\bpi\b|copilot|qwen|\b(droid|kilo)\b`)

// mayName are the files outside of internal/agent that may name agents, and the form in which they may.
var mayName = map[string]struct {
	form *regexp.Regexp
	why  string
}{
	"internal/config/config.go": {models, "the windows of models whose names say whose they are"},
	"internal/config/file.go":   {models, "an example of one of these"},
	"internal/export/trace.go":  {models, "which maker a model's name shows"},
	"release/build.go":          {regexp.MustCompile(`"\.claude-plugin"`), "a folder of the tree that is in the archives"},
	"internal/trust/obeyed.go":  {regexp.MustCompile(`.`), "files of a repository that programs obey, and which programs: as long as they might be run there, recorded or not"},
}

// models matches the beginning of a model's name, in quotes.
var models = regexp.MustCompile(`"(claude|codex|gemini)-`)

// TestAgentsNamed: what belongs to one agent is in its folder. Elsewhere no code, and no comment, names one.
func TestAgentsNamed(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	read := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), top+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "test" || name == "internal/agent" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		read++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(content), "\n") {
			if found := namedIn(name, line); found != "" {
				t.Errorf("%s:%d names %q: what belongs to one agent goes to its folder in internal/agent", name, i+1, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 50 {
		t.Errorf("read only %d files", read)
	}
	for name := range mayName {
		content, err := os.ReadFile(filepath.Join(top, name))
		if err != nil || !named.Match(content) {
			t.Errorf("%s names no agent, and needs no exception", name)
		}
	}
}

// namedIn is what names an agent in a line of a file, and must not; "" if nothing does.
func namedIn(name, line string) string {
	if may, ok := mayName[name]; ok && may.form.MatchString(line) {
		return ""
	}
	return named.FindString(line)
}

func TestNamedIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line, want string }{
		{"turns/turn.go", `Agent string // "claude-code"`, "claude"},
		{"turns/turn.go", "// OpenCode has none", "OpenCode"},
		{"turns/turn.go", "// an agent", ""},
		{"internal/config/config.go", `"claude-opus-4-5*":   200_000,`, ""},
		{"internal/config/config.go", "// as Codex does", "Codex"},
		{"internal/trust/obeyed.go", `{"GEMINI.md", "Gemini CLI"},`, ""},
	} {
		if got := namedIn(tt.name, tt.line); got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.name, tt.line, got, tt.want)
		}
	}
}
