package agent

import (
	"reflect"
	"slices"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	for _, a := range All() {
		for _, name := range []string{a.Name, a.Program} {
			if found, ok := Find(name); !ok || found != a || Of(name) != a {
				t.Errorf("%s is %v", name, found)
			}
		}
		if started, ok := Started([]string{"/opt/" + a.Program + ".exe", "x"}); !ok || started != a {
			t.Errorf("%s is started by %v", a.Program, started)
		}
	}
	if _, ok := Find("emacs"); ok || Of("emacs") != Default() {
		t.Error("there is an agent emacs")
	}
	if _, ok := Started([]string{"emacs"}); ok {
		t.Error("emacs starts one")
	}
	if got := Reads(func(getenv func(string) string) { getenv("A"); getenv("B") }); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("it reads %q", got)
	}
}

// Every agent has what is not optional. What is optional, some agents have, and
// some do not.
func TestFunctions(t *testing.T) {
	t.Parallel()
	optional := []string{"Plugin", "Notice", "Reported", "Running", "Registered", "History", "Worktrees", "Late", "EndsUntold", "Within", "Quoter", "Subagents", "Claims", "Spent", "Continues", "WithSession", "Wake", "Flat", "Ignored", "Borrows", "Path"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Agent]()) {
		has := 0
		for _, a := range All() {
			if !reflect.ValueOf(a).Elem().FieldByIndex(field.Index).IsZero() {
				has++
			}
		}
		if want := slices.Contains(optional, field.Name); has == 0 || want != (has < len(All())) {
			t.Errorf("%d of %d agents have %s", has, len(All()), field.Name)
		}
	}
}
