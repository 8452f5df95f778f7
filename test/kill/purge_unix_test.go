//go:build unix

package kill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// leaks records a mission with a secret in a prompt and in a file, which is not in the worktree afterwards.
func (l *lab) leaks() (id, secret string) {
	l.t.Helper()
	l.n++
	id, secret = fmt.Sprintf("%08x", 0xc0000000+l.n), fmt.Sprintf("hunter2-%06d-key", l.n)
	path := fmt.Sprintf("leak/%d", l.n)
	l.Write(path, "key = "+secret+"\n")
	l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", "use " + secret + " in " + id}})
	gittest.Must(l.t, os.Remove(filepath.Join(l.Dir, path)))
	l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", "after " + id}})
	return id, secret
}

// rewritten forgets which code turns had: a purge may have rewritten it.
func (l *lab) rewritten() {
	for prompt := range l.done {
		l.done[prompt] = ""
	}
}

// completed lets the next call complete a purge that was killed, if it had begun.
func (l *lab) completed() {
	l.t.Helper()
	const nothing = 2 // a bare call without a purge to complete
	if r := l.run(command{args: []string{"git-agent-turn", "purge"}}); r.status != 0 && r.status != nothing {
		l.find("a killed purge is not completed", "%v", r)
	}
	l.rewritten()
}

// purged purges once more, after which a secret is nowhere, and both turns of its mission are there.
func (l *lab) purged(id, secret string, c command) {
	l.t.Helper()
	const nothing = 3
	l.completed()
	if r := l.run(c); r.status != 0 && r.status != nothing {
		l.find("purge can't be repeated", "%v", r)
	}
	l.without(l.main, id, secret)
}

// without checks that no object of a repository has a secret, and that both turns of its mission are there.
func (l *lab) without(r *gittest.Repo, id, secret string) {
	l.t.Helper()
	all, err := r.Try("cat-file", "--batch-all-objects", "--batch", "--unordered")
	if err != nil || strings.Contains(all, secret) {
		l.find("an object has what was purged", "%s of mission %s: %v", secret, id, err)
	}
	out := l.must(command{dir: r.Dir, args: []string{"git-agent-turn", "list", "--mission", id, "--json"}}).stdout
	if n := strings.Count(out, "\n"); n != 2 || strings.Contains(out, secret) || !strings.Contains(out, `"prompt":"after `+id+`"`) {
		l.find("a purged mission has other turns", "%d of 2:\n%s", n, out)
	}
}

// purgePush takes a secret out here and at the remote.
func purgePush(l *lab) command {
	l.turn()
	id, secret := l.leaks()
	l.must(command{args: []string{"git-agent-turn", "push"}, env: l.consent()})
	c := command{args: []string{"git-agent-turn", "purge", "--fixed", "--yes"}, stdin: []byte(secret + "\n"), env: l.consent()}
	c.then = func(l *lab, _ result) {
		l.purged(id, secret, c)
		l.must(command{args: []string{"git-agent-turn", "purge", "--push", "--yes"}, env: l.consent()})
		if reached, err := l.bare.Try("log", "--all", "--format=%B", "-p", "--text", "-m"); err != nil || strings.Contains(reached, secret) {
			l.find("a ref of the remote has what was purged", "%s: %v", secret, err)
		}
	}
	return c
}

// purgeFetched takes a secret out that another clone has purged.
func purgeFetched(l *lab) command {
	l.turn()
	other := l.clone()
	id, secret := other.leaks()
	other.must(command{args: []string{"git-agent-turn", "push"}, env: other.consent()})
	l.must(command{args: []string{"git-agent-turn", "fetch"}})
	other.must(command{args: []string{"git-agent-turn", "purge", "--fixed", "--yes"}, stdin: []byte(secret + "\n"), env: other.consent()})
	c := command{args: []string{"git-agent-turn", "fetch", "--mission", id}}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.rewritten()
		l.without(l.main, id, secret)
		if _, err := os.Lstat(filepath.Join(l.common, "agent", "purge", "journal")); err == nil {
			l.find("a fetch leaves the journal of a purge", "%v", err)
		}
	}
	return c
}

// repair mends what can be mended from what is there.
func repair(l *lab) command {
	l.turn()
	l.n++
	id := fmt.Sprintf("%08x", 0xe0000000+l.n)
	l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", "first of " + id}})
	l.Git("update-ref", "-d", "refs/notes/agent/"+id)
	l.Git("update-ref", "refs/agent/remotes/origin/ABC/missions/"+id, "HEAD")
	c := command{args: []string{"git-agent-turn", "doctor", "--repair"}}
	c.then = func(l *lab, _ result) {
		l.must(c)
		if r := l.must(c); strings.Contains(r.stdout, "mended") {
			l.find("what was repaired is repaired again", "%s", r.stdout)
		}
		if notes, err := l.main.Try("notes", "--ref=agent/"+id, "list"); err != nil || notes == "" {
			l.find("repair writes no notes", "%v, %q", err, notes)
		}
		if refs, err := l.main.Try("for-each-ref", "refs/agent/remotes"); err != nil || refs != "" {
			l.find("repair leaves what a killed fetch left", "%v, %q", err, refs)
		}
	}
	return c
}

