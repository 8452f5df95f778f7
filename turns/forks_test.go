package turns_test

import (
	"slices"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/turns"
)

func TestSiblings(t *testing.T) {
	t.Parallel()
	line := func(id record.ID, minute int, from ...record.TurnID) turns.MissionLine {
		m := &record.Mission{ID: id, Created: time.Date(2026, 11, 23, 10, minute, 0, 0, time.UTC)}
		if len(from) > 0 {
			m.ForkedFrom = &from[0]
		}
		return turns.MissionLine{Mission: m}
	}
	at := func(turn int) record.TurnID { return record.TurnID{Mission: "00000000", Turn: turn} }
	lines := []turns.MissionLine{
		line("00000000", 0),
		line("cccccccc", 2, at(4)), line("bbbbbbbb", 3, at(4)), line("aaaaaaaa", 1, at(4)), line("dddddddd", 3, at(4)),
		line("99999999", 4, at(5)),
		line("88888888", 5, record.TurnID{Mission: "aaaaaaaa", Turn: 4}),
		line("77777777", 6, at(0)), line("66666666", 7, at(0)),
	}
	for id, want := range map[record.ID][]record.ID{
		"bbbbbbbb": {"aaaaaaaa", "cccccccc", "dddddddd"},
		"dddddddd": {"aaaaaaaa", "cccccccc", "bbbbbbbb"}, // made in the same moment
		"99999999": nil,                                  // of another turn
		"88888888": nil,                                  // of another mission
		"77777777": nil,                                  // nobody knows at which turn
		"00000000": nil,                                  // no fork
		"55555555": nil,                                  // gone
	} {
		var got []record.ID
		for _, l := range turns.Siblings(lines, id) {
			got = append(got, l.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the siblings of %s are %v, want %v", id, got, want)
		}
	}
}
