package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"maps"
	"slices"
)

// A counted thing is a file, a function or a line, with its figure.
type counted struct {
	what string
	n    int
}

// names prints how many different names that other files declare a file uses,
// and a function.
func (h *house) names(w io.Writer, top int) {
	var files, funcs []counted
	for _, f := range h.files {
		here := h.fset().Position(f.syntax.Pos()).Filename
		all := map[types.Object]bool{}
		for _, d := range f.syntax.Decls {
			own := map[types.Object]bool{}
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if o := h.ours(f.pkg.TypesInfo.Uses[id]); o != nil && h.at(o) != here {
						own[o] = true
					}
				}
				return true
			})
			maps.Copy(all, own)
			if fn, ok := d.(*ast.FuncDecl); ok {
				funcs = append(funcs, counted{f.path + ":" + fn.Name.Name, len(own)})
			}
		}
		files = append(files, counted{f.path, len(all)})
	}
	show(w, "names a file", files, top)
	show(w, "names a function", funcs, top)
}

// show prints the median, the 90th and 99th percentile, the maximum, and the
// largest things by name.
func show(w io.Writer, title string, list []counted, top int) {
	slices.SortStableFunc(list, func(a, b counted) int { return cmp.Compare(a.n, b.n) })
	at := func(p int) int { return list[min(len(list)-1, len(list)*p/100)].n }
	fmt.Fprintf(w, "%-28s of %d: median %d, p90 %d, p99 %d, most %d\n", title, len(list), at(50), at(90), at(99), list[len(list)-1].n)
	for i := range min(top, len(list)) {
		c := list[len(list)-1-i]
		fmt.Fprintf(w, "    %5d %s\n", c.n, c.what)
	}
}
