package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// parsed is a package of one file, and the product that it is.
func parsed(t *testing.T, source string) (*product, *loaded, *file) {
	t.Helper()
	p := &product{module: "m", loaded: make(map[string]*loaded)}
	l, err := p.parse(listed{ImportPath: "m/x", GoFiles: []string{"x.go"}}, [][]byte{[]byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	return p, l, l.files["x.go"]
}

const around = `package x

type word string

type size uint8

func get(int) error { return nil }

func do(...any) {}

func f(a, b int, err error, ok bool, s []int, w word, z size) (bool, error) {
	%s
}
`

// TestChanges makes every change of a function's body by itself, and then all that don't touch each other.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		want []string // the kind, and the body with the change, in the order of the source
	}{
		{"return ok, nil", []string{"return: return mutant.On(7) != (ok), nil"}},
		{"return a < b, nil", []string{
			"return: return mutant.On(7) != (a < b), nil",
			"boundary: return (mutant.On(7) && (a <= b) || mutant.Off(7) && (a < b)), nil",
		}},
		{"return a == b, nil", []string{"return: return mutant.On(7) != (a == b), nil"}},
		{"do(a >= b); return f(a, b, err, ok, s, w, z)", []string{
			"call: if mutant.Off(7) { do(a >= b) }; return f(a, b, err, ok, s, w, z)",
			"boundary: do((mutant.On(7) && (a > b) || mutant.Off(7) && (a >= b))); return f(a, b, err, ok, s, w, z)",
		}},
		{"for !ok { break }; panic(err)", []string{
			"condition: for mutant.On(7) != (!ok) { break }; panic(err)",
			"jump: for !ok { if mutant.Off(7) { break } }; panic(err)",
			"call: !", // no return would be left
		}},
		{"if err != nil { return false, err }; panic(0)", []string{
			"condition: if mutant.On(7) != (err != nil) { return false, err }; panic(0)",
			"error: if err != nil && mutant.Off(7) { return false, err }; panic(0)",
			"return: if err != nil { return mutant.On(7) != (false), err }; panic(0)",
			"call: !",
			"number: if err != nil { return false, err }; panic(mutant.Number[int](7, 0))",
		}},
		{"if err := get(a); err != nil && ok { do() }; panic(err)", []string{
			"call: if err := mutant.Err(7, func() error { return get(a) }); err != nil && ok { do() }; panic(err)",
			"condition: if err := get(a); mutant.On(7) != (err != nil && ok) { do() }; panic(err)",
			"and-or: if err := get(a); (mutant.On(7) && ((err != nil) || (ok)) || mutant.Off(7) && (err != nil && ok)) { do() }; panic(err)",
			"boundary: if err := get(a); (mutant.On(7) && (err == nil) || mutant.Off(7) && (err != nil)) && ok { do() }; panic(err)",
			"call: if err := get(a); err != nil && ok { if mutant.Off(7) { do() } }; panic(err)",
			"call: !",
		}},
		{"defer do(z + 2); w += \"x\"; return f(a, b, err, ok, s[1:], \"\", z)", []string{
			"call: if mutant.Off(7) { defer do(z + 2) }; w += \"x\"; return f(a, b, err, ok, s[1:], \"\", z)",
			"number: defer do(z + mutant.Number[size](7, 2)); w += \"x\"; return f(a, b, err, ok, s[1:], \"\", z)",
			"string: defer do(z + 2); w += mutant.Text[word](7, \"x\"); return f(a, b, err, ok, s[1:], \"\", z)",
			"number: defer do(z + 2); w += \"x\"; return f(a, b, err, ok, s[mutant.Number[int](7, 1):], \"\", z)",
		}},
		// What has to be constant, or would have another type.
		{"const c = 1; var x [2]int; _ = x; return f(c, b, err, ok, s, w, z)", []string{"number: !", "number: !"}},
		{"type flag bool; g := func() flag { return a < b }; do(g); panic(err)", []string{
			"return: type flag bool; g := func() flag { return mutant.On(7) != (a < b) }; do(g); panic(err)",
			"boundary: !",
			"call: type flag bool; g := func() flag { return a < b }; if mutant.Off(7) { do(g) }; panic(err)",
			"call: !",
		}},
		{"mutant := a; do(mutant, 3); panic(err)", []string{"call: !", "number: !", "call: !"}},
	} {
		p, l, f := parsed(t, fmt.Sprintf(around, tt.body))
		changes := slices.DeleteFunc(f.changes(), func(c change) bool { return c.Func != "f" })
		var got []string
		s := &set{product: p}
		for _, c := range changes {
			text := f.apply("m", map[int]change{7: c})
			if p.compiles(l, "x.go", text) != nil {
				got = append(got, c.Kind+": !")
				continue
			}
			got = append(got, c.Kind+": "+body(t, text))
			if !s.touched(f, c) {
				if err := s.add(l, f, s.mutant(l, f, c)); err != nil {
					t.Error(err)
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", tt.body, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
		all := make(map[int]change)
		for _, m := range s.mutants {
			all[m.N] = m.change
		}
		if err := p.compiles(l, "x.go", f.apply("m", all)); err != nil && len(all) > 0 {
			t.Errorf("%s, with all: %v", tt.body, err)
		}
	}
}

// body is what a mutated source has where around has a %s.
func body(t *testing.T, source []byte) string {
	t.Helper()
	before, after, _ := strings.Cut(around, "%s")
	before = strings.Replace(before, "package x", `package x; import mutant "m/internal/mutant"`, 1)
	if !bytes.HasPrefix(source, []byte(before)) || !bytes.HasSuffix(source, []byte(after)) {
		t.Fatalf("not only the body is another one:\n%s", source)
	}
	return string(source[len(before) : len(source)-len(after)])
}

// TestLeftAlone has what is no place for a change.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"const c = 1\nvar v = 2 < c",
		"type t struct { a [3]int `tag` }",
		"func Kill(...int) int { return Kill(3) }",
		"func f() { _ = \"\" }",
	} {
		if _, _, f := parsed(t, "package x\n\n"+source); len(f.changes()) != 0 {
			t.Errorf("%s: %s", source, f.changes()[0].Before)
		}
	}
}

func TestPackageMutant(t *testing.T) {
	t.Parallel()
	if _, err := parser.ParseFile(token.NewFileSet(), "mutant.go", mutantSource, 0); err != nil {
		t.Error(err)
	}
}
