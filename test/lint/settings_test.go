//go:build lint

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// settingsFile has the table of what our gits don't take from the user.
const settingsFile = "internal/git/settings.go"

// setAlone may set what depends on the call, or is for another program than git.
var setAlone = map[string]string{
	"internal/recorder/shell.go":       "reads a command of the agent's, and runs none",
	"internal/evidence/commands.go":    "reads a command of the agent's, and runs none",
	"internal/evidence/wrappers.go":    "reads a command of the agent's, and runs none",
	"internal/agent/claude/command.go": "claude's own option",
	"internal/agent/qwen/command.go":   "qwen's own option",
	"internal/agent/codex/command.go":  "codex's own option",
	"internal/agent/codex/process.go":  "codex's own option",
	"internal/agent/pi/command.go":     "pi's own option",
	"internal/command/accept.go":       "a smaller limit than git.Wary's",
	"internal/fetcher/missing.go":      "a repository's transport, for another one",
	"internal/finisher/finish.go":      "as the user, but without advice about what we do",
	"internal/finisher/squash.go":      "as the user, but without advice about what we do",
	"internal/git/handover_unix.go":    "for root in another user's repository alone",
	"internal/git/objects.go":          "memory of a process that stays",
	"internal/git/options.go":          "what an Option is about",
	"internal/git/promised.go":         "nothing is to be negotiated",
	"internal/objectpurge/pack.go":     "as the pack that is replaced",
	"internal/objectpurge/search.go":   "a limit of its own",
	"internal/remote/remote.go":        "what this call reaches",
	"internal/remote/transport.go":     "settings of one remote",
	"internal/snapshot/add.go":         "an index that becomes the user's",
	"internal/snapshot/take.go":        "what the configuration names",
	"internal/terminal/pager.go":       "lv's option",
	"internal/terminal/run.go":         "sh's option",
	"internal/terminal/window.go":      "sh's option",
}

// fixedKeys returns the keys of the table.
func fixedKeys(t *testing.T) (keys []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, filepath.FromSlash(settingsFile)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if row, ok := n.(*ast.CompositeLit); ok && row.Type == nil && len(row.Elts) == 4 {
			if lit, ok := row.Elts[0].(*ast.BasicLit); ok {
				key, err := strconv.Unquote(lit.Value)
				if err == nil {
					keys = append(keys, key)
				}
			}
		}
		return true
	})
	if len(keys) < 50 {
		t.Fatalf("%s has %d rows", settingsFile, len(keys))
	}
	return keys
}

// past returns how a text in a call of git goes past the table, or "".
func past(keys []string, text string) string {
	if text == "-c" || strings.HasPrefix(text, "--config-env") {
		return "sets a key"
	}
	if slices.ContainsFunc(keys, func(key string) bool {
		flag := strings.HasPrefix(key, "--")
		return flag && text == key && !slices.Contains([]string{"--porcelain", "--ignore-submodules=none"}, key) || // status has them, too
			!flag && len(text) > len(key) && strings.EqualFold(text[:len(key)+1], key+"=")
	}) {
		return "sets what the table fixes"
	}
	return ""
}

// TestSettings: what our gits don't take from the user is in one table.
func TestSettings(t *testing.T) {
	keys := fixedKeys(t)
	used := map[string]bool{}
	for _, dir := range []string{"cmd", "internal", "turns", "handoffstore", "gitnotes", "hooks"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, _ := filepath.Rel(top, path)
			name = filepath.ToSlash(name)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil || name == settingsFile {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				if how := past(keys, text); how != "" {
					if used[name] = true; setAlone[name] == "" {
						t.Errorf("%s: %q %s, past the table of %s", fset.Position(lit.Pos()), text, how, settingsFile)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range setAlone {
		if !used[name] {
			t.Errorf("%s sets nothing alone any more", name)
		}
	}
}

func TestPast(t *testing.T) {
	keys := []string{"core.hooksPath", "--no-ext-diff", "--porcelain"}
	for text, want := range map[string]bool{
		"-c": true, "--config-env=a=B": true, "core.hookspath=/": true, "--no-ext-diff": true,
		"--porcelain": false, "core.hooksPath": false, "core.hooksPathway=1": false, "diff": false,
	} {
		if got := past(keys, text); (got != "") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
