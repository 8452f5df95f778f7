// Package lint tests what no compiler and no linter knows about this repository:
// which package may import which, what may be linked into which program,
// what must not be written anywhere, and that no dependency makes every start slow.
package lint

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

const (
	module = "gitagent"
	top    = "../.." // of the repository
)

// layers lists the packages from the bottom up, as the map in CONTRIBUTING.md has them: a line each,
// indented, with a word about it; blank lines between the layers. A package may import those of the
// layers below its own; those beside it are none of its business.
func layers(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "This is the map.")
	list, _, _ = strings.Cut(list, "\nBelow `test/`")
	var found [][]string
	for group := range strings.SplitSeq(list, "\n\n") {
		var layer []string
		for line := range strings.Lines(group) {
			if pkg, about, ok := strings.Cut(strings.TrimPrefix(line, "    "), " "); ok && strings.HasPrefix(line, "    ") && strings.TrimSpace(about) != "" {
				layer = append(layer, pkg)
			}
		}
		if layer != nil {
			found = append(found, layer)
		}
	}
	slices.Reverse(found)
	return found
}

// forTests reports whether a package serves tests alone. It may import everything, and nothing but
// tests may import it.
func forTests(pkg string) bool { return strings.HasPrefix(pkg, "test/") }

// checkImports lists what is wrong with edges: packages, and what their files other than tests
// import. Packages of this module are named by their directories.
func checkImports(layers [][]string, edges map[string][]string) []string {
	layerOf := map[string]int{}
	for i, layer := range layers {
		for _, pkg := range layer {
			layerOf[pkg] = i
		}
	}
	var problems []string
	for _, pkg := range slices.Sorted(maps.Keys(edges)) {
		layer, known := layerOf[pkg]
		if forTests(pkg) {
			continue
		}
		if !known {
			problems = append(problems, fmt.Sprintf("%s is in no layer", pkg))
			continue
		}
		for _, imported := range edges[pkg] {
			below, inLayer := layerOf[imported]
			switch {
			case forTests(imported):
				problems = append(problems, fmt.Sprintf("%s imports %s, which is for tests", pkg, imported))
			case inLayer && below == layer:
				problems = append(problems, fmt.Sprintf("%s imports %s, its sibling", pkg, imported))
			case inLayer && below > layer:
				problems = append(problems, fmt.Sprintf("%s imports %s, which is above it", pkg, imported))
			case imported == "os/exec" && !slices.Contains([]string{"internal/git", "internal/terminal", "release"}, pkg):
				problems = append(problems, fmt.Sprintf("%s imports os/exec; git is run by internal/git", pkg))
			case imported == "github.com/go-git/go-git/v5":
				problems = append(problems, fmt.Sprintf("%s imports the root package of go-git, which is slow to start", pkg))
			}
		}
	}
	return problems
}

// slow lists packages that cost every start of every program: with what they bring along, from 0.1
// ms (go-humanize) to a millisecond (OpenPGP).
func slow() []string {
	return []string{
		"encoding/gob",
		"github.com/ProtonMail/go-crypto/openpgp",
		"github.com/dustin/go-humanize",
		"github.com/go-git/gcfg",
		"github.com/go-git/go-git/v5/config",
		"github.com/go-git/go-git/v5/plumbing/object",
		"github.com/go-git/go-git/v5/storage/filesystem",
		"testing",
	}
}

// checkLinked lists what is wrong with what is linked into a program.
func checkLinked(program string, deps []string) []string {
	var problems []string
	for _, dep := range deps {
		wrong := dep == "github.com/go-git/go-git/v5" ||
			dep == "github.com/ktr0731/go-fuzzyfinder" && program != "git-agent-fork" ||
			dep == "net/http" && program == "git-agent-turn" ||
			slices.Contains(slow(), dep)
		if wrong {
			problems = append(problems, fmt.Sprintf("%s is linked into %s", dep, program))
		}
	}
	return problems
}

func TestImports(t *testing.T) {
	t.Parallel()
	edges := parseImports(t)
	if len(edges["cmd/git-agent-handoff"]) == 0 {
		t.Fatalf("found no imports of git-agent-handoff in %q", edges)
	}
	for _, problem := range checkImports(layers(t), edges) {
		t.Error(problem)
	}
	for _, pkg := range slices.Concat(layers(t)...) {
		if _, ok := edges[pkg]; !ok {
			t.Errorf("the map in CONTRIBUTING.md has %s, and the tree has not", pkg)
		}
	}
}

// parseImports reads every file of the repository, for whatever platform and with whatever tags.
func parseImports(t *testing.T) map[string][]string {
	t.Helper()
	edges := map[string][]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		rel, err := filepath.Rel(top, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		edges[pkg] = slices.Clip(edges[pkg]) // a package of tests alone is one, too
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imported = strings.TrimPrefix(imported, module+"/")
			if !slices.Contains(edges[pkg], imported) {
				edges[pkg] = append(edges[pkg], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return edges
}

// TestLinked asks the go command what each program consists of on each platform.
func TestLinked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, program := range []string{"git-agent-fork", "git-agent-handoff", "git-agent-turn"} {
			cmd := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs", "./cmd/"+program)
			cmd.Dir = top
			cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("go list -deps %s: %v", program, err)
				continue
			}
			deps := strings.Fields(string(out))
			if !slices.Contains(deps, module+"/internal/cmdline") {
				t.Errorf("%s does not depend on internal/cmdline; is this its list? %q", program, deps)
			}
			for _, problem := range checkLinked(program, deps) {
				t.Errorf("%s: %s", goos, problem)
			}
		}
	}
}

