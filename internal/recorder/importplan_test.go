package recorder

import (
	"errors"
	"strings"
	"testing"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// TestOwns: a mission that has the id of a session's own.
func TestOwns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		id       record.ID
		sessions []string
		ok       bool
		again    bool // with the mission's id of 12 digits
	}{
		{"its own", "a1b2c3d4", []string{"s"}, true, false},
		{"shared", "a1b2c3d4", []string{"other", "s"}, true, false},
		{"another one's", "a1b2c3d4", []string{"other"}, false, true},
		{"nobody's", "a1b2c3d4", nil, false, true},
		{"its own, with a long id", "0000a1b2c3d4", []string{"s"}, true, false},
		{"another one's, with a long id", "0000a1b2c3d4", []string{"other"}, false, false},
	} {
		err := owns(&record.Mission{Sessions: tt.sessions}, tt.id, "s")
		if (err == nil) != tt.ok || errors.Is(err, git.ErrConflict) != tt.again {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestImported: a mission grows by an import if its last turn is one of an import, of this session.
func TestImported(t *testing.T) {
	t.Parallel()
	whole := turns.Turn{Mission: "a1b2c3d4", Turn: 3, Session: "s", Imported: "head", Transcript: new(record.Segment)}
	for name, tt := range map[string]struct {
		change func(t *turns.Turn)
		want   bool
	}{
		"it is one":                                {func(*turns.Turn) {}, true},
		"by the reflog":                            {func(t *turns.Turn) { t.Imported = turns.ByReflog }, true},
		"by hooks":                                 {func(t *turns.Turn) { t.Imported = "" }, false},
		"of another session":                       {func(t *turns.Turn) { t.Session = "other" }, false},
		"of the mission that it was forked from":   {func(t *turns.Turn) { t.Mission = "00000000" }, false},
		"without a conversation":                   {func(t *turns.Turn) { t.Transcript = nil }, false},
		"not the last, of which nothing is known":  {func(t *turns.Turn) { t.Turn = 2 }, false},
		"later than the last, as is never written": {func(t *turns.Turn) { t.Turn = 4 }, false},
	} {
		last := whole
		if tt.change(&last); imported(&last, "a1b2c3d4", 3, "s") != tt.want {
			t.Errorf("%s: %t", name, !tt.want)
		}
	}
	if imported(nil, "a1b2c3d4", 0, "s") {
		t.Error("there is none: true")
	}
}

// TestFurtherTurns: what comes after the part of a file that was imported, one turn.
func TestFurtherTurns(t *testing.T) {
	t.Parallel()
	note := `{"type":"system","uuid":"n-1","content":"noted"}` + "\n"
	for _, tt := range []struct {
		name  string
		old   string
		more  string
		want  string // the prompts
		again bool
	}{
		{name: "nothing", old: said("p1", "one", answer("done"))},
		{name: "what the client notes for itself", old: said("p1", "one", answer("done")), more: note},
		{name: "the turn has gone on", old: said("p1", "one", answer("done")), more: answer("and more") + "\n", want: "one", again: true},
		{name: "the turn was running", old: said("p1", "one"), more: answer("done") + "\n", want: "one", again: true},
		{name: "a further turn", old: said("p1", "one", answer("done")), more: said("p2", "two", answer("x")), want: "two"},
		{name: "a further turn, after a note", old: said("p1", "one", answer("done")), more: note + said("p2", "two", answer("x")), want: "two"},
		{name: "two further turns", old: said("p1", "one", answer("done")), more: said("p2", "two", answer("x")) + said("p3", "three"), want: "two three"},
		{name: "it has gone on, and a further one came", old: said("p1", "one", answer("done")), more: answer("and more") + "\n" + said("p2", "two", answer("x")), want: "one two", again: true},
		{name: "there was none", old: note, more: said("p1", "one", answer("done")), want: "one"},
		{name: "there was none, and words come", old: note, more: answer("done") + "\n"},
	} {
		r, bytes := agent.Default().Reader(), []byte(tt.old+tt.more)
		begun := transcript.Turns(r, bytes)
		list, again := furtherTurns(r, bytes, begun, len(tt.old))
		var got []string
		for i, b := range list {
			got = append(got, b.Prompt)
			if i+1 < len(list) && again && i == 0 && b.End != list[1].Start {
				t.Errorf("%s: the first ends at %d, the second begins at %d", tt.name, b.End, list[1].Start)
			}
		}
		if strings.Join(got, " ") != tt.want || again != tt.again {
			t.Errorf("%s: %q, the first again: %t; want %q, %t", tt.name, got, again, tt.want, tt.again)
		}
	}
}

// TestInCommon: conversations are written as the ids of their turns, a letter each, "-" for none.
func TestInCommon(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "", 0},
		{"abc", "abc", 3},
		{"abc", "abcd", 3},
		{"abcd", "abc", 3},
		{"abcd", "abxd", 2},
		{"abc", "xbc", 0},
		{"a-c", "a-c", 1},
		{"-", "-", 0},
	} {
		read := func(text string) (list []transcript.FileTurn) {
			for _, c := range text {
				list = append(list, transcript.FileTurn{UUID: strings.Trim(string(c), "-")})
			}
			return list
		}
		if got := inCommon(read(tt.a), read(tt.b)); got != tt.want {
			t.Errorf("%q and %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestRunning: turns that are left to hooks, and one that has not ended in a client that is alive.
func TestRunning(t *testing.T) {
	t.Parallel()
	one, two := said("p1", "one", answer("done")), said("p2", "two", answer("done"))
	for _, tt := range []struct {
		name string
		file string
		open *session.OpenTurn
		runs bool
		want string
	}{
		{name: "all have ended", file: one + two, want: "one two"},
		{name: "all have ended, in a client that is alive", file: one + two, runs: true, want: "one two"},
		{name: "the last runs", file: one + said("p2", "two"), runs: true, want: "one"},
		{name: "the last ran, and the client is gone", file: one + said("p2", "two"), want: "one two"},
		{name: "the last was interrupted", file: one + said("p2", "two", stopLine("p2")), runs: true, want: "one two"},
		{name: "the only one runs", file: said("p1", "one"), runs: true},
		{name: "hooks have the second", file: one + two, open: &session.OpenTurn{PromptID: "p2"}, want: "one"},
		{name: "hooks have the second, and a third came", file: one + two + said("p3", "three"), open: &session.OpenTurn{PromptID: "p2"}, want: "one"},
		{name: "hooks have one that is not there yet", file: one + two, open: &session.OpenTurn{PromptID: "p9"}, want: "one two"},
		{name: "hooks have one without an id", file: one + two, open: new(session.OpenTurn), want: "one two"},
		{name: "hooks have one that is not there yet, and the last runs", file: one + said("p2", "two"), open: &session.OpenTurn{PromptID: "p9"}, runs: true, want: "one"},
		{name: "there is none", runs: true},
	} {
		c := &candidate{agent: agent.Default()}
		c.Runs = tt.runs
		begun := transcript.Turns(c.reader(), []byte(tt.file))
		var got []string
		for _, b := range running(c, begun, []byte(tt.file), tt.open) {
			got = append(got, b.Prompt)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
