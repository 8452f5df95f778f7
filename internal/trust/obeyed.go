package trust

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// obeyed are the files that are run or obeyed as soon as an agent's client, an
// editor or a shell is started in a worktree, or git is used there. Files for
// builds and tests (Makefile, package.json) are the work itself. A directory
// ends in a slash and stands for its content, or a link in its place. All match
// at any depth, as clients also read files in subdirectories.
var obeyed = []struct{ pattern, by string }{
	// Agents' clients: settings, hooks, servers of tools, instructions.
	{".claude/", "Claude Code"},
	{".claude-plugin/", "Claude Code"},
	{".mcp.json", "Claude Code"},
	{"CLAUDE.md", "Claude Code"},
	{"CLAUDE.local.md", "Claude Code"},
	{".worktreeinclude", "Claude Code"},
	{".codex/", "Codex"},
	{"AGENTS.md", "agents"},
	{"AGENTS.override.md", "Codex"},
	{"AGENT.md", "agents"},
	{".agents/", "agents"},
	{".agent/", "agents"},
	{".gemini/", "Gemini CLI"},
	{"GEMINI.md", "Gemini CLI"},
	{".qwen/", "Qwen Code"},
	{"QWEN.md", "Qwen Code"},
	{".opencode/", "opencode"},
	{".opencode.json", "opencode"},
	{"opencode.json", "opencode"},
	{"opencode.jsonc", "opencode"},
	{".crush/", "Crush"},
	{".crush.json", "Crush"},
	{"crush.json", "Crush"},
	{"CRUSH.md", "Crush"},
	{".cursor/", "Cursor"},
	{".cursorrules", "Cursor"},
	{".windsurf/", "Windsurf"},
	{".windsurfrules", "Windsurf"},
	{".clinerules/", "Cline"}, // a file, or a directory
	{".cline/", "Cline"},
	{".roo/", "Roo Code"},
	{".roomodes", "Roo Code"},
	{".roorules*", "Roo Code"},
	{".kilocode/", "Kilo Code"},
	{".kilocodemodes", "Kilo Code"},
	{".kilocoderules", "Kilo Code"},
	{".kilocodeignore", "Kilo Code"},
	{"kilo.json", "Kilo Code"},
	{"kilo.jsonc", "Kilo Code"},
	{".kilo/", "Kilo Code"},
	{".continue/", "Continue"},
	{".continuerules", "Continue"},
	{".aider*", "aider"},
	{".goosehints", "goose"},
	{".goose/", "goose"},
	{".amazonq/", "Amazon Q"},
	{".kiro/", "Kiro"},
	{".augment/", "Augment"},
	{".augment-guidelines", "Augment"},
	{".factory/", "Droid"},
	{".openhands/", "OpenHands"},
	{".openhands_instructions", "OpenHands"},
	{".junie/", "Junie"},
	{".aiassistant/", "JetBrains"},
	{".trae/", "Trae"},
	{".qoder/", "Qoder"},
	{".amp/", "Amp"},
	{".pi/", "pi"},
	{".vibe/", "Vibe"},
	{".grok/", "Grok"},
	{".warp/", "Warp"},
	{"WARP.md", "Warp"},
	{".rules", "Zed"},
	{".github/copilot-instructions.md", "Copilot"},
	{".github/copilot/", "Copilot"},
	{".github/instructions/", "Copilot"},
	{".github/prompts/", "Copilot"},
	{".github/chatmodes/", "Copilot"},
	{".github/agents/", "Copilot"},
	{".github/skills/", "Copilot"},
	{".github/hooks/", "Copilot"},
	{".copilot/", "Copilot"},
	{".git-agent.toml", "git-agent"},

	// Editors: tasks, debuggers, settings that name programs.
	{".vscode/", "VS Code"},
	{"*.code-workspace", "VS Code"},
	{".idea/", "JetBrains"},
	{".fleet/", "JetBrains"},
	{".vs/", "Visual Studio"},
	{".zed/", "Zed"},
	{".dir-locals.el", "Emacs"},
	{".dir-locals-2.el", "Emacs"},
	{".exrc", "vim"},
	{".vimrc", "vim"},
	{".nvimrc", "Neovim"},
	{".nvim.lua", "Neovim"},
	{".devcontainer/", "dev containers"},
	{".devcontainer.json", "dev containers"},

	// Shells and tool managers, on entering the directory. Runtimes of clients
	// and of tool servers: npx runs what is in node_modules first.
	{".env", "runtimes"},
	{".env.*", "runtimes"},
	{".envrc", "direnv"},
	{".direnv/", "direnv"},
	{".autoenv*", "autoenv"},
	{".tool-versions", "mise, asdf"},
	{"mise.toml", "mise"},
	{"mise.*.toml", "mise"},
	{".mise.toml", "mise"},
	{".mise.*.toml", "mise"},
	{"mise/", "mise"},
	{".mise/", "mise"},
	{".rtx.toml", "mise"},
	{".config/mise.toml", "mise"},
	{".config/mise.*.toml", "mise"},
	{"bunfig.toml", "Bun"},
	{".npmrc", "npm"},
	{".pnpmfile.cjs", "pnpm"},
	{".pnpmfile.mjs", "pnpm"},
	{".yarnrc", "Yarn"},
	{".yarnrc.yml", "Yarn"},
	{".yarn/", "Yarn"},
	{".pnp.*", "Yarn"},
	{"node_modules/", "Node.js"},

	// Git, and what manages its hooks.
	{".gitattributes", "git"},
	{".gitmodules", "git"},
	{".gitconfig", "git"}, // where include.path names it
	{".lfsconfig", "git-lfs"},
	{"HEAD", "git"}, // a bare repository: git used in that directory obeys its config
	{".githooks/", "git"},
	{".git-hooks/", "git"},
	{".git_hooks/", "git"},
	{".hooks/", "git"},
	{".husky/", "husky"},
	{".huskyrc*", "husky"},
	{".pre-commit-config.yaml", "pre-commit"},
	{".pre-commit-config.yml", "pre-commit"},
	{"prek.toml", "prek"},
	{"lefthook.*", "lefthook"},
	{"lefthook-local.*", "lefthook"},
	{".lefthook.*", "lefthook"},
	{".lefthook-local.*", "lefthook"},
	{".lefthook/", "lefthook"},
	{".lefthook-local/", "lefthook"},
	{".config/lefthook*", "lefthook"},
	{".overcommit.yml", "overcommit"},
	{"captainhook.json", "CaptainHook"},
	{".simple-git-hooks.*", "simple-git-hooks"},
	{".lintstagedrc*", "lint-staged"},
}

