package trust

import (
	"strings"
	"testing"
)

func TestObeyedBy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, want string }{
		{".claude/settings.json", "Claude Code"},
		{".claude", "Claude Code"}, // a link, or a submodule
		{"sub/dir/.claude/skills/x/SKILL.md", "Claude Code"},
		{"CLAUDE.md", "Claude Code"},
		{"docs/CLAUDE.md", "Claude Code"},
		{"AGENTS.override.md", "Codex"},
		{"opencode.jsonc", "opencode"},
		{"kilo.json", "Kilo Code"},
		{".clinerules", "Cline"},
		{".clinerules/a.md", "Cline"},
		{".aider.conf.yml", "aider"},
		{".github/copilot-instructions.md", "Copilot"},
		{".github/hooks/x.json", "Copilot"},
		{"x.code-workspace", "VS Code"},
		{".env", "runtimes"},
		{".env.local", "runtimes"},
		{".envrc", "direnv"},
		{"mise.local.toml", "mise"},
		{".config/mise/config.toml", "mise"},
		{"node_modules/.bin/server", "Node.js"},
		{"a/.gitattributes", "git"},
		{".gitmodules", "git"},
		{"evil/HEAD", "git"},
		{".githooks/post-checkout", "git"},
		{"lefthook.yml", "lefthook"},
		{".config/lefthook.toml", "lefthook"},
		{".git-agent.toml", "git-agent"},

		// Other names for the same file.
		{".CLAUDE/Settings.json", "Claude Code"},
		{"claude.MD", "Claude Code"},
		{".claude./settings.json", "Claude Code"},
		{".claude . ./settings.json", "Claude Code"},
		{"CLAUDE.md::$DATA", "Claude Code"},
		{".claude::$INDEX_ALLOCATION/settings.json", "Claude Code"},
		{`.claude\settings.json`, "Claude Code"},
		{".cl\u200caude/settings.json", "Claude Code"}, // git's list for HFS+
		{".cl\u200faude/x", "Claude Code"},
		{".\u202aclaude/x", "Claude Code"},
		{".claude\u206f/x", "Claude Code"},
		{"\ufeff.claude/x", "Claude Code"},
		{".cl\u00adaude/x", "Claude Code"}, // Unicode's, for ext4
		{".cl\ufe0faude/x", "Claude Code"},
		{".cl\u034faude/x", "Claude Code"},
		{".cl\U000e0061aude/x", "Claude Code"},
		{"\u200b.claude/x", "Claude Code"},
		{".claude.\u200d/x", "Claude Code"},
		{".hus\u212ay/pre-commit", "husky"}, // the sign for kelvin
		{".v\u017fcode/tasks.json", "VS Code"},
		{".pre-commit-con\ufb01g.yaml", "pre-commit"},
		{"CLAUDE~1/settings.json", "Windows, as a short name"},
		{"GITATT~1", "Windows, as a short name"},
		{"cl12ab~1.md", "Windows, as a short name"},
		{"a/MCPJSO~12.JS", ""}, // nine
		{"MCP~1.JSO", "Windows, as a short name"},

		{"main.go", ""},
		{"", ""},
		{"/", ""},
		{"claude/settings.json", ""},
		{"claude.md/x", ""},
		{"docs/claude.md.txt", ""},
		{"notes-AGENTS.md", ""},
		{"src/head/index.js", ""},
		{".github/workflows/ci.yml", ""}, // a host runs it
		{".github", ""},
		{".config", ""},
		{".config/other.toml", ""},
		{".gitignore", ""},
		{"file.txt.~1~", ""},
		{"~1", ""},
		{"backup~", ""},
		{"Makefile", ""},
		{"package.json", ""},
		{"\xff\xfe", ""},
	} {
		if got := ObeyedBy(tt.path); got != tt.want {
			t.Errorf("%q is obeyed by %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestObeyedByAlso(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, also string
		want       bool
	}{
		{"tools/hooks/pre-commit", "tools/hooks", true},
		{"tools/hooks", "tools/hooks", true},
		{"Tools/HOOKS/pre-commit", "./tools//hooks/", true},
		{"tools/hooks-old/x", "tools/hooks", false},
		{"a/tools/hooks/x", "tools/hooks", false},
		{"tools/x", "tools/hooks/..", true},
		{"docs/agents.md", "docs/agents.md", true},
		{"post-checkout", ".", true},
		{"post-checkout", "", false},
		{"x", "../hooks", false},
	} {
		if got := ObeyedBy(tt.path, tt.also) != ""; got != tt.want {
			t.Errorf("%q with %q: %t, want %t", tt.path, tt.also, got, tt.want)
		}
	}
}

// TestObeyedTable: every row matches what it names, at any depth.
func TestObeyedTable(t *testing.T) {
	t.Parallel()
	for _, o := range obeyed {
		name := strings.ReplaceAll(o.pattern, "*", "x")
		if strings.HasSuffix(name, "/") {
			name += "file"
		}
		for _, path := range []string{name, "sub/" + name, strings.ToUpper(name)} {
			if ObeyedBy(path) == "" {
				t.Errorf("nobody obeys %q", path)
			}
		}
	}
}
