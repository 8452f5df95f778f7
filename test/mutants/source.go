package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	_ "embed"
)

// overlaid is the directory, in the module under test, where package mutant seems to be.
const overlaid = "internal/mutant"

//go:embed mutant/mutant.go
var mutantSource []byte

// A listed package is one as go list has it.
type listed struct {
	ImportPath, Dir, Export   string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
	Module                    *struct {
		Path, Dir string
		Main      bool
	}
}

// list asks the go command in dir for packages.
func list(dir string, args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Module"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(args, " "), err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// A product is the packages of a module that can be changed, and what they import.
type product struct {
	module, top string
	packages    []listed          // in the order of their paths
	exports     map[string]string // files with what compiled packages export
	loaded      map[string]*loaded
}

// A loaded package is parsed and has types.
type loaded struct {
	listed
	files map[string]*file // by path
}

// open reads what go list says about packages of the repository at dir. Tests and what serves them are no product.
func open(dir string, patterns []string) (*product, error) {
	named, err := list(dir, patterns...)
	if err != nil {
		return nil, err
	}
	p := &product{exports: make(map[string]string), loaded: make(map[string]*loaded)}
	for _, l := range named {
		if l.Module == nil || !l.Module.Main {
			return nil, fmt.Errorf("%s is not of this module", l.ImportPath)
		}
		p.module, p.top = l.Module.Path, l.Module.Dir
		if below := strings.TrimPrefix(l.ImportPath, p.module+"/"); strings.HasPrefix(below, "test/") || below == "release" || len(l.GoFiles) == 0 {
			continue
		}
		p.packages = append(p.packages, l)
	}
	if p.packages == nil {
		return nil, fmt.Errorf("%q has nothing of the product", patterns)
	}
	args := []string{"-export", "-deps"}
	for _, l := range p.packages {
		args = append(args, l.ImportPath)
	}
	deps, err := list(dir, args...)
	for _, l := range deps {
		p.exports[l.ImportPath] = l.Export
	}
	return p, err
}

// load parses a package and finds its types.
func (p *product) load(l listed) (*loaded, error) {
	if done := p.loaded[l.ImportPath]; done != nil {
		return done, nil
	}
	sources := make([][]byte, len(l.GoFiles))
	for i, name := range l.GoFiles {
		var err error
		if sources[i], err = os.ReadFile(filepath.Join(l.Dir, name)); err != nil {
			return nil, err
		}
	}
	done, err := p.parse(l, sources)
	if err == nil {
		p.loaded[l.ImportPath] = done
	}
	return done, err
}

// parse loads a package of these sources of its files.
func (p *product) parse(l listed, sources [][]byte) (*loaded, error) {
	done := &loaded{listed: l, files: make(map[string]*file)}
	set := token.NewFileSet()
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}
	var all []*ast.File
	for i, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		syntax, err := parser.ParseFile(set, path, sources[i], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		all = append(all, syntax)
		done.files[path] = &file{path: path, source: sources[i], syntax: syntax, set: set, info: info}
	}
	pkg, err := p.check(l.ImportPath, set, all, info)
	for _, f := range done.files {
		f.pkg = pkg
	}
	return done, err
}

// check finds out whether files compile.
func (p *product) check(path string, set *token.FileSet, files []*ast.File, info *types.Info) (*types.Package, error) {
	config := types.Config{Importer: &exported{p, set, importer.ForCompiler(set, "gc", p.export)}}
	return config.Check(path, set, files, info)
}

func (p *product) export(path string) (io.ReadCloser, error) {
	if p.exports[path] == "" {
		return nil, fmt.Errorf("%s was not compiled", path)
	}
	return os.Open(p.exports[path])
}

// exported imports what packages export, and of package mutant, which isn't compiled yet, what its source declares.
type exported struct {
	*product
	set  *token.FileSet
	rest types.Importer
}

func (e *exported) Import(path string) (*types.Package, error) {
	if path != e.module+"/"+overlaid {
		return e.rest.Import(path)
	}
	source, err := parser.ParseFile(e.set, "mutant.go", mutantSource, 0)
	if err != nil {
		return nil, err
	}
	config := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Importer: nothing{}, Error: func(error) {}} // its imports are none of what it exports
	pkg, _ := config.Check(path, e.set, []*ast.File{source}, nil)
	return pkg, nil
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	pkg := types.NewPackage(path, filepath.Base(path))
	pkg.MarkComplete()
	return pkg, nil
}

// compiles reports what is wrong with a package one of whose files has another source.
func (p *product) compiles(l *loaded, path string, source []byte) error {
	set := token.NewFileSet()
	var all []*ast.File
	for _, name := range l.GoFiles {
		f := l.files[filepath.Join(l.Dir, name)]
		text := f.source
		if f.path == path {
			text = source
		}
		syntax, err := parser.ParseFile(set, f.path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, syntax)
	}
	_, err := p.check(l.ImportPath, set, all, nil)
	return err
}

// A line is one of a file of a package.
type line struct {
	pkg  int // in product.packages
	path string
	line int
}

// lines lists the lines of code: those that are neither empty nor comments alone. What is generated is not ours.
func (p *product) lines() ([]line, error) {
	var all []line
	for i, l := range p.packages {
		for _, name := range slices.Sorted(slices.Values(l.GoFiles)) {
			path := filepath.Join(l.Dir, name)
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, source, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				return nil, err
			}
			if ast.IsGenerated(f) {
				continue
			}
			for _, n := range code(source) {
				all = append(all, line{i, path, n})
			}
		}
	}
	return all, nil
}

// code returns the numbers of the lines with code.
func code(source []byte) []int {
	var lines []int
	set := token.NewFileSet()
	f := set.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(f, source, nil, 0) // without comments
	for last := 0; ; {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && lit != ";" {
			continue // the end of a line
		}
		from := f.Line(pos)
		for n := max(from, last+1); n <= from+strings.Count(lit, "\n"); n++ {
			lines = append(lines, n)
			last = n
		}
	}
}
