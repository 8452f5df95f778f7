package gitdiff_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
)

func TestTouch(t *testing.T) {
	r := gittest.New(t)
	hex := func(rev string) object.Hash { return object.NewHash(r.Git("rev-parse", rev)) }
	r.Write("a.txt", "a\n")
	r.Write("src/b.go", "b\n")
	r.Write("src/deep/ü\n.go", "c\n")
	r.Commit("first")
	first := hex("HEAD")
	r.Write("src/b.go", "b\nb\n")
	r.Write("src/deep/ü\n.go", "c\nc\n")
	r.Commit("second")
	second := hex("HEAD")
	r.Git("mv", "a.txt", "src/moved.txt")
	r.Commit("third")
	third := hex("HEAD")
	missing := object.NewHash(gittest.Hash("ff"))
	gittest.Must(t, os.MkdirAll(filepath.Join(r.Dir, "src", "deep"), 0o755))
	for _, tt := range []struct {
		dir      string
		paths    []string
		from, to object.Hash
		want     bool
	}{
		{".", []string{"a.txt"}, first, second, false},
		{".", []string{"a.txt"}, first, third, true},
		{".", []string{"a.txt"}, second, third, true},
		{".", []string{"a.txt"}, third, first, true},
		{".", []string{"src"}, first, second, true},
		{".", []string{"src"}, first, first, false},
		{".", []string{"*.go"}, first, second, true},
		{".", []string{"*.go"}, second, third, false},
		{".", []string{"*.go", ":!src"}, first, second, false},
		{".", []string{"gone", "src/deep/ü\n.go"}, first, second, true},
		{"src", []string{"b.go"}, first, second, true},
		{"src", []string{"a.txt"}, first, third, false},
		{"src", []string{"../a.txt"}, first, third, true},
		{"src/deep", []string{"."}, first, second, true},
		{"src/deep", []string{"."}, second, third, false},
		{"src/deep", []string{":/a.txt"}, second, third, true},
	} {
		t.Chdir(filepath.Join(r.Dir, tt.dir))
		repo, err := git.Open(context.Background())
		gittest.Must(t, err)
		touch, err := gitdiff.NewTouch(context.Background(), repo, tt.paths)
		gittest.Must(t, err)
		for range 2 { // it can be asked again, also after what it can't answer
			if got, err := touch.Between(tt.from, tt.to); got != tt.want || err != nil {
				t.Errorf("%s %q: %t, %v, want %t", tt.dir, tt.paths, got, err, tt.want)
			}
			if _, err := touch.Between(missing, tt.to); err == nil {
				t.Error("no error for a commit that is missing")
			}
		}
		if _, err := touch.Between(tt.from, missing); err == nil {
			t.Error("no error for a commit that is missing")
		}
		touch.Close()
	}
	t.Chdir(r.Dir)
	repo, err := git.Open(context.Background())
	gittest.Must(t, err)
	if _, err := gitdiff.NewTouch(context.Background(), repo, []string{"../outside"}); err == nil {
		t.Error("no error for a path outside")
	}
}
