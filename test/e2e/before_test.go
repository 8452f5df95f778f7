//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
)

// What a person has unsaved in the worktree is kept before a command that takes it away, once for each command, as the
// client says which it runs, and as no other hook of ours sees it. The turn has it, by the name of a step.
func TestBeforeCommand(t *testing.T) {
	r := newNightly(t)
	r.withoutBatches()
	const work = "one line\nand another\nand a third\nand a fourth\n"
	r.repo.Write("tracked.txt", "as committed\n")
	r.repo.Commit("tracked")
	slow, more := r.gate("slow"), r.gate("more")
	r.mock.play(on("TTOOL",
		bash(slow.wait()), bash("ls"), bash("rm unsaved.txt"), bash(more.wait()),
		bash("git stash"), bash("echo $(rm untracked.txt)"), bash("true && (git checkout -q -- . ; echo gone)"), say("done")))
	h := r.startClaude(r.repo.Dir, "TTOOL hello")
	slow.reached()
	r.repo.Write("unsaved.txt", work)
	slow.open()
	more.reached()
	if _, err := os.Stat(filepath.Join(r.repo.Dir, "unsaved.txt")); err == nil {
		t.Error("the file is still there")
	}
	r.repo.Write("tracked.txt", "not\n"+work)
	r.repo.Write("untracked.txt", "also\n"+work)
	more.open()
	h.wait()
	h.ok().quiet()
	for _, x := range h.hooks {
		if x.Event == "PreToolUse" && (x.ExitCode != 0 || x.Stdout != "" || x.Stderr != "") {
			t.Errorf("a hook was heard: %+v", x)
		}
	}
	repo, err := git.Find(r.repo.Dir)
	gittest.Must(t, err)
	entries, err := journal.Read(repo)
	gittest.Must(t, err)
	var seen []string
	for _, e := range entries {
		if e.Before {
			seen = append(seen, strings.Join(strings.Fields(r.repo.Git("ls-tree", "--name-only", e.Tree.String())), " "))
		}
	}
	// The last command finds what the one before has left, as the ls finds nothing that goes.
	if len(seen) != 3 && len(seen) != 4 || !strings.Contains(seen[0], "unsaved.txt") || !strings.Contains(seen[1], "untracked.txt") {
		t.Errorf("the states before commands have %q\n%s", seen, r.report())
	}
	turn := r.list()[0]
	steps := r.command(r.repo.Dir, "show", "--steps", turn.Mission+"/1")
	if strings.Count(steps, "before a command") != len(seen) {
		t.Errorf("the steps are\n%s", steps)
	}
	for path, want := range map[string]string{"unsaved.txt": work, "tracked.txt": "not\n" + work, "untracked.txt": "also\n" + work} {
		step := map[bool]string{true: "1", false: "2"}[path == "unsaved.txt"]
		r.command(r.repo.Dir, "restore", turn.Mission+"/1."+step, "--", path)
		if got := r.repo.Read(path); got != want {
			t.Errorf("%s comes back as %q", path, got)
		}
	}
}

// withoutBatches takes the hook after tools out of the settings.
func (r *rig) withoutBatches() {
	r.t.Helper()
	var settings map[string]any
	data, err := os.ReadFile(r.settings())
	gittest.Must(r.t, err)
	gittest.Must(r.t, json.Unmarshal(data, &settings))
	delete(settings["hooks"].(map[string]any), "PostToolBatch")
	data, err = json.Marshal(settings)
	gittest.Must(r.t, err)
	replaceFile(r.t, r.settings(), data)
}