// pushArchive pushes a mission that is archived, without a ref of its own.
func pushArchive(l *lab) command {
	id := l.archivable()
	l.must(command{args: []string{"git-agent-turn", "push"}, env: l.consent()})
	l.must(command{args: []string{"git-agent-turn", "archive", id}})
	c := command{args: []string{"git-agent-turn", "push"}, env: l.consent()}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.has(id, "first of "+id)
		index, err := l.main.Try("rev-parse", "refs/agent/archive")
		keep, err2 := l.main.Try("rev-list", "--first-parent", "--grep=^kept$", "-n", "1", "refs/agent/archive-keep") // below the stem
		want := index + "\n" + keep
		got, err3 := l.bare.Try("rev-parse", "refs/agent/archive", "refs/agent/archive-keep")
		if err := errors.Join(err, err2, err3); err != nil || got != want {
			l.find("the remote has another archive", "%v\n%s\nwant\n%s", err, got, want)
		}
	}
	return c
}

// fetchArchived brings a mission that another clone has archived; fetchAdvertised, from a host that gives only what it
// advertises.
func fetchArchived(l *lab) command { return bringing(l) }

func fetchAdvertised(l *lab) command {
	return bringing(l, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=0")
}

func bringing(l *lab, env ...string) command {
	l.turn()
	other := l.clone()
	id := other.archivable()
	other.must(command{args: []string{"git-agent-turn", "archive", id}})
	other.must(command{args: []string{"git-agent-turn", "push"}, env: other.consent()})
	c := command{args: []string{"git-agent-turn", "fetch", "--mission", id}, env: env}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.has(id, "first of "+id)
		if left, err := filepath.Glob(filepath.Join(l.common, "objects", "tmp_agent-*")); err != nil || len(left) > 0 {
			l.t.Errorf("a fetch has left %q, %v", left, err)
		}
	}
	return c
}

// removeOldRemote removes a mission of years ago, here and at the remote.
func removeOldRemote(l *lab) command {
	l.turn()
	old := replay.New(l.config, l.Dir, nil)
	l.n++
	old.Prompt(fmt.Sprintf("long ago %d", l.n))
	old.Stop("did that")
	old.Flush()
	text, err := os.ReadFile(old.Path)
	gittest.Must(l.t, err)
	year := fmt.Sprintf(`"timestamp":"%d-`, time.Now().UTC().Year())
	gittest.Must(l.t, os.WriteFile(old.Path, []byte(strings.ReplaceAll(string(text), year, `"timestamp":"2020-`)), 0o600))
	l.must(command{args: []string{"git-agent-turn", "import"}})
	if err := os.Remove(old.Path); err != nil { // or the next one imports it again
		l.t.Fatal(err)
	}
	l.must(command{args: []string{"git-agent-turn", "push"}, env: l.consent()})
	id := old.Session[len(old.Session)-8:]
	c := command{args: []string{"git-agent-turn", "remove", "--older-than", "1000d", "--remote", "--yes"}, env: l.consent()}
	c.then = func(l *lab, _ result) {
		l.must(c)
		for _, r := range []*gittest.Repo{l.main, l.bare} {
			if refs, err := r.Try("for-each-ref", "refs/**/"+id); err != nil || refs != "" {
				l.find("remove leaves a mission of years ago", "%v\n%s", err, refs)
			}
		}
	}
	return c
}

// removeOld removes what is not in use: here that is all but the mission of the session, which works on its branch.
func removeOld(l *lab) command {
	id, gone := l.archivable(), l.archivable()
	l.must(command{args: []string{"git-agent-turn", "archive", gone}})
	c := command{args: []string{"git-agent-turn", "remove", "--older-than", "0h"}}
	c.then = func(l *lab, _ result) {
		l.must(c)
		for _, id := range []string{id, gone} {
			refs, err := l.main.Try("for-each-ref", "refs/**/"+id)
			r := l.run(command{args: []string{"git-agent-turn", "list", "--mission", id}})
			if err != nil || refs != "" || r.status != 3 {
				l.find("remove leaves a mission", "%s: %v\n%s\n%v", id, err, refs, r)
			}
		}
	}
	return c
}

// housekeep does what is done once a day.
func housekeep(l *lab) command {
	l.turn()
	due := func() {
		past := time.Now().Add(-48 * time.Hour)
		stamp := filepath.Join(l.common, "agent", "housekept")
		gittest.Must(l.t, os.Chtimes(stamp, past, past))
	}
	l.Git("config", "gc.autoPackLimit", "2")
	l.Git("config", "gc.auto", "100")
	tags := func(line string) (in string) {
		for i := range 300 {
			in += fmt.Sprintf(line, fmt.Sprintf("refs/tags/t%d", i))
		}
		return in
	}
	if _, err := l.main.Feed(tags("update %s HEAD\n"), "update-ref", "--stdin"); err != nil {
		l.t.Fatal(err)
	}
	due()
	c := command{args: []string{"git-agent-turn", "housekeep"}}
	c.then = func(l *lab, _ result) {
		due()
		l.must(c)
		if got, err := l.main.Try("for-each-ref", "--format=%(refname)", "refs/tags"); err != nil || strings.Count(got+"\n", "\n") != 300 {
			l.find("housekeeping loses refs", "%v, %d of 300", err, strings.Count(got+"\n", "\n"))
		}
		if _, err := l.main.Feed(tags("delete %s\n"), "update-ref", "--stdin"); err != nil {
			l.find("after housekeeping no ref can be deleted", "%v", err)
		}
	}
	return c
}
