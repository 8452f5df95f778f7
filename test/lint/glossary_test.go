//go:build lint

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// glossary returns the words of CONTRIBUTING.md with the directories in which
// a type may have that name, or which may.
func glossary(t *testing.T, text string) map[string][]string {
	t.Helper()
	_, table, found := strings.Cut(text, "\n## Words\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no section Words")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	words := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z]+) \| .* \| (.*) \|$`).FindAllStringSubmatch(table, -1) {
		if m[1] == "word" {
			continue
		}
		words[m[1]] = []string{}
		for _, dir := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[2], -1) {
			words[m[1]] = append(words[m[1]], dir[1])
		}
	}
	return words
}

// second returns the type or package in a file, by its path from the top, that
// gives a word of the glossary a second meaning.
func second(words map[string][]string, path string, f *ast.File) string {
	dir := filepath.ToSlash(filepath.Dir(path))
	check := func(name string) bool {
		homes, ok := words[strings.ToLower(name)]
		return ok && !slices.Contains(homes, dir)
	}
	if check(f.Name.Name) {
		return "package " + f.Name.Name
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if t, ok := s.(*ast.TypeSpec); ok && check(t.Name.Name) {
					return "type " + t.Name.Name
				}
			}
		}
	}
	return ""
}

// TestOneMeaning: a word of the glossary is the name of one type or package.
func TestOneMeaning(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	words := glossary(t, string(text))
	if len(words) != 35 {
		t.Errorf("the glossary has %d words, not 35", len(words))
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for word, homes := range words {
		for _, dir := range homes {
			if _, err := os.Stat(filepath.Join(top, dir)); err != nil {
				t.Errorf("%s is at home in a directory that is not there: %v", word, err)
			}
		}
	}
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "test" || d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if s := second(words, path, f); s != "" {
			t.Errorf("%s: %s is a second meaning of a word in CONTRIBUTING.md", path, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSecond(t *testing.T) {
	words := map[string][]string{"turn": {"turns"}, "untrusted": {}}
	for src, want := range map[string]string{
		"package turns\ntype Turn struct{}":    "",
		"package turns\ntype untrusted string": "type untrusted",
		"package other\ntype turn struct{}":    "type turn",
		"package turn":                         "package turn",
		"package other\ntype turning struct{}": "",
		"package other\nfunc turn() {}":        "",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		path := "other/x.go"
		if strings.HasPrefix(src, "package turns") {
			path = "turns/x.go"
		}
		if got := second(words, path, f); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}
