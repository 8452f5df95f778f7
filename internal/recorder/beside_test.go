package recorder

import (
	"testing"

	"gitagent/internal/session"
)

func TestTurnTo(t *testing.T) {
	t.Parallel()
	a, b, c := session.Client{PID: 1}, session.Client{PID: 2}, session.Client{PID: 3}
	for _, tt := range []struct {
		name   string
		signal Signal
		open   string // the open turn, of client a; "" for none
		beside string // a turn of client b; "" for none
		last   string
		dead   bool // client a

		wantOpen, wantBeside string
		nothing              bool
	}{
		{name: "nothing runs", signal: Signal{Event: Stopped, PromptID: "x", Client: a}},
		{name: "the turn ends", signal: Signal{Event: Stopped, PromptID: "x", Client: a}, open: "x", wantOpen: "x"},
		{name: "by an unknown client", signal: Signal{Event: Stopped, PromptID: "x"}, open: "x", wantOpen: "x"},
		{name: "without an id", signal: Signal{Event: Stopped, Client: a}, open: "x", wantOpen: "x"},
		{name: "its client goes on", signal: Signal{Event: Prompted, PromptID: "y", Client: a}, open: "x", wantOpen: "x"},
		{name: "an unknown client goes on", signal: Signal{Event: Prompted, PromptID: "y"}, open: "x", wantOpen: "x"},
		{name: "another client begins", signal: Signal{Event: Prompted, PromptID: "y", Client: b}, open: "x", wantBeside: "x"},
		{name: "another client begins, and gives no ids", signal: Signal{Event: Prompted, Client: b}, open: "-", wantBeside: "-"},
		{name: "the first is dead", signal: Signal{Event: Prompted, PromptID: "y", Client: b}, open: "x", dead: true, wantOpen: "x"},
		{name: "the one beside ends", signal: Signal{Event: Stopped, PromptID: "y", Client: b}, open: "x", beside: "y", wantOpen: "y", wantBeside: "x"},
		{name: "the one beside ends, of which the client is not told", signal: Signal{Event: Erred, PromptID: "y"}, open: "x", beside: "y", wantOpen: "y", wantBeside: "x"},
		{name: "the one beside ends, without ids", signal: Signal{Event: Stopped, Client: b}, open: "-", beside: "-", wantOpen: "-", wantBeside: "-"},
		{name: "the open one ends", signal: Signal{Event: Stopped, PromptID: "x", Client: a}, open: "x", beside: "y", wantOpen: "x", wantBeside: "y"},
		{name: "one goes on whose turn is beside", signal: Signal{Event: Prompted, PromptID: "z", Client: b}, open: "x", beside: "y", wantOpen: "y", wantBeside: "x"},
		{name: "a third begins", signal: Signal{Event: Prompted, PromptID: "z", Client: c}, open: "x", beside: "y", wantBeside: "yx"},
		{name: "one ends that has nothing to do", signal: Signal{Event: Ended, Client: b}, open: "x", wantOpen: "x", nothing: true},
		{name: "one ends in its turn", signal: Signal{Event: Ended, Client: b}, open: "x", beside: "y", wantOpen: "y", wantBeside: "x"},
		{name: "the last turn goes on", signal: Signal{Event: Stopped, PromptID: "w", Client: b, Again: true}, open: "x", last: "w", wantBeside: "x"},
		{name: "a turn ends that nobody knows", signal: Signal{Event: Stopped, PromptID: "w", Client: b}, open: "x", wantOpen: "x"},
	} {
		st := session.Known{Client: a}
		if tt.open != "" {
			st.Open = &session.OpenTurn{PromptID: tt.open}
		}
		if tt.beside != "" {
			st.Beside = []session.OpenTurn{{PromptID: tt.beside, Client: b}}
		}
		if tt.last != "" {
			st.Last = &session.LastTurn{PromptID: tt.last}
		}
		if tt.open == "-" { // no ids
			st.Open.PromptID = ""
		}
		if tt.beside == "-" {
			st.Beside[0].PromptID = ""
		}
		now, ok := turnTo(tt.signal, st, func(session.Client) bool { return !tt.dead })
		name := func(o *session.OpenTurn) string {
			if o.PromptID == "" {
				return "-"
			}
			return o.PromptID
		}
		open, beside := "", ""
		if now.Open != nil {
			open = name(now.Open)
		}
		for _, o := range now.Beside {
			beside += name(&o)
		}
		if open != tt.wantOpen || beside != tt.wantBeside || ok == tt.nothing {
			t.Errorf("%s: open is %q, beside %q, %t; want %q, %q", tt.name, open, beside, ok, tt.wantOpen, tt.wantBeside)
		}
		if len(st.Beside) > 0 && st.Beside[0].PromptID != "y" && tt.beside == "y" {
			t.Errorf("%s: the state was changed", tt.name)
		}
	}
}