// TestRules breaks every rule once.
func TestRules(t *testing.T) {
	t.Parallel()
	good := map[string][]string{
		"internal/suggest":      {"strings"},
		"internal/cmdline":      {"internal/suggest", "github.com/urfave/cli/v2"},
		"internal/config":       {"internal/suggest"},
		"internal/redact":       nil,
		"internal/git":          {"os/exec", "internal/redact", "github.com/go-git/go-git/v5/plumbing"},
		"internal/terminal":     {"os/exec"},
		"internal/ledger":       {"internal/git"},
		"internal/snapshot":     {"internal/git", "internal/config"},
		"gitnotes":              {"internal/git/object"},
		"turns":                 {"gitnotes", "internal/ledger", "internal/git", "internal/redact"},
		"hooks":                 {"internal/config"},
		"handoffstore":          {"internal/terminal", "turns"},
		"cmd/git-agent-turn":    {"turns", "hooks", "internal/cmdline", "internal/git"},
		"test/gittest":          {"os/exec", "testing"},
		"test/e2e":              {"os/exec", "test/gittest"},
		"test/lint":             nil,
		"test/install":          nil,
		"cmd/git-agent-fork":    {"github.com/ktr0731/go-fuzzyfinder"},
		"internal/transcript":   nil,
		"internal/contextmeter": {"internal/config"},
		"internal/session":      nil,
		"cmd/git-agent-handoff": {"internal/cmdline"},
		"release":               {"os/exec"},
	}
	if problems := checkImports(layers(t), good); problems != nil {
		t.Errorf("what is right is reported: %q", problems)
	}
	for _, tt := range []struct{ pkg, imported, want string }{
		{"hooks", "internal/session", "hooks imports internal/session, its sibling"},
		{"turns", "handoffstore", "turns imports handoffstore, which is above it"},
		{"gitnotes", "internal/ledger", "gitnotes imports internal/ledger, which is above it"},
		{"internal/config", "internal/cmdline", "internal/config imports internal/cmdline, its sibling"},
		{"cmd/git-agent-turn", "cmd/git-agent-fork", "cmd/git-agent-turn imports cmd/git-agent-fork, its sibling"},
		{"internal/git", "internal/ledger", "internal/git imports internal/ledger, which is above it"},
		{"internal/ledger", "turns", "internal/ledger imports turns, which is above it"},
		{"internal/redact", "internal/git", "internal/redact imports internal/git, which is above it"},
		{"turns", "cmd/git-agent-turn", "turns imports cmd/git-agent-turn, which is above it"},
		{"turns", "os/exec", "turns imports os/exec; git is run by internal/git"},
		{"cmd/git-agent-turn", "os/exec", "cmd/git-agent-turn imports os/exec; git is run by internal/git"},
		{"turns", "test/gittest", "turns imports test/gittest, which is for tests"},
		{"gitnotes", "github.com/go-git/go-git/v5", "gitnotes imports the root package of go-git, which is slow to start"},
		{"utils", "strings", "utils is in no layer"},
	} {
		bad := maps.Clone(good)
		bad[tt.pkg] = append(slices.Clone(bad[tt.pkg]), tt.imported)
		if got := checkImports(layers(t), bad); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s importing %s: got %q, want %q", tt.pkg, tt.imported, got, tt.want)
		}
	}

	deps := []string{"fmt", "github.com/go-git/go-git/v5/plumbing", "github.com/ktr0731/go-fuzzyfinder/matching"}
	if problems := checkLinked("git-agent-turn", deps); problems != nil {
		t.Errorf("what is right is reported: %q", problems)
	}
	for _, tt := range []struct {
		program, dep string
		wrong        bool
	}{
		{"git-agent-turn", "net/http", true},
		{"git-agent-handoff", "net/http", false},
		{"git-agent-turn", "github.com/go-git/go-git/v5", true},
		{"git-agent-fork", "github.com/go-git/go-git/v5", true},
		{"git-agent-turn", "github.com/ktr0731/go-fuzzyfinder", true},
		{"git-agent-handoff", "github.com/ktr0731/go-fuzzyfinder", true},
		{"git-agent-fork", "github.com/ktr0731/go-fuzzyfinder", false},
		{"git-agent-turn", "testing", true},
		{"git-agent-turn", "encoding/gob", true},
		{"git-agent-handoff", "github.com/ProtonMail/go-crypto/openpgp", true},
		{"git-agent-fork", "github.com/go-git/go-git/v5/plumbing/object", true},
		{"git-agent-fork", "github.com/go-git/go-git/v5/storage/filesystem", true},
	} {
		if got := checkLinked(tt.program, append(slices.Clone(deps), tt.dep)); (got != nil) != tt.wrong {
			t.Errorf("%s linked into %s: got %q", tt.dep, tt.program, got)
		}
	}
}
