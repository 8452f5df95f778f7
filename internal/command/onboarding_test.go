package command

import "testing"

func TestBegin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   Situation
		want string
	}{
		{"off", Situation{}, "switch recording on with: git agent-turn init"},
		{
			"off in a clone",
			Situation{Remote: "origin"},
			"switch recording on with: git agent-turn init; or bring what was recorded elsewhere with: git agent-turn fetch origin",
		},
		{
			"off, with conversations from before",
			Situation{Importable: 2},
			"switch recording on with: git agent-turn init; or record 2 conversations from before with: git agent-turn import",
		},
		{"a bare repository", Situation{Bare: true}, "change into a worktree: turns are recorded where agents work"},
		{
			"a bare repository with a remote",
			Situation{Bare: true, Remote: "origin"},
			"change into a worktree: turns are recorded where agents work; or bring what was recorded elsewhere with: git agent-turn fetch origin",
		},
		{"the first turn runs", Situation{Recording: true, Running: true}, "see the turn that is running with: git agent-turn list --all"},
		{"on", Situation{Recording: true}, "start the agent's client here, and work as always"},
		{
			"on in a clone",
			Situation{Recording: true, Remote: "a'b"},
			`start the agent's client here, and work as always; or bring what was recorded elsewhere with: git agent-turn fetch 'a'\''b'`,
		},
	} {
		if got := hint(tt.in.Begin()); got != tt.want {
			t.Errorf("%s: hint(%+v.Begin()) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}
