package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"strings"

	"golang.org/x/tools/go/packages"
)

// sizes prints how long, wide and high the house is.
func (h *house) sizes(w io.Writer, top int) {
	var lines, wide int
	var files, funcs, comments, methods, rooms []counted
	perPkg := map[string]int{}
	for _, f := range h.files {
		n := len(f.lines) - 1
		lines += n
		perPkg[f.pkg.PkgPath] += n
		files = append(files, counted{f.path, n})
		for i, l := range f.lines {
			width := len([]rune(strings.ReplaceAll(l, "\t", "    ")))
			if width > 120 {
				wide++
			}
			if strings.HasPrefix(strings.TrimSpace(l), "//") && !strings.HasPrefix(strings.TrimSpace(l), "//go:") {
				comments = append(comments, counted{fmt.Sprintf("%s:%d", f.path, i+1), width})
			}
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				start, end := h.fset().Position(fn.Pos()), h.fset().Position(fn.End())
				funcs = append(funcs, counted{f.path + ":" + fn.Name.Name, end.Line - start.Line + 1})
			}
		}
	}
	for _, p := range h.pkgs {
		rooms = append(rooms, counted{p.PkgPath, perPkg[p.PkgPath]})
		for _, name := range p.Types.Scope().Names() {
			t, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || t.IsAlias() {
				continue
			}
			if named, ok := t.Type().(*types.Named); ok {
				methods = append(methods, counted{p.PkgPath + "." + name, named.NumMethods()})
			}
		}
	}
	fmt.Fprintf(w, "%-28s %d, over 120 columns %d\n", "lines", lines, wide)
	fmt.Fprintf(w, "%-28s %d, on %d floors\n", "packages", len(h.pkgs), h.floors())
	exported, documented := h.documented()
	fmt.Fprintf(w, "%-28s %d, documented %.1f %%\n", "exported", exported, 100*float64(documented)/float64(exported))
	show(w, "lines a package", rooms, top)
	show(w, "lines a file", files, top)
	show(w, "lines a function", funcs, top)
	show(w, "columns a comment's line", comments, top)
	show(w, "methods a type", methods, top)
}

// floors returns how many packages stand on each other: one that imports none
// of ours is on the first.
func (h *house) floors() int {
	floor := map[*packages.Package]int{}
	var of func(p *packages.Package) int
	of = func(p *packages.Package) int {
		if n, ok := floor[p]; ok {
			return n
		}
		n := 1
		for _, i := range p.Imports {
			if h.module(i.PkgPath) {
				n = max(n, of(i)+1)
			}
		}
		floor[p] = n
		return n
	}
	most := 0
	for _, p := range h.pkgs {
		most = max(most, of(p))
	}
	return most
}

// documented counts what is exported, methods included, and how much of it has
// a comment.
func (h *house) documented() (exported, with int) {
	count := func(name *ast.Ident, doc ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		exported++
		for _, d := range doc {
			if d != nil {
				with++
				return
			}
		}
	}
	for _, f := range h.files {
		for _, d := range f.syntax.Decls {
			switch x := d.(type) {
			case *ast.FuncDecl:
				count(x.Name, x.Doc)
			case *ast.GenDecl:
				for _, s := range x.Specs {
					switch y := s.(type) {
					case *ast.TypeSpec:
						count(y.Name, x.Doc, y.Doc)
					case *ast.ValueSpec:
						for _, n := range y.Names {
							count(n, x.Doc, y.Doc, y.Comment)
						}
					}
				}
			}
		}
	}
	return exported, with
}
