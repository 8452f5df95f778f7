package missionstore

import (
	"slices"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/turns"
)

func TestTogether(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	line := func(id record.ID, of record.ID, turn, minute int) turns.MissionLine {
		m := &record.Mission{ID: id, Created: at.Add(time.Duration(minute) * time.Minute)}
		if of != "" {
			m.ForkedFrom = &record.TurnID{Mission: of, Turn: turn}
		}
		return turns.MissionLine{Mission: m}
	}
	for _, tt := range []struct {
		name string
		list []turns.MissionLine
		want []record.ID
	}{
		{name: "none"},
		{name: "no forks", list: []turns.MissionLine{line("a", "", 0, 2), line("b", "", 0, 1)}, want: []record.ID{"a", "b"}},
		{
			name: "at the place of the first, in order of creation",
			list: []turns.MissionLine{line("x", "", 0, 0), line("c", "s", 2, 9), line("s", "", 0, 1), line("a", "s", 2, 7), line("y", "", 0, 0), line("b", "s", 2, 8)},
			want: []record.ID{"x", "a", "b", "c", "s", "y"},
		},
		{
			name: "of other turns and missions",
			list: []turns.MissionLine{line("a", "s", 2, 5), line("b", "s", 1, 6), line("c", "r", 2, 1), line("d", "s", 2, 4)},
			want: []record.ID{"d", "a", "b", "c"},
		},
		{
			name: "made at the same time",
			list: []turns.MissionLine{line("c", "s", 1, 1), line("a", "s", 1, 1), line("b", "s", 1, 1)},
			want: []record.ID{"a", "b", "c"},
		},
		{
			name: "where the turn is not known", // two sides of a mission, which are not alike
			list: []turns.MissionLine{line("b", "s", 0, 2), line("x", "", 0, 0), line("a", "s", 0, 1)},
			want: []record.ID{"b", "x", "a"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []record.ID
			for _, l := range turns.Together(tt.list) {
				got = append(got, l.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Together = %q, want %q", got, tt.want)
			}
		})
	}
}

// A fork begins with the turns of another mission, and is not as old as they are.
func TestNewest(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		last *turns.Glance
		want time.Time
	}{
		{"without turns", nil, made},
		{"inherited", &turns.Glance{At: made.Add(-time.Hour)}, made},
		{"its own", &turns.Glance{At: made.Add(time.Hour)}, made.Add(time.Hour)},
	} {
		if got := (turns.MissionLine{Mission: &record.Mission{Created: made}, Last: tt.last}).Newest(); !got.Equal(tt.want) {
			t.Errorf("%s: Newest = %v, want %v", tt.name, got, tt.want)
		}
	}
}
