package main

import (
	"slices"
	"testing"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		given []string
		times int
		want  []string // nil for a usage error
	}{
		{name: "one without a prompt", want: []string{""}},
		{name: "three without a prompt", times: 3, want: []string{"", "", ""}},
		{name: "one for all", given: []string{"a"}, times: 2, want: []string{"a", "a"}},
		{name: "one", given: []string{"a"}, want: []string{"a"}},
		{name: "one for each", given: []string{"a", "b"}, want: []string{"a", "b"}},
		{name: "as many", given: []string{"a", "a"}, times: 2, want: []string{"a", "a"}},
		{name: "too few", given: []string{"a", "b"}, times: 3},
		{name: "too many", given: []string{"a", "b"}, times: 1},
		{name: "an empty one", given: []string{"a", ""}},
		{name: "a blank one for all", given: []string{" \n"}, times: 2},
		{name: "most", times: 32, want: make([]string, 32)},
		{name: "more", times: 33},
		{name: "more prompts", given: slices.Repeat([]string{"a"}, 33)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := share(tt.given, tt.times)
			if !slices.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
				t.Errorf("share(%q, %d) = %q, %v; want %q", tt.given, tt.times, got, err, tt.want)
			}
		})
	}
}
