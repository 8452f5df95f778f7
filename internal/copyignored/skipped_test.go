package copyignored

import "testing"

func TestFold(t *testing.T) {
	t.Parallel()
	found := []dir{
		{path: ".", files: make([]file, 2)},
		{path: "a", files: make([]file, 1)},
		{path: "a/b", files: make([]file, 2)},
		{path: "c/d", files: make([]file, 2)},
		{path: "e", files: make([]file, 1)},
	}
	for _, tt := range []struct {
		name       string
		left, want []string // all for one reason
	}{
		{"nothing", nil, nil},
		{"all of a directory", []string{"c/d/1", "c/d/2"}, []string{"c/"}},
		{"some of a directory", []string{"a/b/1", "a/1"}, []string{"a/1", "a/b/1"}},
		{"all below, not all above", []string{"a/b/1", "a/b/2"}, []string{"a/b/"}},
		{"all above", []string{"a/1", "a/b/1", "a/b/2"}, []string{"a/"}},
		{"one file", []string{"e/1"}, []string{"e/1"}},
		{"the top stays", []string{"1", "2"}, []string{"1", "2"}},
	} {
		var left, wanted []Skipped
		for _, p := range tt.left {
			left = append(left, Skipped{p, whyNotIgnored})
		}
		for _, p := range tt.want {
			wanted = append(wanted, Skipped{p, whyNotIgnored})
		}
		want(t, tt.name, reasons(fold(left, found)), reasons(wanted))
	}
	mixed := []Skipped{{"c/d/1", whyNotIgnored}, {"c/d/2", whyTracked}}
	want(t, "two reasons", reasons(fold(mixed, found)), []string{"c/d/1: " + whyNotIgnored, "c/d/2: " + whyTracked})
}
