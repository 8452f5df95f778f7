package turns_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// TestConversations reads segments in the order that was announced, in another one, and where some can't be read.
func TestConversations(t *testing.T) {
	t.Parallel()
	l, list := talked(t, "one", "two", "six", "ten")
	read := func(repo *git.Repo, most int64, announced, order []*turns.Turn) (texts []string, errs []error) {
		c, err := turns.OpenConversations(t.Context(), repo, list[0].Mission, announced, most)
		gittest.Must(t, err)
		defer c.Close()
		for _, turn := range order {
			text, err := c.Segment(turn)
			texts, errs = append(texts, string(text)), append(errs, err)
		}
		return texts, errs
	}
	want, errs := read(l.GitRepo(), 1<<20, nil, list)
	for i, text := range want {
		if errs[i] != nil || !strings.Contains(text, list[i].Prompt) {
			t.Fatalf("turn %d: %q, %v", i+1, text, errs[i])
		}
	}
	if got, errs := read(l.GitRepo(), 1<<20, list, list); !slices.Equal(got, want) || errors.Join(errs...) != nil {
		t.Errorf("in order: %q, %v", got, errs)
	}
	if got, errs := read(l.GitRepo(), 1<<20, list, []*turns.Turn{list[0], list[2], list[1], list[1]}); !slices.Equal(got, []string{want[0], want[2], want[1], want[1]}) || errors.Join(errs...) != nil {
		t.Errorf("in another order: %q, %v", got, errs)
	}
	_, alone := read(l.GitRepo(), 10, nil, list)
	if _, errs := read(l.GitRepo(), 10, list, list); !errors.Is(errs[0], git.ErrTooLarge) || errs[0].Error() != alone[0].Error() {
		t.Errorf("too large: %v, want %v", errs[0], alone[0])
	}

	// One that is lost or damaged takes no other along.
	where := gittest.New(t)
	where.Git("-c", "fetch.unpackLimit=1000", "fetch", "-q", l.Dir, "refs/agent/*:refs/agent/*")
	for i, spoil := range []func(string) error{os.Remove, func(file string) error {
		return errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("damaged"), 0o600))
	}} {
		hash := where.Git("rev-parse", list[0].Mission.Ref()+":"+ledger.TurnPath("transcript", i+2, ".jsonl"))
		gittest.Must(t, spoil(filepath.Join(where.Dir, ".git/objects", hash[:2], hash[2:])))
	}
	repo, err := git.Find(where.Dir)
	gittest.Must(t, err)
	got, errs := read(repo, 1<<20, list, list)
	if !slices.Equal(got, []string{want[0], "", "", want[3]}) || errs[1] == nil || errs[2] == nil {
		t.Errorf("with two that can't be read: %q, %v", got, errs)
	}
	if _, alone := read(repo, 1<<20, nil, list); errs[1].Error() != alone[1].Error() || errs[2].Error() != alone[2].Error() {
		t.Errorf("their errors are %v, want %v", errs, alone)
	}
}
