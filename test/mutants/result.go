package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// lines reads the lines of a file of JSON, none if it isn't there. One that was not written to its end is left out.
func lines[T any](name string) ([]T, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []T
	for l := range strings.Lines(string(text)) {
		var v T
		if json.Unmarshal([]byte(l), &v) == nil {
			all = append(all, v)
		}
	}
	return all, nil
}

// appendLine adds a line to a file of JSON.
func appendLine(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// newest returns the last finding of each mutant in a ring.
func newest(all []finding, ring string) map[int]finding {
	found := make(map[int]finding)
	for _, f := range all {
		if f.Ring == ring {
			found[f.N] = f
		}
	}
	return found
}

// print prints what became of mutants, and how many were found, of each kind and of all.
func print(out io.Writer, mutants []*mutated, ring string, findings map[int]finding) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var kinds []string
	by := make(map[string]*count)
	all := new(count)
	var missed []string
	for _, m := range mutants {
		f, ok := findings[m.N]
		if !ok {
			continue
		}
		if by[m.Kind] == nil {
			kinds = append(kinds, m.Kind)
			by[m.Kind] = new(count)
		}
		by[m.Kind].add(f)
		all.add(f)
		verdict := "NOT FOUND"
		switch {
		case f.Found != "":
			verdict = "found by " + f.Found
		case f.Reached == nil:
			verdict = "NOT REACHED"
		}
		if f.Found == "" {
			missed = append(missed, strconv.Itoa(m.N))
		}
		fmt.Fprintf(w, "%d\t%s:%d\t%s\t%s -> %s\t%d reach it\t%s\n", m.N, m.File, m.Line, m.Kind, short(m.Before), short(m.After), len(f.Reached), verdict)
	}
	_ = w.Flush()
	slices.Sort(kinds)
	for _, kind := range kinds {
		fmt.Fprintf(out, "%s: %s\n", kind, by[kind])
	}
	fmt.Fprintf(out, "ring %s: %s\n", ring, all)
	if missed != nil {
		fmt.Fprintf(out, "the rest: -only %s\n", strings.Join(missed, ","))
	}
}

// A count is how many mutants were found.
type count struct{ total, found, reached int }

func (c *count) add(f finding) {
	c.total++
	if f.Found != "" {
		c.found++
	}
	if f.Reached != nil {
		c.reached++
	}
}

func (c *count) String() string {
	return fmt.Sprintf("%d of %d mutants found, %d not found, %d not reached", c.found, c.total, c.reached-c.found, c.total-c.reached)
}

// short is the first of a text, in a line.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// String says what became of the mutant.
func (f *finding) String() string {
	switch {
	case f.Found != "":
		return "found by " + f.Found
	case f.Reached == nil:
		return "not reached"
	}
	return fmt.Sprintf("not found by %d packages that reach it", len(f.Reached))
}
