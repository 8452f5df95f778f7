package power

import (
	"slices"
	"testing"
)

// TestTable: every cell has a grant for each of all, and who is not in the table may do nothing.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, a := range Actors {
		for _, d := range Deeds {
			row := table()[a][d]
			if len(row) != len(All) {
				t.Errorf("%s, %s: %q", a, d, row)
			}
			for _, g := range row {
				if !slices.Contains([]Grant{No, Yes, Asked, Bounded, Unknown}, Grant(g)) {
					t.Errorf("%s, %s: %q", a, d, row)
				}
			}
		}
	}
	if Of("somebody", Read, Session) != No || Of(Person, Read, "nobody's") != No {
		t.Error("who is not in the table may do something")
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	write, purge := Commands()["agent-handoff write"], Commands()["agent-turn purge"]
	for _, tt := range []struct {
		name  string
		c     Command
		flags []string
		on    On
		want  []Use
	}{
		{"a document", write, nil, On{}, []Use{{Tell, Session}, {Record, Session}}},
		{"another mission's", write, nil, On{Mission: true}, []Use{{Tell, Clone}, {Record, Clone}}},
		{"another repository's", write, nil, On{Repository: true, Mission: true}, []Use{{Tell, Elsewhere}, {Record, Elsewhere}}},
		{"another pane", write, nil, On{Pane: true}, []Use{{Tell, Session}, {Tell, Elsewhere}, {Record, Session}}},
		{"a private file", write, nil, On{File: true}, []Use{{Read, Elsewhere}, {Tell, Session}, {Record, Session}}},
		{"a purge", purge, []string{"fixed"}, On{}, []Use{{Purge, Clone}}},
		{"at remotes", purge, []string{"push"}, On{}, []Use{{Purge, Clone}, {Purge, Everybody}}},
		{"a dry one", purge, []string{"fixed", "push", "dry-run"}, On{}, []Use{{Read, Clone}}},
		{"a dry one elsewhere", purge, []string{"dry-run"}, On{Repository: true}, []Use{{Read, Elsewhere}}},
	} {
		if got := tt.c.Uses(tt.flags, tt.on); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	for name, c := range Commands() {
		if len(c.Does) == 0 {
			t.Errorf("%s does nothing", name)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		who  Actor
		uses []Use
		want Use
	}{
		{Person, []Use{{Purge, Everybody}}, Use{}},
		{Script, []Use{{Purge, Clone}}, Use{}},
		{Script, []Use{{Read, Clone}, {Trust, Clone}}, Use{Trust, Clone}},
		{Agent, []Use{{Read, Clone}, {Tell, Session}}, Use{}},
		{Agent, []Use{{Tell, Session}, {Tell, Elsewhere}}, Use{Tell, Elsewhere}},
		{Plugin, []Use{{Restore, Clone}}, Use{Restore, Clone}},
	} {
		if got, ok := Refused(tt.who, tt.uses); got != tt.want || ok != (tt.want != Use{}) {
			t.Errorf("%s, %v: %v, %t", tt.who, tt.uses, got, ok)
		}
	}
}
