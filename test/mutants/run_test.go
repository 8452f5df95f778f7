package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReaching(t *testing.T) {
	t.Parallel()
	var got []string
	for _, b := range reaching(&mutated{N: 2, Package: "m/own"}, []*binary{
		{Package: "m/slow", Seconds: 9, Reached: []int{1, 2}},
		{Package: "m/elsewhere", Seconds: 1, Reached: []int{1, 3}},
		{Package: "m/quick", Seconds: 2, Reached: []int{2}},
		{Package: "m/own", Seconds: 5, Reached: []int{2, 3}},
	}) {
		got = append(got, b.Package)
	}
	if want := []string{"m/own", "m/quick", "m/slow"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailing(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    a_test.go:3: no\nFAIL\n":                                                     "TestA",
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0s)\n        --- FAIL: TestA/b/c (0s)\n--- FAIL: TestD\n": "TestA/b/c",
		"panic: index out of range\n": "no test: it ended",
	} {
		name := filepath.Join(t.TempDir(), "out")
		if err := write(name, []byte(printed)); err != nil {
			t.Fatal(err)
		}
		if got := failing(name); got != want {
			t.Errorf("%s: %q, want %q", printed, got, want)
		}
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	mutants := []*mutated{
		{N: 1, File: "a.go", change: change{Kind: number, Line: 3, Before: "1", After: "2"}},
		{N: 2, File: "b.go", change: change{Kind: call, Line: 4, Before: "f(\n\t1)", After: "(left out)"}},
		{N: 3, File: "c.go", change: change{Kind: call, Line: 5, Before: "g()", After: "(left out)"}},
		{N: 4, File: "d.go", change: change{Kind: jump, Line: 6, Before: "break", After: "(left out)"}}, // not run yet
	}
	name := filepath.Join(t.TempDir(), "results.jsonl")
	for _, f := range []finding{
		{N: 1, Ring: "test", Reached: []string{"m/a"}},
		{N: 1, Ring: "test", Reached: []string{"m/a"}, Found: "m/a TestA"},
		{N: 1, Ring: "check"},
		{N: 2, Ring: "test", Reached: []string{"m/a", "m/b"}},
		{N: 3, Ring: "test"},
	} {
		if err := appendLine(name, f); err != nil {
			t.Fatal(err)
		}
	}
	all, err := lines[finding](name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	print(&out, mutants, "test", newest(all, "test"))
	want := `1  a.go:3  number  1 -> 2               1 reach it  found by m/a TestA
2  b.go:4  call    f( 1) -> (left out)  2 reach it  NOT FOUND
3  c.go:5  call    g() -> (left out)    0 reach it  NOT REACHED
call: 0 of 2 mutants found, 1 not found, 1 not reached
number: 1 of 1 mutants found, 0 not found, 0 not reached
ring test: 1 of 3 mutants found, 1 not found, 1 not reached
the rest: -only 2,3
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
