package workspace_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
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

// TestShutOut: of many files some are compared with a repository's patterns, which may be as many as the file has room for.
func TestShutOut(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	blob := r.Pipe("", "hash-object", "-w", "--stdin")
	var index strings.Builder
	for n := range 5000 {
		fmt.Fprintf(&index, "100644 %s\tf%04d\n", blob, n)
	}
	r.Pipe(index.String(), "update-index", "--add", "--index-info")
	r.Write(".git-agent.toml", "[capture]\nexclude = ['*']\n")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	settings, err := config.Load("", filepath.Join(r.Dir, config.RepoFile))
	gittest.Must(t, err)
	left, err := workspace.New(repo, settings).ShutOut(t.Context(), []record.Skip{{Path: "new", Why: record.WhyExcluded}})
	gittest.Must(t, err)
	if left == nil || !strings.Contains(left.Text, " 834 of the 834 here") {
		t.Errorf("it says %+v", left)
	}
}
