package hints

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

const top = "../.."

// A text is a string in the source that names a command of ours, or gives a hint.
type text struct {
	at     string // file and line
	format string // with a verb for what is not constant
	help   bool   // it describes a command or a flag
}

// names reports whether a command of ours is in the text.
func (x text) names() bool { return named.MatchString(x.format) }

// texts returns the strings of the programs that name commands, and all hints.
func texts(t *testing.T) []text {
	t.Helper()
	var list []text
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "test" || d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		list = append(list, textsOf(files, file)...)
		return nil
	})
	gittest.Must(t, err)
	if len(list) < 50 {
		t.Fatalf("only %d texts name a command", len(list))
	}
	return list
}

func textsOf(files *token.FileSet, file *ast.File) []text {
	var list []text
	help, hint := false, false
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			switch {
			case key == nil:
			case key.Name == "UsageText":
				return false
			case key.Name == "Usage" || key.Name == "Description":
				help = true
				ast.Inspect(n.Value, visit)
				help = false
				return false
			}
		case *ast.CallExpr:
			if name := called(n); !hint && (name == "Hint" || name == "Hintf") {
				hint = true
				for _, arg := range n.Args {
					ast.Inspect(arg, visit)
				}
				hint = false
				return false
			}
		case ast.Expr:
			if format, ok := formatOf(n); ok {
				if hint || named.MatchString(format) {
					at := files.Position(n.Pos())
					list = append(list, text{fmt.Sprintf("%s:%d", strings.TrimPrefix(at.Filename, top+"/"), at.Line), format, help})
				}
				return false
			}
		}
		return true
	}
	ast.Inspect(file, visit)
	return list
}

// called is the name of the function that is called, without its package.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

var named = regexp.MustCompile(`git agent-(turn|handoff|fork)\b`)

// formatOf returns a string constant, or a sum with such constants in it.
func formatOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		x, isX := formatOf(e.X)
		y, isY := formatOf(e.Y)
		if e.Op != token.ADD || !isX && !isY {
			return "", false
		}
		return cmp.Or(x, "%s") + cmp.Or(y, "%s"), true
	}
	return "", false
}

// A command is what a text names: "git agent-turn", "list", "--mission", "%s".
type command []string

// commands returns the commands in a text, each up to where prose goes on.
func commands(format string) []command {
	var list []command
	for _, at := range named.FindAllStringIndex(format, -1) {
		rest := format[at[1]:]
		if end := strings.IndexAny(rest, ";,:`()\n'\""); end >= 0 {
			rest = rest[:end]
		}
		list = append(list, append(command{format[at[0]:at[1]]}, strings.Fields(strings.Trim(rest, "."))...))
	}
	return list
}

var verb = regexp.MustCompile(`%(\[\d+\])?[-+#]?[\d.]*[a-zA-Z]`)

// matches returns what a text looks like when it is printed.
func (x text) matches() *regexp.Regexp {
	parts := verb.Split(x.format, -1)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(strings.ReplaceAll(part, "%%", "%"))
	}
	return regexp.MustCompile(`(?s)` + strings.Join(parts, `.*?`))
}

func TestCommandsInTexts(t *testing.T) {
	gittest.Check(t)
	for _, tt := range []struct {
		format string
		want   []string
	}{
		{"list them with: git agent-turn list --all", []string{"git agent-turn|list|--all"}},
		{"name it: git agent-fork <turn>, <mission>/<turn> or latest", []string{"git agent-fork|<turn>"}},
		{"(git agent-turn doctor tells more)", []string{"git agent-turn|doctor|tells|more"}},
		{"`git agent-handoff prime %s`; git agent-turn show.", []string{"git agent-handoff|prime|%s", "git agent-turn|show"}},
	} {
		var got []string
		for _, c := range commands(tt.format) {
			got = append(got, strings.Join(c, "|"))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q names %q, want %q", tt.format, got, tt.want)
		}
	}
}
