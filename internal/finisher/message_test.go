package finisher

import (
	"strings"
	"testing"
)

func TestProposal(t *testing.T) {
	t.Parallel()
	var many []worked
	for n := range maxProposed + 3 {
		many = append(many, worked{number: n + 1, prompt: "go on"})
	}
	for _, tt := range []struct {
		name, title string
		turns       []worked
		comment     string
		want        string
	}{
		{"nothing is known", "", nil, "#", "Agent mission a1b2c3d4\n"},
		{"a title", "Fix the login", nil, "#", "Fix the login\n"},
		{"one turn that says the same", "Fix it", []worked{{number: 1, prompt: "Fix it"}}, "#", "Fix it\n"},
		{"one turn that says more", "Fix it", []worked{{number: 3, prompt: "all of it"}}, "#", "Fix it\n\n- turn 3: all of it\n"},
		{"a turn without a prompt", "Fix it", []worked{{number: 1}}, "#", "Fix it\n"},
		{"two", "Fix it", []worked{{number: 1, prompt: "Fix it"}, {number: 2}}, "#", "Fix it\n\n- turn 1: Fix it\n- turn 2\n"},
		{"a comment to git", "#12: fix it", nil, "#", " #12: fix it\n"},
		{"no comment to this git", "#12: fix it", nil, ";", "#12: fix it\n"},
		{"lists are comments", "x", []worked{{number: 1, prompt: "y"}}, "-", "x\n\n - turn 1: y\n"},
		{"git chooses", "#12", nil, "auto", "#12\n"},
		{"a title of a stranger's", "\x1b[31mred\nand more", nil, "#", "[31mred\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := proposal("a1b2c3d4", tt.title, tt.turns, tt.comment); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := proposal("a1b2c3d4", "x", many, "#"); strings.Count(got, "\n") != maxProposed+3 || !strings.HasSuffix(got, "\n- and 3 more\n") {
		t.Errorf("many turns: %q", got)
	}
}
