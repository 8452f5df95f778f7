package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A value is followed as an argument, as a part and as what was made from it,
// and comes back to a file by being passed to a function there.
func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.invalid/m\n\ngo 1.26\n",
		"a.go": `package m

type In struct{ Name string }

func Start(in In, other string) {
	name := in.Name
	first(name)
	first(other)
	made := second(len(in.Name), in)
	third(made)
	fourth(other)
}

func back(string) {}
`,
		"b.go": `package m

func first(s string) { back(s); first(s) }

func fourth(string) {}
`,
		"c.go": `package m

func second(int, In) string { return "" }

func third(s string) { back(s) }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	h, err := load(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.walk(start{"test", "", "Start", "in"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.go", "b.go", "a.go", "c.go"}; !slices.Equal(got.stays, want) || len(got.done) != 5 {
		t.Errorf("got %v in %d functions, want %v in 5", got.stays, len(got.done), want)
	}
	if _, err := h.walk(start{"test", "", "Start", "none"}); err == nil {
		t.Error("a parameter that does not exist: no error")
	}
}
