package contextmeter

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

func TestVisit(t *testing.T) {
	t.Parallel()
	var full []Visit
	for i := range MaxVisits {
		full = append(full, Visit{Top: fmt.Sprint("/", i), PromptID: "p"})
	}
	for _, tt := range []struct {
		name   string
		before []Visit
		prompt string
		tops   []string
		now    map[string]Visit
		after  []Visit
	}{
		{"the first", nil, "p", []string{"/a"}, map[string]Visit{"/a": {Top: "/a", PromptID: "p"}}, []Visit{{Top: "/a", PromptID: "p"}}},
		{
			"again in the turn",
			[]Visit{{Top: "/a", PromptID: "p", Begun: true}},
			"p",
			[]string{"/a"},
			map[string]Visit{"/a": {Top: "/a", PromptID: "p", Begun: true}},
			[]Visit{{Top: "/a", PromptID: "p", Begun: true}},
		},
		{
			"by a sub-agent after the turn",
			[]Visit{{Top: "/a", PromptID: "p", Begun: true, Over: true}},
			"p",
			[]string{"/a"},
			map[string]Visit{"/a": {Top: "/a", PromptID: "p", Begun: true}},
			[]Visit{{Top: "/a", PromptID: "p", Begun: true}},
		},
		{
			"in the next turn, where recording may be on by now",
			[]Visit{{Top: "/a", PromptID: "p", Off: true}},
			"q",
			[]string{"/a"},
			map[string]Visit{"/a": {Top: "/a", PromptID: "q"}},
			[]Visit{{Top: "/a", PromptID: "q"}},
		},
		{
			"what is over is forgotten, and not what was left behind",
			[]Visit{{Top: "/a", PromptID: "p", Over: true}, {Top: "/b", PromptID: "p", Begun: true}},
			"q",
			[]string{"/c"},
			map[string]Visit{"/c": {Top: "/c", PromptID: "q"}},
			[]Visit{{Top: "/b", PromptID: "p", Begun: true}, {Top: "/c", PromptID: "q"}},
		},
		{
			"without ids what is over is an earlier turn's",
			[]Visit{{Top: "/a", Begun: true, Over: true}},
			"",
			[]string{"/a"},
			map[string]Visit{"/a": {Top: "/a"}},
			[]Visit{{Top: "/a"}},
		},
		{"too many", full, "p", []string{"/more"}, map[string]Visit{"/more": {Top: "/more", Off: true, Beyond: true}}, full},
	} {
		m := Memory{Visits: slices.Clone(tt.before)}
		if now := m.Visit(tt.prompt, tt.tops); !reflect.DeepEqual(now, tt.now) || !slices.Equal(m.Visits, tt.after) {
			t.Errorf("%s: %+v of %+v, want %+v of %+v", tt.name, now, m.Visits, tt.now, tt.after)
		}
	}
}

func TestMissed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		visits []Visit
		named  []string
		prompt string
		tops   []string
		of     string
		killed bool
	}{
		{"none", nil, nil, "p", nil, "p", false},
		{"no hook ran", nil, []string{"/a"}, "p", []string{"/a"}, "p", false},
		{"a hook has begun it", []Visit{{Top: "/a", PromptID: "p", Begun: true}}, []string{"/a"}, "p", []string{}, "p", false},
		{"and ended it", []Visit{{Top: "/a", PromptID: "p", Begun: true, Over: true}}, []string{"/a"}, "p", []string{}, "p", false},
		{"in an earlier turn", []Visit{{Top: "/a", PromptID: "p", Over: true}}, []string{"/a"}, "q", []string{"/a"}, "q", false},
		{"it is off", []Visit{{Top: "/a", PromptID: "p", Off: true}}, []string{"/a"}, "p", []string{}, "p", false},
		{"a hook was killed", []Visit{{Top: "/a", PromptID: "p"}}, nil, "", []string{"/a"}, "p", true},
		{"and the call is known", []Visit{{Top: "/a", PromptID: "p"}}, []string{"/a", "/b"}, "p", []string{"/a", "/b"}, "p", true},
	} {
		tops, of, killed := Missed(tt.visits, tt.named, tt.prompt)
		if !slices.Equal(tops, tt.tops) || of != tt.of || killed != tt.killed {
			t.Errorf("%s: %q of %q, %t, want %q of %q, %t", tt.name, tops, of, killed, tt.tops, tt.of, tt.killed)
		}
	}
}
