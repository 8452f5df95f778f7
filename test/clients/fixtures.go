//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/agent"
)

// fixtures are the shapes in the test data of an agent, by its program.
func fixtures(top, program string) (*shapes, error) {
	s := &shapes{places: map[string]bool{}, table: map[string][]string{}}
	folder := filepath.Join(top, "internal", "agent", program)
	dirs := []string{filepath.Join(folder, "testdata")}
	if program == agent.Default().Program {
		dirs = append(dirs, filepath.Join(top, "testdata", "payloads"), filepath.Join(top, "testdata", "transcripts"))
	}
	for _, dir := range dirs {
		if err := documents(dir, func(_ string, record any) { s.add(unwrap(record)) }); err != nil {
			return nil, err
		}
	}
	// All agents' payloads are here, each with a name that begins with its agent's.
	err := documents(filepath.Join(top, "hooks", "testdata"), func(path string, record any) {
		named, _ := record.(map[string]any)
		if name, _ := named["name"].(string); strings.HasPrefix(name, program) {
			s.add(unwrap(record))
		}
	})
	if err != nil {
		return nil, err
	}
	return s, s.read(filepath.Join(folder, "known.go"))
}

// read adds the table of what Rebuild keeps, if there is one: pairs of names and fields, in any literal.
func (s *shapes) read(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	constants := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok && len(c.Values) == 1 {
			constants[c.Names[0].Name] = said(c.Values[0], nil)
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		var name, fields ast.Expr
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			name, fields = n.Key, n.Value
		case *ast.CompositeLit:
			if len(n.Elts) == 2 {
				name, fields = n.Elts[0], n.Elts[1]
			}
		}
		if names := said(name, nil); len(names) > 0 {
			last := names[len(names)-1]
			s.table[last] = append(s.table[last], said(fields, constants)...)
		}
		return true
	})
	return nil
}

// said are the words of the strings in an expression, and of constants.
func said(e ast.Expr, constants map[string][]string) (list []string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return words.FindAllString(e.Value, -1)
	case *ast.Ident:
		return constants[e.Name]
	case *ast.BinaryExpr:
		return append(said(e.X, constants), said(e.Y, constants)...)
	}
	return nil
}

// documents calls do for each JSON text in the files below dir. What follows a text that is none is left out.
func documents(dir string, do func(path string, record any)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == dir:
			return nil
		case err != nil || d.IsDir() || filepath.Ext(path) == ".txt" || filepath.Ext(path) == ".toml":
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read what a client wrote: %w", err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(content)); ; {
			var record any
			if decoder.Decode(&record) != nil {
				return nil
			}
			do(path, record)
		}
	})
}

// unwrap returns the payload of a document that tells of one, or else the document.
func unwrap(record any) any {
	if wrapped, ok := record.(map[string]any); ok {
		if payload, ok := wrapped["payload"].(map[string]any); ok && payload["hook_event_name"] != nil {
			return payload
		}
	}
	return record
}
