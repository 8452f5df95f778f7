package places

import (
	"path/filepath"
	"testing"
	"time"
)

// TestWithheld: what a session did while recording was off, and nothing else, is withheld.
func TestWithheld(t *testing.T) {
	at := func(s int) time.Time { return time.UnixMilli(1_800_000_000_000).Add(time.Duration(s) * time.Second) }
	p := Of(env(map[string]string{"XDG_STATE_HOME": filepath.Join(t.TempDir(), "state")}))
	for _, e := range []func() error{
		func() error { return p.Withhold("s", "p1", at(100), true) }, // a turn
		func() error { return p.Withhold("s", "p1", at(110), false) },
		func() error { return p.Withhold("s", "", at(200), true) }, // one without an id
		func() error { return p.Withhold("s", "", at(210), false) },
		func() error { return p.Resume("s", at(300)) },
		func() error { return p.Withhold("s", "p3", at(310), false) }, // the rest of one
		func() error { return p.Withhold("s", "p3", at(320), false) },
	} {
		if err := e(); err != nil {
			t.Fatal(err)
		}
	}
	w := p.Withheld("s")
	for _, tt := range []struct {
		name, prompt string
		at           time.Time
		turn, said   bool
	}{
		{"before", "p0", at(50), false, false},
		{"by its id", "p1", at(50), true, false},
		{"within", "p1", at(105), true, true},
		{"another, by its id", "p2", at(105), false, true},
		{"noted before its event", "", at(200).Add(-early), true, false},
		{"without an id", "", at(205), true, true},
		{"when it is over", "", at(250), false, false},
		{"one that began before the rest of it", "p3", at(300), false, false},
		{"the rest", "", at(315), false, true},
		{"neither time nor id", "", time.Time{}, true, false},
		{"an id and no time", "p9", time.Time{}, true, false}, // it may be the second
	} {
		if turn, said := w.Turn(tt.prompt, tt.at), w.At(tt.at); turn != tt.turn || said != tt.said {
			t.Errorf("%s: the turn %t, want %t; what was said %t, want %t", tt.name, turn, tt.turn, said, tt.said)
		}
	}
	if !w.Open() {
		t.Error("the turn that runs is not withheld")
	}
	if err := p.Resume("s", at(400)); err != nil || p.Withheld("s").Open() {
		t.Errorf("%v: a turn that is recorded is withheld", err)
	}
	if p.Withheld("other") != nil {
		t.Error("another session is withheld")
	}
	copied := p.WithheldBefore()
	if !copied.Turn("", at(100)) || copied.Turn("", at(105)) || copied.At(at(105)) {
		t.Error("of a copy only prompts of the same time are withheld")
	}
	if len(parseWithheld("\nx\n1\n2 what\n3 resumed\n")) != 0 {
		t.Error("a line that says nothing withholds something")
	}
}
