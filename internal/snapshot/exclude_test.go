package snapshot

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Random patterns exclude the random files that git would ignore with them.
func TestExcludedEqualsGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	rnd := rand.New(rand.NewPCG(1, 4))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	hits := 0
	for range 60 {
		var patterns, files []string
		for range 1 + rnd.IntN(4) {
			p := pick("", "", "!") + pick("", "", "/", "**/")
			for range rnd.IntN(3) {
				p += pick("a", "b", "*", "**", "?") + "/"
			}
			p += pick("a", "b.c", "*.c", "a*", "**", "[!b]", "[a-b]", `\a`, "b", "", "#a", "x ", `y\ `) + pick("", "", "/", "  ")
			patterns = append(patterns, p)
		}
		for range 40 {
			var names []string
			for range 1 + rnd.IntN(4) {
				names = append(names, pick("a", "b", "b.c", "ab", "#a", "x", "x ", "y "))
			}
			files = append(files, strings.Join(names, "/"))
		}
		slices.Sort(files)
		files = slices.Compact(files)
		r.Write(".git/info/exclude", strings.Join(patterns, "\n")+"\n")
		out, err := r.Feed(strings.Join(files, "\x00"), "check-ignore", "--no-index", "--stdin", "-z")
		if err != nil && out != "" {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		parsed := parsePatterns(patterns)
		for _, f := range files {
			got := excluded(parsed, f)
			if got {
				hits++
			}
			if got != slices.Contains(want, f) {
				t.Errorf("%q excludes %q: %t", patterns, f, got)
			}
		}
	}
	if hits < 100 {
		t.Errorf("only %d files were excluded, so this tests nothing", hits)
	}
}
