package main

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A house is the product's code: all packages but those below test/.
type house struct {
	pkgs  []*packages.Package
	files []*file
}

type file struct {
	pkg    *packages.Package
	syntax *ast.File
	path   string // from the module's root
	lines  []string
}

// load reads the packages that match patterns in the module of a directory,
// as they are compiled here.
func load(dir string, patterns ...string) (*house, error) {
	conf := &packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
		packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax |
		packages.NeedModule}
	pkgs, err := packages.Load(conf, patterns...)
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return nil, errors.New("the code does not compile")
	}
	h := &house{}
	for _, p := range pkgs {
		if p.Module == nil || strings.HasPrefix(p.PkgPath, p.Module.Path+"/test") {
			continue
		}
		h.pkgs = append(h.pkgs, p)
		for i, f := range p.Syntax {
			name := p.CompiledGoFiles[i]
			content, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			path, err := filepath.Rel(p.Module.Dir, name)
			if err != nil {
				return nil, err
			}
			h.files = append(h.files, &file{pkg: p, syntax: f, path: path, lines: strings.Split(string(content), "\n")})
		}
	}
	return h, nil
}

// ours returns an object if it is declared in the house where others can name
// it: a type, function, method, field, constant or variable of a package. Of
// an instance of a generic type it returns the member of that type.
func (h *house) ours(o types.Object) types.Object {
	if o == nil || o.Pkg() == nil || !h.module(o.Pkg().Path()) {
		return nil
	}
	switch x := o.(type) {
	case *types.TypeName:
		if _, ok := x.Type().(*types.TypeParam); ok || x.Parent() != x.Pkg().Scope() {
			return nil
		}
		return x
	case *types.Func:
		return x.Origin()
	case *types.Var:
		if x.IsField() || x.Parent() == x.Pkg().Scope() {
			return x.Origin()
		}
	case *types.Const:
		if x.Parent() == x.Pkg().Scope() {
			return x
		}
	}
	return nil
}

func (h *house) module(path string) bool {
	root := h.pkgs[0].Module.Path
	return path == root || strings.HasPrefix(path, root+"/")
}

func (h *house) fset() *token.FileSet { return h.pkgs[0].Fset }

func (h *house) at(o types.Object) string { return h.fset().Position(o.Pos()).Filename }
