package main

import (
	"slices"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// TestMeasure counts what `git ls-remote` of these refs would send.
func TestMeasure(t *testing.T) {
	t.Parallel()
	h := object.NewHash("1111111111111111111111111111111111111111")
	m := measure(map[string]object.Hash{
		"refs/agent/missions/a1b2c3d4": h, "refs/notes/agent/a1b2c3d4": h, "refs/heads/my/agent/a1b2c3d4": h,
		"refs/agent/missions/b1b2c3d4": h,
		"refs/notes/agent/c1b2c3d4":    h, // without a ledger
	}, "my/agent/")
	line := func(ref string) int64 { return int64(len("004a" + h.String() + " " + ref + "\n")) }
	if n := m.missions(); n != 2 || m.refs != 5 {
		t.Errorf("%d missions, %d refs", n, m.refs)
	}
	a := m.of["a1b2c3d4"]
	want := line("refs/agent/missions/a1b2c3d4") + line("refs/notes/agent/a1b2c3d4") + line("refs/heads/my/agent/a1b2c3d4")
	if a.refs != 3 || a.ledger != h || a.advertised != want {
		t.Errorf("a1b2c3d4: %+v, want 3 refs and %d bytes", a, want)
	}
	if want += line("refs/agent/missions/b1b2c3d4") + line("refs/notes/agent/c1b2c3d4"); m.advertised != want {
		t.Errorf("%d bytes, want %d", m.advertised, want)
	}
	for most, want := range map[int][]record.ID{1: {"a1b2c3d4"}, 2: {"a1b2c3d4", "b1b2c3d4"}, 100: {"a1b2c3d4", "b1b2c3d4"}} {
		if got := sample(m, most); !slices.Equal(got, want) {
			t.Errorf("a sample of %d: %v, want %v", most, got, want)
		}
	}
}

func TestArchiving(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refs  int
		level severity
	}{{2, fine}, {manyRefs - 1, fine}, {manyRefs, warning}} {
		f := archiving(500, cost{refs: tt.refs, advertised: 72_000})
		if f.Level != tt.level || (f.Remedy == "git agent-turn archive") != (tt.level == warning) || f.Figures["refs"] != int64(tt.refs) {
			t.Errorf("%d refs: %+v", tt.refs, f)
		}
	}
}
