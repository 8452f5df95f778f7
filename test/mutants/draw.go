package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// A mutated place is a change that was drawn, with enough to find it again in another version of the product.
type mutated struct {
	N       int
	Package string // import path
	File    string // from the top of the repository
	Text    string // of the line
	Ordinal int    // among the changes of the function that look the same, from 0
	change
}

// like reports whether two changes look the same to who only has a mutant's description.
func (m *mutated) like(c change, text string) bool {
	return c.Func == m.Func && c.Kind == m.Kind && c.Before == m.Before && text == m.Text
}

// A set is mutants and what they were drawn from.
type set struct {
	product *product
	mutants []*mutated
}

// draw draws n mutants: a line of code, any as likely as the other; of what can be changed there a kind, and a place.
// Lines where nothing can be, and changes that don't compile, are drawn again.
func (p *product) draw(seed uint64, n int) (*set, error) {
	lines, err := p.lines()
	if err != nil {
		return nil, err
	}
	s := &set{product: p}
	dice := rand.New(rand.NewPCG(seed, 0))
	for range 100 * n { // there may not be as many
		if len(s.mutants) == n {
			break
		}
		at := lines[dice.IntN(len(lines))]
		pkg, err := p.load(p.packages[at.pkg])
		if err != nil {
			return nil, err
		}
		f := pkg.files[at.path]
		here := slices.DeleteFunc(f.changes(), func(c change) bool { return c.Line != at.line || s.touched(f, c) })
		for len(here) > 0 {
			kind := kinds(here)[dice.IntN(len(kinds(here)))]
			of := slices.DeleteFunc(slices.Clone(here), func(c change) bool { return c.Kind != kind })
			c := of[dice.IntN(len(of))]
			if m := s.mutant(pkg, f, c); s.add(pkg, f, m) == nil {
				break
			}
			here = slices.DeleteFunc(here, func(other change) bool { return other.Kind == c.Kind && other.from == c.from && other.to == c.to })
		}
	}
	if len(s.mutants) == 0 {
		return nil, errors.New("there is nothing to change")
	}
	return s, nil
}

// kinds lists the kinds of changes, in the order in which they come.
func kinds(changes []change) []string {
	var all []string
	for _, c := range changes {
		if !slices.Contains(all, c.Kind) {
			all = append(all, c.Kind)
		}
	}
	return all
}

// touched reports whether a change has bytes that another one of the set has.
func (s *set) touched(f *file, c change) bool {
	return slices.ContainsFunc(s.mutants, func(m *mutated) bool {
		return m.File == s.product.rel(f.path) && c.from <= m.to && m.from <= c.to
	})
}

func (p *product) rel(path string) string {
	rel, err := filepath.Rel(p.top, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// mutant describes a change.
func (s *set) mutant(pkg *loaded, f *file, c change) *mutated {
	m := &mutated{N: len(s.mutants) + 1, Package: pkg.ImportPath, File: s.product.rel(f.path), Text: f.line(c.Line), change: c}
	for _, other := range f.changes() {
		if m.like(other, f.line(other.Line)) && other.from < c.from {
			m.Ordinal++
		}
	}
	return m
}

// line is the text of a line, without the space around it.
func (f *file) line(n int) string {
	lines := bytes.Split(f.source, []byte("\n"))
	return string(bytes.TrimSpace(lines[n-1]))
}

// add adds a mutant if it compiles.
func (s *set) add(pkg *loaded, f *file, m *mutated) error {
	err := s.product.compiles(pkg, f.path, f.apply(s.product.module, map[int]change{m.N: m.change}))
	if err == nil {
		s.mutants = append(s.mutants, m)
	}
	return err
}

// find finds mutants of another version of the product in this one, and returns those that are not in it.
func (p *product) find(all []*mutated) (s *set, absent []*mutated, err error) {
	s = &set{product: p}
	for _, m := range all {
		i := slices.IndexFunc(p.packages, func(l listed) bool { return l.ImportPath == m.Package })
		if i < 0 {
			absent = append(absent, m)
			continue
		}
		pkg, err := p.load(p.packages[i])
		if err != nil {
			return nil, nil, err
		}
		f := pkg.files[filepath.Join(p.top, filepath.FromSlash(m.File))]
		if f == nil {
			absent = append(absent, m)
			continue
		}
		alike := slices.DeleteFunc(f.changes(), func(c change) bool { return !m.like(c, f.line(c.Line)) })
		if len(alike) <= m.Ordinal {
			absent = append(absent, m)
			continue
		}
		found := *m
		found.change = alike[m.Ordinal]
		if err := s.add(pkg, f, &found); err != nil {
			absent = append(absent, m)
		}
	}
	if len(s.mutants) == 0 {
		return nil, absent, errors.New("none of the mutants is in this product")
	}
	return s, absent, nil
}

// overlay writes what go build takes for -overlay: the changed files with all mutants in them, and package mutant.
func (s *set) overlay(dir string) (string, error) {
	sources := make(map[string][]byte)
	for _, pkg := range s.product.loaded {
		for _, f := range pkg.files {
			changes := make(map[int]change)
			for _, m := range s.mutants {
				if m.File == s.product.rel(f.path) {
					changes[m.N] = m.change
				}
			}
			if len(changes) == 0 {
				continue
			}
			source := f.apply(s.product.module, changes)
			if err := s.product.compiles(pkg, f.path, source); err != nil {
				return "", fmt.Errorf("%s with its mutants: %w", f.path, err)
			}
			sources[f.path] = source
		}
	}
	home := filepath.Join(s.product.top, filepath.FromSlash(overlaid))
	sources[filepath.Join(home, "mutant.go")] = mutantSource
	sources[filepath.Join(home, "dir.go")] = fmt.Appendf(nil, "package mutant\n\nconst dir = %q\n", dir)

	replace := make(map[string]string)
	for path, source := range sources {
		to := filepath.Join(dir, "source", s.product.rel(path))
		if err := write(to, source); err != nil {
			return "", err
		}
		replace[path] = to
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, write(name, text)
}

// write writes a file, unless it has the content already: the go command looks at its time.
func write(name string, content []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o666)
}

// remembered returns the mutants that a file lists, none if there is no such file.
func remembered(name string) ([]*mutated, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []*mutated
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read mutants of %s: %w", name, err)
	}
	return all, nil
}

// remember lists the mutants in a file.
func (s *set) remember(name string) error {
	text, err := json.MarshalIndent(s.mutants, "", "\t")
	if err != nil {
		return err
	}
	return write(name, append(text, '\n'))
}
