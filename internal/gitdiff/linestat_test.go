package gitdiff

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestStatEqualsGit compares random edits with the output of `git diff-tree --numstat`.
func TestStatEqualsGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	rnd := rand.New(rand.NewSource(1))
	content := func(lines int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "line %d\n", rnd.Intn(lines*2))
		}
		return b.String()
	}
	edit := func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		for range 1 + rnd.Intn(6) {
			switch i := rnd.Intn(len(lines)); rnd.Intn(3) {
			case 0:
				lines[i] = fmt.Sprintf("changed %d\n", rnd.Intn(1000))
			case 1:
				lines[i] = ""
			default:
				lines[i] += fmt.Sprintf("line %d\n", rnd.Intn(200))
			}
		}
		return strings.Join(lines, "")
	}
	files := map[string]string{"bin": "a\x00b", "d/e/x": content(80), "d/y": content(300), "no newline": "a\nb", "gone": "x\n", "z": content(40)}
	for name, text := range files {
		r.Write(name, text)
	}
	r.Commit("0")
	ctx := context.Background()
	repo := find(t, r)
	for round := range gittest.Size(40, 10) {
		for name, text := range files {
			if name != "bin" && rnd.Intn(2) == 0 {
				files[name] = edit(text)
				r.Write(name, files[name])
			}
		}
		r.Write("bin", fmt.Sprintf("a\x00%d", round))
		r.Write(fmt.Sprintf("new/%d", round), content(3))
		r.Commit("next")
		from, to := object.NewHash(r.Git("rev-parse", "HEAD~^{tree}")), object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))
		o := repo.Objects(ctx)
		got, ok, err := Stat(o, from, to)
		o.Close()
		if err != nil || !ok {
			t.Fatalf("Stat: %v, ok %v", err, ok)
		}
		want, err := Trees(ctx, repo, from, to)
		gittest.Must(t, err)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("round %d: Stat = %v\ngit says %v", round, got, want)
		}
	}
}

func TestStatLeavesLargeToGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	for i := range maxStatFiles + 1 {
		r.Write(fmt.Sprint(i), "x\n")
	}
	r.Commit("many")
	o := find(t, r).Objects(context.Background())
	defer o.Close()
	if _, ok, err := Stat(o, object.Hash{}, object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))); ok || err != nil {
		t.Errorf("Stat of %d files: ok %v, %v; want it left to git", maxStatFiles+1, ok, err)
	}
}
