package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
)

// On a terminal a word diff says what git's own says to people, whatever is in the files.
func TestWordDiffIsGits(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"one", "two", "~", "-", "+", "{+a+}", "[-b-]", "@@ -1 +1 @@", "diff --git a/a b/a", "\t", " ", "\\", "", "ä"}
	text := func() string {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(words[random.IntN(len(words))])
			b.WriteString([]string{" ", "\n", "", "\n\n"}[random.IntN(4)])
		}
		return b.String()
	}
	var commits []object.Hash
	for range 2 {
		for i := range 60 {
			r.Write(fmt.Sprintf("file %d", i), text())
		}
		commits = append(commits, object.NewHash(r.Commit("some")))
	}
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	for _, options := range [][]string{nil, {"-U0"}, {"-w"}, {"--stat", "-p"}} {
		var want, got bytes.Buffer
		gittest.Must(t, gitdiff.Diff(t.Context(), repo, &want, commits[0], commits[1], append(options[:len(options):len(options)], "--word-diff=plain"), nil))
		d := cmdline.NewWordDiff(&got)
		gittest.Must(t, gitdiff.Diff(t.Context(), repo, d, commits[0], commits[1], append(options[:len(options):len(options)], "--word-diff=porcelain"), nil))
		gittest.Must(t, d.Flush())
		if cmdline.EscapeLines(want.String()) != got.String() || want.Len() == 0 {
			t.Errorf("%q: got\n%s\nwant\n%s", options, &got, &want)
		}
	}
}
