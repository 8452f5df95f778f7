package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"path"
	"slices"
)

// A start is a parameter of a function, with which a walk begins.
type start struct{ name, pkg, function, param string }

// starts are the commands with the longest ways.
var starts = []start{
	{"stop", "internal/hook", "stop", "h"},
	{"prime", "internal/hook", "start", "h"},
	{"fork", "internal/missionstore", "Fork", "w"},
	{"purge", "internal/purge", "Plan.Execute", "p"},
}

// summary prints how often a walk came to a file, and how often back to one.
func (t *trip) summary(w io.Writer) {
	fmt.Fprintf(w, "%-28s stays %d, files %d, returns %d, functions %d\n", "walk of a "+t.name,
		len(t.stays), len(t.entered), len(t.stays)-len(t.entered), len(t.done))
}

// A trip is a walk: the way of one value to the functions that are called with
// it, with a part of it or with what was made from it, as an argument. Each
// function is entered once, in the order of the code.
type trip struct {
	start
	h     *house
	decls map[types.Object]*decl
	done  map[*decl]bool
	// stays are the files in the order in which the value came to them, with
	// those to which it came back; entered has each once.
	stays   []string
	entered map[string]bool
}

type decl struct {
	file *file
	fn   *ast.FuncDecl
}

func (h *house) walk(k start) (*trip, error) {
	t := &trip{start: k, h: h, decls: map[types.Object]*decl{}, done: map[*decl]bool{}, entered: map[string]bool{}}
	var first *decl
	for _, f := range h.files {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			o := &decl{f, fn}
			t.decls[f.pkg.TypesInfo.Defs[fn.Name]] = o
			if f.pkg.PkgPath == path.Join(f.pkg.Module.Path, k.pkg) && nameOf(fn) == k.function {
				first = o
			}
		}
	}
	if first == nil {
		return nil, fmt.Errorf("walk of a %s: there is no %s in %s", k.name, k.function, k.pkg)
	}
	for _, p := range first.params() {
		if p.Name() == k.param {
			t.enter(first, map[types.Object]bool{p: true})
			return t, nil
		}
	}
	return nil, fmt.Errorf("walk of a %s: %s has no parameter %s", k.name, k.function, k.param)
}

// nameOf returns a function's name, of a method with its type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if i, ok := t.(*ast.IndexExpr); ok {
		t = i.X
	}
	return t.(*ast.Ident).Name + "." + fn.Name.Name
}

// params returns the receiver and the parameters.
func (d *decl) params() []types.Object {
	var list []types.Object
	add := func(fields *ast.FieldList) {
		if fields == nil {
			return
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				list = append(list, d.file.pkg.TypesInfo.Defs[n])
			}
		}
	}
	add(d.fn.Recv)
	add(d.fn.Type.Params)
	return list
}

// enter follows the value, which these objects hold at first, through a
// function.
func (t *trip) enter(d *decl, known map[types.Object]bool) {
	if t.done[d] {
		return
	}
	t.done[d] = true
	t.stay(d.file.path)
	info := d.file.pkg.TypesInfo
	var carries func(n ast.Node) bool
	carries = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Ident:
			return known[info.Uses[x]]
		case *ast.SelectorExpr:
			return info.Selections[x] != nil && carries(x.X)
		case *ast.StarExpr:
			return carries(x.X)
		case *ast.UnaryExpr:
			return carries(x.X)
		case *ast.ParenExpr:
			return carries(x.X)
		case *ast.IndexExpr:
			return carries(x.X)
		case *ast.SliceExpr:
			return carries(x.X)
		case *ast.TypeAssertExpr:
			return carries(x.X)
		case *ast.KeyValueExpr:
			return carries(x.Value)
		case *ast.CallExpr:
			return slices.ContainsFunc(x.Args, func(e ast.Expr) bool { return carries(e) }) || carries(x.Fun)
		case *ast.BinaryExpr:
			return carries(x.X) || carries(x.Y)
		case *ast.CompositeLit:
			return slices.ContainsFunc(x.Elts, func(e ast.Expr) bool { return carries(e) })
		}
		return false
	}
	learn := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			for _, o := range []types.Object{info.Defs[id], info.Uses[id]} {
				if v, ok := o.(*types.Var); ok && !ignored(v.Type()) {
					known[v] = true
				}
			}
		}
	}
	var see func(n ast.Node) bool
	see = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			for _, a := range x.Args {
				ast.Inspect(a, see)
			}
			ast.Inspect(x.Fun, see)
			t.call(d, x, carries)
			return false
		case *ast.AssignStmt:
			for i, r := range x.Rhs {
				ast.Inspect(r, see)
				if !carries(r) {
					continue
				}
				for j, l := range x.Lhs {
					if len(x.Rhs) == 1 || i == j {
						learn(l)
					}
				}
			}
			return false
		case *ast.ValueSpec:
			for _, v := range x.Values {
				ast.Inspect(v, see)
				if carries(v) {
					for _, n := range x.Names {
						learn(n)
					}
				}
			}
			return false
		case *ast.RangeStmt:
			ast.Inspect(x.X, see)
			if carries(x.X) {
				if x.Key != nil && x.Tok == token.DEFINE {
					learn(x.Key)
				}
				if x.Value != nil {
					learn(x.Value)
				}
			}
			ast.Inspect(x.Body, see)
			return false
		}
		return true
	}
	ast.Inspect(d.fn.Body, see)
}

// ignored reports whether values of a type are not followed: they are no part
// of what came in.
func ignored(t types.Type) bool {
	switch t.String() {
	case "error", "context.Context", "bool", "int":
		return true
	}
	return false
}

func (t *trip) stay(name string) {
	if n := len(t.stays); n == 0 || t.stays[n-1] != name {
		t.stays = append(t.stays, name)
	}
	t.entered[name] = true
}

// call enters the function that is called if an argument has something of the
// value; a receiver alone does not count.
func (t *trip) call(from *decl, c *ast.CallExpr, carries func(ast.Node) bool) {
	info := from.file.pkg.TypesInfo
	fun := ast.Unparen(c.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	var name *ast.Ident
	var receiver ast.Expr
	switch x := fun.(type) {
	case *ast.Ident:
		name = x
	case *ast.SelectorExpr:
		name = x.Sel
		if info.Selections[x] != nil {
			receiver = x.X
		}
	default:
		return
	}
	d := t.decls[t.h.ours(info.Uses[name])]
	if d == nil {
		return
	}
	known := map[types.Object]bool{}
	params := d.params()
	args := c.Args
	if d.fn.Recv != nil && receiver != nil {
		args = append([]ast.Expr{receiver}, args...)
	}
	some := false
	for i, a := range args {
		if !carries(a) {
			continue
		}
		some = some || receiver == nil || i > 0
		if len(params) > 0 {
			known[params[min(i, len(params)-1)]] = true
		}
	}
	if some {
		t.enter(d, known)
	}
}