// ObeyedBy returns the program that runs or obeys a tree's file, or "". also
// are more obeyed paths from the top: core.hooksPath, and the targets of links
// with obeyed names. Comparison follows the most lenient file system, as the
// worktree may be moved to one.
func ObeyedBy(file string, also ...string) string {
	names := folded(file)
	for _, dir := range also {
		if dir == "" {
			continue
		}
		if dir = path.Clean(strings.ReplaceAll(dir, `\`, "/")); dir == "." {
			return "this repository"
		}
		if wants := folded(dir); len(wants) <= len(names) && slices.Equal(wants, names[:len(wants)]) {
			return "this repository"
		}
	}
	for i, name := range names {
		for _, o := range obeyed {
			if matches(o.pattern, names[i:]) {
				return o.by
			}
		}
		if isShort(name) {
			return "Windows, as a short name"
		}
	}
	return ""
}

// matches reports whether names begin with a directory's pattern, or equal it.
func matches(pattern string, names []string) bool {
	pattern, dir := strings.CutSuffix(pattern, "/")
	for {
		first, rest, more := strings.Cut(pattern, "/")
		same := strings.EqualFold(first, names[0])
		if strings.Contains(first, "*") {
			same, _ = path.Match(strings.ToLower(first), names[0])
		}
		if !same {
			return false
		}
		if !more {
			return dir || len(names) == 1
		}
		if pattern, names = rest, names[1:]; len(names) == 0 {
			return false
		}
	}
}

// folded returns the names on a path, in a form that is equal for names that
// some file system takes for the same: no case (APFS, ext4, NTFS), no invisible
// code points (HFS+, ext4), no trailing dots, blanks or stream names (NTFS). It
// also splits at \, as Windows does.
func folded(file string) []string {
	names := strings.FieldsFunc(file, func(r rune) bool { return r == '/' || r == '\\' })
	for i, name := range names {
		name = ligatures.Replace(strings.Map(fold, name))
		name, _, _ = strings.Cut(name, ":")
		names[i] = strings.TrimRight(name, ". ")
	}
	return names
}

// fold returns one form for all cases of a letter, -1 for ignored code points.
// It is the ASCII one if there is one, as for the Kelvin sign and the long s.
func fold(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

// ligatures are the letters that fold to several of ASCII.
var ligatures = strings.NewReplacer("ß", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// isShort reports whether NTFS may take a name for a short name, such as
// claude~1 for .claude, or 4 digits of a hash and ~1.
func isShort(name string) bool {
	base, extension, _ := strings.Cut(name, ".")
	stem, number, numbered := strings.Cut(base, "~")
	return numbered && stem != "" && len(base) <= 8 && len(extension) <= 3 && number != "" && strings.Trim(number, "0123456789") == ""
}
