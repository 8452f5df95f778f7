//go:build unix

package kill

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gitagent/test/gittest"
)

// confide lets everything know a secret: a turn of the session's and its code, a prompt and a reply of another
// mission, and a handoff. Where the session goes on there is none.
func (l *lab) confide() (id, secret string) {
	l.t.Helper()
	l.turn()
	l.n++
	id, secret = fmt.Sprintf("%08x", 0xc0000000+l.n), fmt.Sprintf("hush-%d-%08x-hush", l.n, l.random.Uint32())
	l.Write("conf", "key = "+secret+"\n")
	l.turn()
	l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", id + " uses " + secret, "--reply", secret + " it is"}})
	c := command{args: []string{"git-agent-handoff", "write", "--mission", id, "-"}, stdin: []byte("# Next\n\nForget " + secret + ".\n")}
	handedOff(l, l.must(c))
	l.Write("conf", "none\n")
	return id, secret
}

// hushing is the command that purges a secret. What the user has on the agent's branch is in the way.
func (l *lab) hushing(secret string) command {
	return command{args: []string{"git-agent-turn", "purge", "--fixed", "--rewrite-mine", "--yes"}, stdin: []byte(secret)}
}

// concluded checks that a purge which was killed can be completed, and that nothing of it is left then.
func (l *lab) concluded() {
	l.t.Helper()
	l.family.Await()
	journal := filepath.Join(l.common, "agent", "purge", "journal")
	want := 0
	if _, err := os.Lstat(journal); err != nil {
		want = 2 // it was not begun, or is done
	}
	// What only the user keeps stays, and is named with status 1; here that are the logs, which are his to drop.
	l.try("expire the reflogs", "reflog", "expire", "--expire=now", "--all")
	r := l.run(command{args: []string{"git-agent-turn", "purge"}})
	committed := r.status == 1 && l.attached != "" && strings.Contains(r.stdout, "stays in refs/heads/") // by the user, in between
	if r.status != want && !committed {
		l.find("a purge can't be completed", "want status %d, is %v", want, r)
	}
	if _, err := os.Lstat(journal); err == nil {
		l.find("a purge leaves its journal", "%s", journal)
	}
	for prompt := range l.done {
		l.done[prompt] = "" // its code is another commit, with the same file
	}
}

// hushed purges a secret again, and checks that nothing has it then and what had it is there.
func (l *lab) hushed(id, secret string) {
	l.t.Helper()
	l.concluded()
	if r := l.run(l.hushing(secret)); r.status != 0 && r.status != 3 {
		l.find("a purge can't be repeated", "%v", r)
	}
	l.silent(l.main, secret)
	l.redacted(id)
}

// redacted checks that a mission which told a secret is there as before, but for that.
func (l *lab) redacted(id string) {
	l.t.Helper()
	const mark = "[redacted:purged]"
	l.has(id, id+" uses "+mark)
	for _, args := range [][]string{{"git-agent-turn", "show", id + "/1"}, {"git-agent-handoff", "show", id + "/1"}} {
		if r := l.run(command{args: args}); r.status != 0 || !strings.Contains(r.stdout, mark) {
			l.find("a purge takes more than the secret", "%q: %v", args, r)
		}
	}
}

// silent checks that no object of a repository has a secret, and no file of ours.
func (l *lab) silent(in *gittest.Repo, secret string) {
	l.t.Helper()
	cmd := exec.Command("git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Dir, cmd.Env = in.Dir, l.env
	objects, err := cmd.Output()
	if err != nil {
		l.find("git cat-file fails", "%v", err)
	}
	if at := bytes.Index(objects, []byte(secret)); at >= 0 {
		l.find("an object has what was purged", "%q", objects[max(0, at-200):min(len(objects), at+100)])
	}
	for _, top := range []string{"agent", "logs"} {
		top = filepath.Join(in.Git("rev-parse", "--path-format=absolute", "--git-common-dir"), top)
		_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(secret)) {
				l.find("a file has what was purged", "%s", path)
			}
			return nil
		})
	}
}

// unsaid checks that a purge has not said what it purges.
func (l *lab) unsaid(secret string, r result) {
	l.t.Helper()
	if strings.Contains(r.stdout+r.stderr, secret) {
		l.find("a purge tells the secret", "%v", r)
	}
}

// purging takes a secret out of everything.
func purging(l *lab) command {
	id, secret := l.confide()
	l.try("expire the reflogs", "reflog", "expire", "--expire=now", "--all")
	c := l.hushing(secret)
	c.then = func(l *lab, done result) {
		l.unsaid(secret, done)
		l.hushed(id, secret)
	}
	return c
}
