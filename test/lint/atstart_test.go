package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestCompiledAtStart: no package of a program compiles a regular expression when it is initialized. Every
// hook would pay for it, and one with a large repetition takes longer than all the rest of a start.
func TestCompiledAtStart(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	read := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), top+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "test"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		read++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range compiledAtStart(file) {
			t.Errorf("%s:%d compiles a regular expression at every start", name, files.Position(at).Line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 50 {
		t.Errorf("read only %d files", read)
	}
}

// compiledAtStart returns where the declarations of a file, outside of functions, compile expressions.
func compiledAtStart(file *ast.File) []token.Pos {
	var found []token.Pos
	for _, decl := range file.Decls {
		values, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		ast.Inspect(values, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // it runs when it is called
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile") {
					found = append(found, n.Pos())
				}
			}
			return true
		})
	}
	return found
}

func TestCompiledAtStartFinds(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"var a = regexp.MustCompile(`a`)":                                                  1,
		"var (\n b = 1\n c = []*regexp.Regexp{regexp.MustCompilePOSIX(`a`)}\n)":            1,
		"var d = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`a`) })": 0,
		"func e() { _ = regexp.MustCompile(`a`) }":                                         0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(compiledAtStart(file)); got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
}
