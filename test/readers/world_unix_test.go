//go:build unix

package readers

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A world is a repository in which everything was recorded that refs of ours can
// hold.
type world struct {
	*gittest.Repo
	t    *testing.T
	home string
}

// newWorld makes the world in a format of objects and of refs.
func newWorld(t *testing.T, format, refs string) *world {
	t.Helper()
	args := []string{"--object-format=" + format}
	if out, _ := exec.Command("git", "init", "-h").Output(); bytes.Contains(out, []byte("--ref-format")) {
		args = append(args, "--ref-format="+refs)
	} else if refs != "files" {
		t.Skip("this git has no reftables")
	}
	w := &world{Repo: gittest.New(t, args...), t: t}
	w.home = filepath.Dir(w.Dir)
	w.Env = append(w.Env, "LOGNAME=dev") // dulwich asks for one to clone
	w.Write("kept", "one\n")
	w.Write("dir/edited", "one\ntwo\n")
	w.Commit("first")
	w.run("", "git-agent-turn", "init", "--agent", "claude")

	long := w.client()
	w.turn(long, "Edit the file", func() { w.Write("dir/edited", "one\n2\n"); w.Write("new", "new\n") })
	w.turn(long, "Lass es prüfen – 水", func() { long.Delegate("look around", "nothing there") })
	w.turn(long, "And a binary one", func() { w.Write("binary", "\x00\xff\x00"); w.Write("kept", secret) })
	w.run("", "git-agent-handoff", "write", "--mission", mission(long), "--summary", "half done")

	fork := filepath.Join(w.home, "fork")
	w.run("", "git-agent-fork", mission(long)+"/2", "--worktree", fork, "--print")
	w.run("", "git-agent-turn", "-C", fork, "record", "--prompt", "in the fork")

	old := w.client()
	w.turn(old, "What is archived", func() { w.Write("old", "old\n") })
	w.run("", "git-agent-turn", "archive", mission(old))
	w.run(secret, "git-agent-turn", "purge", "--fixed", "--yes")
	w.turn(long, "After the purge", func() { w.Write("new", "newer\n") })
	return w
}

const secret = "hunter2-hunter2-hunter2"

func (w *world) client() *replay.Client {
	return replay.New(w.home, w.Dir, func(e replay.Event) {
		w.t.Helper()
		w.run(string(e.Payload()), "git-agent-turn", "hook")
	})
}

// mission is the id of a session's mission.
func mission(c *replay.Client) string { return c.Session[len(c.Session)-8:] }

func (w *world) turn(c *replay.Client, prompt string, work func()) {
	c.Prompt(prompt)
	work()
	c.Stop("done: " + prompt)
}

// run runs a program in the repository and returns what it prints.
func (w *world) run(stdin string, args ...string) string {
	w.t.Helper()
	out, err := w.try(stdin, args...)
	if err != nil {
		w.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return out
}

// try is run for what may fail; then it returns what was said to standard error.
func (w *world) try(stdin string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = w.Dir, w.Env, strings.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		return stderr.String(), err
	}
	return string(out), nil
}

// notes makes a ref of notes on objects that need not exist, flat or, if deep is
// not 0, in no directory, one, and up to that many.
func (w *world) notes(ref string, objects []string, deep int) {
	w.t.Helper()
	var in strings.Builder
	fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> 1795176000 +0000\ndata 0\n", ref)
	for i, on := range objects {
		path := on
		for j := range i % (deep + 1) {
			path = path[:3*j+2] + "/" + path[3*j+2:]
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata 5\nnote\n\n", path)
	}
	w.Pipe(in.String(), "fast-import", "--quiet", "--force")
}
