package workspace_test

import (
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestLeftOut: what is left out is told by its reason, what is excluded not, and remedies can be typed.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	list := open(t, gittest.New(t)).LeftOut([]record.Skip{
		{Path: "build/x", Why: record.WhyExcluded},
		{Path: "a", Why: record.WhySize},
		{Path: "b*\x1b[1m", Why: record.WhySize},
		{Path: "c", Why: record.WhySize},
		{Path: "d", Why: record.WhySize},
		{Path: "e/", Why: record.WhyTooMany},
		{Path: "f\n", Why: record.WhySecret},
		{Path: "g", Why: record.WhyPurged},
	})
	var got []string
	for _, l := range list {
		got = append(got, l.Why)
		if strings.ContainsAny(l.Why, " /") || strings.ContainsAny(l.Text, "\x1b\n") {
			t.Errorf("%+v", l)
		}
		if l.Asked == (l.Why == "purged") {
			t.Errorf("%s: asked %t", l.Why, l.Asked)
		}
	}
	if want := "purged size too-many secret"; strings.Join(got, " ") != want {
		t.Fatalf("got %q, want %s", got, want)
	}
	if text := list[1].Text; !strings.HasPrefix(text, `a, b*\x1b[1m, c and 1 more are not recorded as they are: `) {
		t.Errorf("%q", text)
	}
	if remedy := list[2].Remedy; !strings.HasPrefix(remedy, `printf '%s\n' /e/ >>/`) {
		t.Errorf("%q", remedy)
	}
	if remedy := list[3].Remedy; remedy != "" {
		t.Errorf("a name that no line can have is ignored by %q", remedy)
	}
}
