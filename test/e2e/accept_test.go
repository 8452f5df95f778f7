//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A stranger's mission is accepted by a person in a terminal, and not by what an agent runs there.
func TestAccept(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	r.generate(numbered(3))
	gittest.Must(t, os.Remove(filepath.Join(r.repo.Dir, ".git", "agent", "trust", generated)))
	accept := func(env []string) *terminal {
		dir, err := os.MkdirTemp(r.tmp, "") // a server of its own
		gittest.Must(t, err)
		env = append(env, "TMUX_TMPDIR="+dir)
		return newTerminal(t, env, r.repo.Dir, "git-agent-turn", "trust", "accept", generated)
	}
	usable := func() error {
		_, err := r.tryCommand(r.repo.Dir, "restore", "--dry-run", generated+"/2")
		return err
	}
	if err := usable(); err == nil || !strings.Contains(err.Error(), "not signed by a key you trust") {
		t.Errorf("restore of a stranger's turn: %v", err)
	}
	for _, agent := range []string{"CLAUDECODE=1", "CODEX_THREAD_ID=x", "AI_AGENT=x"} {
		term := accept(append(r.env(), agent))
		r.await("the refusal", term.dead)
		mark, _, _ := strings.Cut(agent, "=")
		if screen := term.screen(); !strings.Contains(screen, "env -u "+mark+" git -C ") || strings.Contains(screen, "[yes/no]") {
			t.Errorf("%s: the screen is\n%s", agent, screen)
		}
	}
	for _, answer := range []string{"no", "yes"} {
		if err := usable(); err == nil {
			t.Errorf("before %q it is usable", answer)
		}
		term := accept(r.env())
		r.await("the question", func() bool { return strings.Contains(term.screen(), "[yes/no]") })
		term.keys(answer, "Enter")
		r.await("the end", term.dead)
	}
	if err := usable(); err != nil {
		t.Error(err)
	}
}
