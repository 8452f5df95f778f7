package git_test

import (
	"context"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

func TestAsUser(t *testing.T) {
	r := gittest.New(t)
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("GIT_TERMINAL_PROMPT", "1")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	script := `!echo "$LC_ALL/$GIT_TERMINAL_PROMPT/$GIT_NO_REPLACE_OBJECTS/$GIT_NO_LAZY_FETCH"`
	for _, tt := range []struct {
		repo *git.Repo
		want string
	}{{repo, "C/0/1/1"}, {repo.With(git.AsUser), "de_DE.UTF-8/1//"}} {
		out, err := tt.repo.Output(context.Background(), nil, "-c", "alias.env="+script, "env")
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("git runs with %s, %v, want %s", got, err, tt.want)
		}
	}
}
