package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An event is a line that go test -json prints, see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of what is built
	Elapsed                       float64
}

// A timed test is one with the seconds that it took.
type timed struct {
	name    string
	seconds float64
}

// A tally is what became of tests.
type tally struct {
	passed, failed, skipped int
	left                    map[string]int // to which ring, how many tests and scripts
	missing                 map[string]int // why others were skipped
	took                    []timed
	passes                  []pass        // that are whole, or have parts that are not
	partly                  map[pass]bool // of these, or of others, what did not all pass here
}

// A pass is a test of a package.
type pass struct{ pkg, test string }

// read reads what go test -json prints until it ends, and prints what go test prints without -v: a line a package, and
// all that failing tests have said.
func read(in io.Reader, out io.Writer) (*tally, error) {
	t := &tally{left: make(map[string]int), missing: make(map[string]int), partly: make(map[pass]bool)}
	said := make(map[string]*strings.Builder) // by package and test
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			for _, name := range slices.Sorted(maps.Keys(said)) {
				if reason(said[name].String()) != "" { // it was not just waiting for others
					fmt.Fprintf(out, "not ended: %s\n%s", name, said[name])
				}
			}
			return t, nil
		}
		if err != nil {
			return t, fmt.Errorf("read what go test prints: %w", err)
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			_, _ = out.Write(line) // go itself has something to say
			continue
		}
		name := strings.TrimPrefix(e.Package+" "+e.Test, "gitagent/")
		if e.Action == "output" && e.Test != "" {
			if said[name] == nil {
				said[name] = new(strings.Builder)
			}
			said[name].WriteString(e.Output)
			continue
		}
		switch e.Action {
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "output":
			if e.Output != "PASS\n" && !strings.Contains(e.Output, "[no test files]") {
				fmt.Fprint(out, e.Output)
			}
		case "pass", "fail", "skip":
			if e.Test == "" {
				continue
			}
			t.count(e, name, said[name])
			if e.Action == "fail" && said[name] != nil {
				fmt.Fprint(out, said[name])
			}
			delete(said, name)
		}
	}
}

// count takes the end of a test.
func (t *tally) count(e event, name string, said *strings.Builder) {
	switch e.Action {
	case "pass":
		t.passed++
		if said != nil {
			if ring := leftTo.FindStringSubmatch(said.String()); ring != nil {
				t.left[ring[1]]++ // in part
			}
		}
	case "fail":
		t.failed++
	case "skip":
		t.skipped++
		text := ""
		if said != nil {
			text = reason(said.String())
		}
		if ring := leftTo.FindStringSubmatch(text); ring != nil {
			t.left[ring[1]]++
		} else {
			t.missing[text]++
		}
	}
	t.took = append(t.took, timed{name, e.Elapsed})
	p := pass{e.Package, e.Test}
	ring := ""
	if said != nil {
		ring = leftTo.FindString(said.String())
	}
	if e.Action == "pass" {
		t.passes = append(t.passes, p)
	}
	if e.Action == "fail" || e.Action == "skip" && ring != "left to make nightly" || ring == "left to make check" {
		for t.partly[p] = true; strings.Contains(p.test, "/"); t.partly[p] = true {
			p.test = p.test[:strings.LastIndexByte(p.test, '/')]
		}
	}
}

// whole returns the tests that have passed with all their parts, as [gittest.Passed] wants them.
func (t *tally) whole() string {
	var list strings.Builder
	for _, p := range t.passes {
		first, rest, part := strings.Cut(p.test, "/")
		if !t.partly[p] && (!part || t.partly[pass{p.pkg, first}] && !strings.Contains(rest, "/")) {
			fmt.Fprintf(&list, "%s %s\n", p.pkg, p.test)
		}
	}
	return list.String()
}

// leftTo matches what a test says of the ring that it leaves itself, or its rest, to.
var leftTo = regexp.MustCompile(`left to (make \w+)`)

// reason is what a test said last, if it was skipped: why.
func reason(said string) string {
	text := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			text = line
		}
	}
	if _, after, ok := strings.Cut(text, "_test.go:"); ok {
		_, text, _ = strings.Cut(after, ": ")
	}
	return strings.Trim(text, "'\"")
}

// add adds what became of other tests.
func (t *tally) add(other *tally) {
	if other == nil {
		return
	}
	t.passed, t.failed, t.skipped = t.passed+other.passed, t.failed+other.failed, t.skipped+other.skipped
	t.took = append(t.took, other.took...)
	for _, m := range []struct{ to, from *map[string]int }{{&t.left, &other.left}, {&t.missing, &other.missing}} {
		if *m.to == nil {
			*m.to = make(map[string]int)
		}
		for k, n := range *m.from {
			(*m.to)[k] += n
		}
	}
}

// slowest returns the tests that took longest, of those that have no parts: the others wait for these.
func (t *tally) slowest(n int) []timed {
	parts := make(map[string]bool) // names of what has some
	for _, x := range t.took {
		for i, c := range x.name {
			if c == '/' {
				parts[x.name[:i]] = true
			}
		}
	}
	slow := slices.DeleteFunc(slices.Clone(t.took), func(x timed) bool { return parts[x.name] })
	slices.SortStableFunc(slow, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	return slow[:min(n, len(slow))]
}

// print says what was slow, what was left out and why.
func (t *tally) print(out io.Writer) {
	slow := t.slowest(10)
	if len(slow) > 0 {
		fmt.Fprintln(out, "Slowest:")
		for _, x := range slow {
			fmt.Fprintf(out, "%8.1f s  %s\n", x.seconds, x.name)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(t.missing)) {
		fmt.Fprintf(out, "Skipped: %d, %s\n", t.missing[reason], reason)
	}
	for _, ring := range slices.Sorted(maps.Keys(t.left)) {
		fmt.Fprintf(out, "Left to %s: %d tests and scripts\n", ring, t.left[ring])
	}
}
