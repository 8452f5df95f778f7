package command

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/test/gittest"
	"gitagent/turns"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// What a person is told of a stranger's mission before the question whether to accept it.
func TestReview(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("file", "one\n")
	base := repo.Commit("base")
	repo.Write("file", "two\n")
	repo.Write(".envrc", "evil \x1b[2J\n")
	repo.Write("large", strings.Repeat("line\n", 500))
	theirs := repo.Commit("theirs")
	t.Chdir(repo.Dir)
	g, err := git.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree := func(commit string) object.Hash { return object.NewHash(repo.Git("rev-parse", commit+"^{tree}")) }
	differ := func(paths ...string) (list []gitdiff.Difference) {
		for _, p := range paths {
			list = append(list, gitdiff.Difference{Path: p})
		}
		return list
	}
	many := func(n int) (paths []string) {
		for i := range n {
			paths = append(paths, fmt.Sprintf("%03d/.envrc", i))
		}
		return paths
	}
	by := map[string]string{".envrc": "direnv", "large": "make", "\x1b[2J": "a shell"}
	for _, p := range many(102) {
		by[p] = "direnv"
	}
	const (
		head  = "mission deadbeef is not signed by a key you trust. Its commits say Eve \\x1b[2J <eve@example.invalid>, which anyone can write. "
		read  = "Read what was said with: git agent-turn list --mission deadbeef git agent-handoff list --mission deadbeef "
		these = "These of its files differ from HEAD, and are run or obeyed by themselves: "
	)
	for _, tt := range []struct {
		name     string
		r        review
		want     string
		unwanted string
	}{
		{
			"nothing is obeyed",
			review{whole: true},
			head + "It has 0 turns, and 0 handoffs, that you have not accepted. " + read +
				"Of its files that differ from HEAD none is one that an agent's client, an editor, a shell or git obeys by itself.",
			"These",
		},
		{
			"not all is known",
			review{handoffs: 1},
			"It has 0 turns, and 1 handoff, that you have not accepted. " + read + these + "There are too many files to look at all of them.", "none is one",
		},
		{
			"turns",
			review{whole: true, turns: []*turns.Turn{{At: time.Now().Add(-time.Hour)}, {At: time.Now().Add(-72*time.Hour - time.Minute)}}},
			"It has 2 turns, the last 3d ago, and 0 handoffs,", "These",
		},
		{
			"one is obeyed",
			review{whole: true, obeyed: differ(".envrc")},
			these + ".envrc (direnv; turn deadbeef/1) turn deadbeef/1 diff --git a/.envrc b/.envrc", "large",
		},
		{
			"what it has is escaped",
			review{whole: true, obeyed: differ(".envrc", "\x1b[2J")},
			`+evil \x1b[2J`, "\x1b",
		},
		{"names are escaped", review{whole: true, obeyed: differ("\x1b[2J")}, `\x1b[2J (a shell; turn deadbeef/1)`, "\x1b"},
		{"as many as are listed", review{whole: true, obeyed: differ(many(100)...)}, "099/.envrc (direnv; turn deadbeef/1)", "more"},
		{"more than are listed", review{whole: true, obeyed: differ(many(102)...)}, "099/.envrc (direnv; turn deadbeef/1) and 2 more", "100/.envrc"},
		{
			"a long diff",
			review{whole: true, obeyed: differ("large")},
			"+line There is more; all of it: git diff " + tree(base).String() + " " + tree(theirs).String(), "too many",
		},
	} {
		r := tt.r
		r.repo, r.by, r.of = g, by, []string{"turn deadbeef/1"}
		r.base, r.trees = tree(base), []object.Hash{tree(theirs)}
		r.ledger = &ledger.Ledger{ID: "deadbeef"}
		r.author = object.Signature{Name: "Eve \x1b[2J", Email: "eve@example.invalid"}
		var printed bytes.Buffer
		if err := r.print(cli.NewContext(&cli.App{ErrWriter: &printed}, nil, &cli.Context{Context: t.Context()})); err != nil {
			t.Fatal(tt.name, err)
		}
		got := strings.Join(strings.Fields(printed.String()), " ")
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.unwanted) {
			t.Errorf("%s: it says\n%s\nwant\n%s\nnot %q", tt.name, printed.String(), tt.want, tt.unwanted)
		}
		if tt.name == "a long diff" {
			if n := strings.Count(printed.String(), "+line\n"); n > maxShown || n < maxShown-20 {
				t.Errorf("%s: %d lines of the file", tt.name, n)
			}
		}
	}
}
