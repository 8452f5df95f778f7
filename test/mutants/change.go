package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The kinds of changes.
const (
	negate   = "condition" // of an if or for, negated
	boundary = "boundary"  // < is <=, == is !=
	andOr    = "and-or"    // && is ||
	number   = "number"    // one more, for durations as well
	text     = "string"    // empty
	failure  = "error"     // if err != nil { return } is passed by
	call     = "call"      // left out
	result   = "return"    // of a bool, negated
	jump     = "jump"      // break or continue, left out
)

// An edit replaces bytes of a file.
type edit struct {
	from, to int
	text     string
}

// A change is one that can be made to the product at one place.
type change struct {
	Kind          string
	Line          int
	Before, After string // as a person reads it
	Func          string // the declaration that it is in

	from, to int                // the bytes of the file that no other change may touch
	edits    func(n int) []edit // which make mutant n of it
}

// A file is one whose source can be changed.
type file struct {
	path   string
	source []byte
	syntax *ast.File
	set    *token.FileSet
	info   *types.Info
	pkg    *types.Package
}

// at is the offset of a position.
func (f *file) at(p token.Pos) int { return f.set.Position(p).Offset }

// text is the source of a node.
func (f *file) text(n ast.Node) string { return string(f.source[f.at(n.Pos()):f.at(n.End())]) }

// changes lists what can be changed in the bodies of the file's functions, in the order of the source.
func (f *file) changes() []change {
	var found []change
	for _, decl := range f.syntax.Decls {
		name := "var"
		if d, ok := decl.(*ast.FuncDecl); ok {
			name = d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = strings.TrimPrefix(f.text(d.Recv.List[0].Type), "*") + "." + name
			}
		}
		v := &visitor{file: f, name: name, whole: make(map[ast.Expr]bool)}
		ast.Inspect(decl, v.visit)
		found = append(found, v.found...)
	}
	slices.SortStableFunc(found, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	return found
}

// A visitor collects the changes of one declaration.
type visitor struct {
	*file
	name  string
	found []change
	stack []ast.Node
	whole map[ast.Expr]bool // conditions and results: to negate a comparison is the same as to turn it round
}

func (v *visitor) visit(n ast.Node) bool {
	if n == nil {
		v.stack = v.stack[:len(v.stack)-1]
		return true
	}
	v.stack = append(v.stack, n)
	if !slices.ContainsFunc(v.stack, isBody) {
		return true
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		v.condition(n.Cond)
		if v.fails(n.Cond) && returns(n.Body) {
			v.add(failure, n.Cond, "if "+v.text(n.Cond), "if false", func(id int) []edit {
				return v.after(n.Cond, fmt.Sprintf(" && mutant.Off(%d)", id))
			})
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			v.condition(n.Cond)
		}
	case *ast.BinaryExpr:
		v.binary(n)
	case *ast.BasicLit:
		v.literal(n)
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			v.leaveOut(call, n)
		}
	case *ast.DeferStmt, *ast.GoStmt:
		v.leaveOut(call, n.(ast.Stmt))
	case *ast.BranchStmt:
		if n.Tok == token.BREAK || n.Tok == token.CONTINUE {
			v.leaveOut(jump, n)
		}
	case *ast.AssignStmt:
		v.assigned(n)
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			if v.isBool(r) {
				v.whole[r] = true
				v.add(result, r, v.text(r), not(v.text(r)), v.negated(r))
			}
		}
	}
	return true
}

func isBody(n ast.Node) bool { _, ok := n.(*ast.BlockStmt); return ok }

// add adds a change whose bytes are those of a node.
func (v *visitor) add(kind string, n ast.Node, before, after string, edits func(int) []edit) {
	v.found = append(v.found, change{
		Kind: kind, Line: v.set.Position(n.Pos()).Line, Before: before, After: after, Func: v.name,
		from: v.at(n.Pos()), to: v.at(n.End()), edits: edits,
	})
}

// around puts text around a node.
func (v *visitor) around(n ast.Node, before, after string) []edit {
	return []edit{{v.at(n.Pos()), v.at(n.Pos()), before}, {v.at(n.End()), v.at(n.End()), after}}
}

func (v *visitor) after(n ast.Node, text string) []edit {
	return []edit{{v.at(n.End()), v.at(n.End()), text}}
}

func (v *visitor) negated(n ast.Expr) func(int) []edit {
	return func(id int) []edit { return v.around(n, fmt.Sprintf("mutant.On(%d) != (", id), ")") }
}

func (v *visitor) condition(cond ast.Expr) {
	v.whole[cond] = true
	v.add(negate, cond, v.text(cond), not(v.text(cond)), v.negated(cond))
}

