package gitdiff

import (
	"reflect"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a\tb", "one\n")
	r.Write("d/c", "two\n")
	first := object.NewHash(r.Git("rev-parse", r.Commit("first")+"^{tree}"))
	r.Write("a\tb", "three\n")
	r.Write("e", "four\n")
	second := object.NewHash(r.Git("rev-parse", r.Commit("second")+"^{tree}"))
	blob := func(rev string) object.Hash { return object.NewHash(r.Git("rev-parse", rev)) }
	changed := Versions{blob("HEAD^:a\tb"), blob("HEAD:a\tb")}
	for _, tt := range []struct {
		specs []string
		want  []map[string]Versions
	}{
		{nil, []map[string]Versions{{"a\tb": changed, "e": {New: blob("HEAD:e")}}, nil, {"a\tb": {changed.New, changed.Old}, "e": {Old: blob("HEAD:e")}}}},
		{[]string{FromTop("a\tb")}, []map[string]Versions{{"a\tb": changed}, nil, {"a\tb": {changed.New, changed.Old}}}},
	} {
		got, err := Files(t.Context(), find(t, r), [][2]object.Hash{{first, second}, {second, second}, {second, first}}, Paths{Specs: tt.specs})
		gittest.Must(t, err)
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.specs, got, tt.want)
		}
	}
	if _, err := parseFiles(":100644 100644 a\x00", [][2]object.Hash{{first, second}}); err == nil {
		t.Error("a part of an answer is read")
	}
}
