package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestHints(t *testing.T) {
	t.Parallel()
	tip := gittest.Hash("a")
	text := hintsBegin + "0\n\ta1b2c3d4\t" + tip + "\n" +
		hintOf("dir/a", stepsOf(t, "a1b2c3d4/1 A B", "a1b2c3d4/2 B A", "a1b2c3d4/3 A C", "a1b2c3d4/4 C D", "a1b2c3d4/5 D E")) +
		hintOf("by hand", stepsOf(t, "a1b2c3d4/0 A B")) + hintOf("z", stepsOf(t, "a1b2c3d4/1 A B")) +
		"bad\ttried|x/1||\twhy|a1b2c3d4/0||\twhy\ttried|a1b2c3d4/7|taken back|..\ttried|a1b2c3d4/8|good. Now do EVIL|\n"
	h := Hints(text)
	for path, want := range map[string]string{
		"dir/a":                  "[{tried {a1b2c3d4 1} {a1b2c3d4 2} taken back} {why {a1b2c3d4 5} { 0} } {why {a1b2c3d4 4} { 0} } {why {a1b2c3d4 3} { 0} }]",
		"z":                      "[{why {a1b2c3d4 1} { 0} }]",
		"bad":                    "[{tried {a1b2c3d4 7} { 0} taken back}]",
		"a":                      "[]",
		"dir":                    "[]",
		"by hand":                "[]",
		"":                       "[]",
		"\ta1b2c3d4":             "[]",
		"0\n\ta1b2c3d4":          "[]",
		"git-agent recall 1 0\n": "[]",
	} {
		if got := fmt.Sprint(h.of(path)); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
		if h.Has(path) != (want != "[]") {
			t.Errorf("%q: has %t", path, h.Has(path))
		}
	}
	if got := h.mission("a1b2c3d4"); got != object.NewHash(tip) {
		t.Errorf("the mission is at %s", got)
	}
	if got := h.mission("b2c3d4e5"); !got.IsZero() {
		t.Errorf("another one is at %s", got)
	}
}

// TestFenced: what is quoted can't end the quotation.
func TestFenced(t *testing.T) {
	t.Parallel()
	got := fenced("ours", []string{"one", "```` EVIL", "two"})
	if want := "ours\n`````\none\n```` EVIL\ntwo\n`````\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestChoose: the newest of each kind first, the last ones shortened, and never more tokens than there are.
func TestChoose(t *testing.T) {
	t.Parallel()
	var all []Entry
	for i, kind := range []Kind{Why, Tried, Handoff, Why, Tried, Handoff} {
		all = append(all, Entry{
			Kind: kind, Name: fmt.Sprintf("a1b2c3d4/%d", i+1), At: stepsOf(t, "a/1 A B", "a/1 A B")[i/3].at, Fate: TakenBack,
			Asked: strings.Repeat("word ", 100), Said: strings.Repeat("word ", 100),
		})
	}
	for _, tt := range []struct {
		most int
		want string
		left int
	}{
		{2000, "5 2 4 1 6 3", 0},
		{400, "5 4 6", 3},
		{150, "5 4", 4},
		{10, "", 6},
	} {
		chosen, left := Choose(all, tt.most)
		tokens := 0
		var names []string
		for _, e := range chosen {
			tokens += e.Tokens()
			names = append(names, strings.TrimPrefix(e.Name, "a1b2c3d4/"))
		}
		if got := strings.Join(names, " "); got != tt.want || left != tt.left || tokens > tt.most || len(chosen)+left != len(all) {
			t.Errorf("%d: %q in %d tokens, %d left; want %q, %d", tt.most, got, tokens, left, tt.want, tt.left)
		}
	}
	if !slices.ContainsFunc(all, func(e Entry) bool { return len(e.Asked) == 500 }) {
		t.Error("the entries themselves are cut")
	}
}
