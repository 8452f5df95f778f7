//go:build unix

package readers

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

var got = tool{name: "got", program: inSid("got", "python3", "-c", cleanup), nightly: true, loses: "linked index reflog"}

const cleanup = `import os, sys; os.execvp("gotadmin", ["gotadmin", "cleanup", "-a", "-q", "-r", sys.argv[2] + "/.git"])`

// What is recorded stays when a tool collects garbage, of any age: also a mission
// whose refs something has deleted, which only its keeper has then. What it takes
// of the user's, of what git keeps, is what docs/other-tools.md says.
func TestCollect(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tool := range append([]tool{got}, tools...) {
		if tool.loses+tool.stuck == "" {
			continue
		}
		t.Run(tool.name, func(t *testing.T) {
			if tool.nightly {
				gittest.Nightly(t)
			}
			w := newWorld(t, "sha1", "files")
			linked := w.In(filepath.Join(w.home, "linked"))
			w.Git("worktree", "add", "-q", "--detach", linked.Dir)
			held := map[string]string{"linked": "", "index": "", "reflog": w.Git("commit-tree", "-m", "reflog", "HEAD^{tree}")}
			linked.Write("linked", "linked\n")
			held["linked"] = linked.Commit("linked")
			gittest.Must(t, os.RemoveAll(filepath.Join(w.Dir, ".git/worktrees/linked/logs")))
			w.Write("staged", "staged\n")
			w.Git("add", "staged")
			held["index"] = w.Git("rev-parse", ":staged")
			w.Git("update-ref", "--create-reflog", "refs/heads/moved", held["reflog"])
			w.Git("update-ref", "refs/heads/moved", "HEAD")
			missions := strings.Fields(w.Git("for-each-ref", "--format=%(refname)", "refs/agent/missions"))
			tips := w.Git("for-each-ref", "--format=%(objectname)", "refs/agent", "refs/notes/agent")
			for _, mission := range missions {
				w.Git("update-ref", "-d", mission)
			}
			long := time.Now().AddDate(0, -2, 0)
			gittest.Must(t, filepath.WalkDir(filepath.Join(w.Dir, ".git/objects"), func(path string, _ fs.DirEntry, err error) error {
				if err == nil {
					err = os.Chtimes(path, long, long)
				}
				return err
			}))

			for range 2 { // JGit makes packs loose first
				out, err := tool.run(t, w, "collect", w.Dir)
				if (err != nil) != (tool.stuck != "") || !strings.Contains(out, tool.stuck) {
					t.Fatalf("it says %v: %s\nwant %q", err, out, tool.stuck)
				}
			}
			if out := w.Pipe(tips+"\n", "cat-file", "--batch-check"); strings.Contains(out, "missing") {
				t.Errorf("of what is recorded is gone:\n%s", out)
			}
			var lost []string
			for _, what := range []string{"linked", "index", "reflog"} {
				if _, err := w.Try("cat-file", "-e", held[what]); err != nil {
					lost = append(lost, what)
				}
			}
			if now := strings.Join(lost, " "); now != tool.loses {
				t.Errorf("of the user's it takes %q, want %q: see docs/other-tools.md", now, tool.loses)
			}
			w.Git("worktree", "remove", "--force", linked.Dir)
			w.Git("reset", "-q", "--hard")
			w.run("", "git-agent-turn", "list", "--all")
			for _, mission := range missions {
				w.Git("rev-list", "--objects", mission)
			}
			w.Git("reflog", "expire", "--all", "--expire=now")
			w.Git("gc", "-q", "--prune=now")
			w.Git("fsck", "--strict", "--no-dangling")
		})
	}
}
