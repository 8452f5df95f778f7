package fault

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// TestHeld lets the disk be full from any write of a fetch on, which holds what a colleague has purged of one mission and
// lets go what they have purged of another one. When there is room again, the next fetch does both.
func TestHeld(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	const secret = "hunter2-secret-key"
	bare, clone := gittest.New(t, "--bare"), gittest.New(t)
	home := gittest.TempDir(t)
	key := gittest.Key(home, "colleague")
	run := func(dir, home, stdin string, args ...string) (string, error) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, gittest.Env(home), strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(dir, home, stdin string, args ...string) string {
		t.Helper()
		out, err := run(dir, home, stdin, args...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return out
	}
	mine := gittest.TempDir(t)
	gittest.Key(mine, "dev")
	gittest.Must(t, os.WriteFile(filepath.Join(mine, ".config", "git-agent", "allowed_signers"), []byte("colleague "+key+"\n"), 0o600))
	clone.Write("file", "1\n")
	clone.Commit("first")
	clone.Git("remote", "add", "origin", bare.Dir)
	clone.Git("push", "-q", "origin", "main")
	clone.Git("config", "agent."+bare.Dir+".push", "all")
	for id, words := range map[string]string{"a1b2c3d4": "of mine", "b1b2c3d4": "use " + secret} {
		must(clone.Dir, mine, "", "git-agent-turn", "record", "--mission", id, "--prompt", words)
	}
	must(clone.Dir, mine, "", "git-agent-turn", "push")
	must(home, home, "", "git", "clone", "-q", bare.Dir, "theirs")
	theirs := filepath.Join(home, "theirs")
	must(theirs, home, "", "git", "config", "agent."+bare.Dir+".push", "all")
	must(theirs, home, "", "git-agent-turn", "fetch")
	must(theirs, home, secret, "git-agent-turn", "purge", "--fixed", "--yes")
	must(theirs, home, "", "git-agent-turn", "purge", "--mission", "a1b2c3d4", "--yes")
	must(theirs, home, "", "git-agent-turn", "purge", "--push", "--yes")

	failed := 0
	for n, over := 1, false; !over; n += *every * gittest.Size(1, 4) {
		t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
			dir := filepath.Join(gittest.TempDir(t), "full")
			must(clone.Dir, mine, "", "cp", "-a", clone.Dir, dir)
			cmd := exec.Command("git-agent-turn", "fetch")
			cmd.Dir, cmd.Env = dir, gittest.Env(mine)
			seen, err := (fault{at: n, after: true, errno: syscall.ENOSPC, in: filepath.Join(dir, ".git")}).run(t, cmd)
			if over = len(seen.Failed) == 0; over {
				return
			}
			failed++
			what := seen.Failed[0]
			if err == nil {
				t.Errorf("%s: nobody is told", what)
			}
			out, err := run(dir, mine, "", "git-agent-turn", "fetch")
			if err == nil || !strings.Contains(out, "mission a1b2c3d4: colleague has purged more of it at origin than goes here without a question: all of it, 1 turn") {
				t.Errorf("%s: then a fetch tells %v\n%s", what, err, out)
			}
			must(dir, mine, "", "git-agent-turn", "list", "--mission", "a1b2c3d4")
			if all := must(dir, mine, "", "git", "cat-file", "--batch-all-objects", "--batch"); strings.Contains(all, secret) {
				t.Errorf("%s: an object has what was purged", what)
			}
			if refs := must(dir, mine, "", "git", "for-each-ref", "refs/agent/missions"); strings.Count(refs, "\n") != 2 {
				t.Errorf("%s: the missions are\n%s", what, refs)
			}
			if _, err := os.Lstat(filepath.Join(dir, ".git/agent/purge/journal")); err == nil {
				t.Errorf("%s: a purge is not completed", what)
			}
			must(dir, mine, "", "git", "fsck", "--strict")
		})
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}
