package powers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/power"
	"gitagent/test/gittest"
)

const (
	strange = "cccccccc"
	word    = "xyzzyword" // what a stranger says, in all places
)

// stranger brings a mission of somebody who is not trusted, and returns their clone.
func (w *world) stranger() *world {
	w.t.Helper()
	s := &world{w.t, gittest.TempDir(w.t)}
	gittest.Must(w.t, os.MkdirAll(filepath.Join(s.home, ".config", "git-agent"), 0o755))
	gittest.Key(s.home, "stranger")
	s.must("", "git", "clone", "-q", filepath.Join(w.home, "remote"), "repo")
	s.must("repo", "git", "checkout", "-q", "-b", "main")
	s.write("repo/file", "first\n")
	s.must("repo", "git", "add", "file")
	s.must("repo", "git", "commit", "-q", "-m", "first")
	s.must("repo", "git", "agent-turn", "init")
	s.write("repo/"+word, word+"\n")
	s.must("repo", "git", "agent-turn", "record", "--mission", strange, "--prompt", word, "--reply", word)
	s.must("repo", "git", "agent-handoff", "write", "--mission", strange, "--summary", word)
	s.must("repo", "git", "push", "-q", "origin", "refs/agent/missions/"+strange, "refs/notes/agent/"+strange)
	w.must("repo", "git", "agent-turn", "fetch", "origin")
	return s
}

// TestStranger: no command tells an agent what a stranger says.
func TestStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stranger()
	if said := w.as(power.Script, "git", "agent-turn", "show", strange+"/1"); !strings.Contains(said, word) {
		t.Fatalf("there is no such mission: %s", said)
	}
	for _, line := range []string{
		"agent-turn", "agent-turn missions", "agent-turn missions --json", "agent-turn missions --tree", "agent-turn tree",
		"agent-turn list --all", "agent-turn list --all --json", "agent-turn list --all --states", "agent-turn list --mission " + strange,
		"agent-turn list --all --trusted=false", "agent-turn list --all --grep " + word[:5], "agent-turn list --archived --all",
		"agent-turn show " + strange + "/1", "agent-turn show --json " + strange + "/1", "agent-turn show --conversation " + strange + "/1",
		"agent-turn show --transcript " + strange + "/1", "agent-turn show agent/mission/" + strange, "agent-turn show --trusted=false " + strange + "/1",
		"agent-turn search " + word[:5], "agent-turn search --json " + word[:5], "agent-turn search --mission " + strange + " " + word[:5],
		"agent-turn diff " + strange + "/1", "agent-turn diff --all " + strange + "/1",
		"agent-turn log --all", "agent-turn blame agent/mission/" + strange + " -- " + word, "agent-turn summary --full", "agent-turn summary --json",
		"agent-turn page --all", "agent-turn page " + strange, "agent-turn export", "agent-fork compare " + strange, "agent-turn restore " + strange + "/1",
		"agent-fork " + strange + "/1", "agent-turn revert " + strange + "/1",
		"agent-handoff show --mission " + strange, "agent-handoff show " + strange + "/1", "agent-handoff show --json " + strange + "/1",
		"agent-handoff show --document " + strange + "/1", "agent-handoff show --patch " + strange + "/1", "agent-handoff list --all",
		"agent-handoff list --all --json", "agent-handoff list --mission " + strange, "agent-handoff grep --mission " + strange + " " + word[:5],
		"agent-handoff grep --handoff " + strange + "/1 " + word[:5], "agent-handoff prime " + strange + "/1", "agent-handoff prime --mission " + strange,
		"agent-handoff wake --mission " + strange, "agent-handoff restore " + strange + "/1", "agent-turn doctor", "agent-turn doctor --verbose",
		"agent-turn trust", "agent-turn fetch origin", "agent-handoff context",
		"agent-turn show c --generate-bash-completion", "agent-turn show " + strange + "/ --generate-bash-completion",
		"agent-turn list --mission c --generate-bash-completion", "agent-fork c --generate-bash-completion",
		"agent-handoff show c --generate-bash-completion", "agent-handoff show --mission c --generate-bash-completion",
	} {
		if said := w.as(power.Agent, append([]string{"git"}, strings.Fields(line)...)...); strings.Contains(strings.ReplaceAll(said, strings.TrimPrefix(line, "agent-"), ""), word) {
			t.Errorf("git %s tells an agent: %s", line, said)
		}
	}
}