// not is the opposite of an expression, for people.
func not(expr string) string {
	if !strings.ContainsAny(expr, " \n") {
		return "!" + expr
	}
	return "!(" + expr + ")"
}

// fails reports whether a condition is that an error is not nil.
func (v *visitor) fails(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	nothing, ok := b.Y.(*ast.Ident)
	return ok && nothing.Name == "nil" && v.isError(b.X)
}

func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

func (v *visitor) isError(e ast.Expr) bool {
	t := v.info.TypeOf(e)
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

func (v *visitor) isBool(e ast.Expr) bool {
	t := v.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// turned has for each operator the one that it becomes.
var turned = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

func (v *visitor) binary(n *ast.BinaryExpr) {
	other, ok := turned[n.Op]
	if !ok || (n.Op == token.EQL || n.Op == token.NEQ) && v.whole[n] {
		return
	}
	kind := boundary
	if n.Op == token.LAND || n.Op == token.LOR {
		kind = andOr
	}
	before, x, y := v.text(n), v.text(n.X), v.text(n.Y)
	after := x + " " + other.String() + " " + y
	if kind == andOr { // its operands may bind less than the other operator
		after = "(" + x + ") " + other.String() + " (" + y + ")"
	}
	v.add(kind, n, before, after, func(id int) []edit {
		text := fmt.Sprintf("(mutant.On(%d) && (%s) || mutant.Off(%[1]d) && (%[3]s))", id, after, before)
		return []edit{{v.at(n.Pos()), v.at(n.End()), text}}
	})
}

func (v *visitor) literal(n *ast.BasicLit) {
	for _, outer := range v.stack {
		// Nobody outside of the tests may be sent a signal that was made up.
		if c, ok := outer.(*ast.CallExpr); ok && strings.HasSuffix(v.text(c.Fun), "Kill") {
			return
		}
	}
	t := v.info.TypeOf(n)
	if t == nil || n.Kind == token.IMAG {
		return
	}
	name := types.TypeString(t, v.qualifier)
	kind, fn, after := number, "Number", v.text(n)+"+1"
	switch n.Kind {
	case token.STRING:
		if value, err := strconv.Unquote(n.Value); err != nil || value == "" {
			return
		}
		kind, fn, after = text, "Text", `""`
	case token.INT:
		if value := constant.MakeFromLiteral(n.Value, n.Kind, 0); value.Kind() == constant.Int {
			after = constant.BinaryOp(value, token.ADD, constant.MakeInt64(1)).ExactString()
		}
	}
	v.add(kind, n, v.text(n), after, func(id int) []edit {
		return v.around(n, fmt.Sprintf("mutant.%s[%s](%d, ", fn, name, id), ")")
	})
}

// qualifier names a package as the file does.
func (f *file) qualifier(p *types.Package) string {
	if p == f.pkg {
		return ""
	}
	for _, spec := range f.syntax.Imports {
		if name, _ := strconv.Unquote(spec.Path.Value); name == p.Path() {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return p.Name()
		}
	}
	return path.Base(p.Path()) // not imported, so it won't compile
}

// leaveOut adds a change that leaves a statement out.
func (v *visitor) leaveOut(kind string, n ast.Stmt) {
	v.add(kind, n, v.text(n), "(left out)", func(id int) []edit {
		return v.around(n, fmt.Sprintf("if mutant.Off(%d) { ", id), " }")
	})
}

// assigned leaves a call out whose only result is an error.
func (v *visitor) assigned(n *ast.AssignStmt) {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 || !v.isError(n.Rhs[0]) {
		return
	}
	if c, ok := n.Rhs[0].(*ast.CallExpr); ok {
		if name := v.text(c.Fun); strings.HasSuffix(name, "Errorf") || strings.HasSuffix(name, "errors.New") {
			return // it makes an error, it doesn't meet one
		}
		v.add(call, c, v.text(c), "nil", func(id int) []edit {
			return v.around(c, fmt.Sprintf("mutant.Err(%d, func() error { return ", id), " })")
		})
	}
}

// apply makes the edits of several changes, numbered by their keys, and imports package mutant. It adds no line.
func (f *file) apply(module string, changes map[int]change) []byte {
	name := f.at(f.syntax.Name.End())
	edits := []edit{{name, name, fmt.Sprintf("; import mutant %q", module+"/"+overlaid)}}
	for n, c := range changes {
		edits = append(edits, c.edits(n)...)
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	done := 0
	for _, e := range edits {
		out = append(append(out, f.source[done:e.from]...), e.text...)
		done = e.to
	}
	return append(out, f.source[done:]...)
}
