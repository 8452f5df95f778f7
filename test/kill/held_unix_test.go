//go:build unix

package kill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gitagent/test/gittest"
)

// colleague is the other clone, of somebody with a key of their own, which is trusted here.
func (l *lab) colleague() *lab {
	l.t.Helper()
	first := l.other == nil
	other := l.clone()
	if first {
		for _, of := range []*lab{l, other} {
			of.env = append(of.env, "XDG_CONFIG_HOME="+of.tmp)
			of.must(command{args: []string{"git-agent-turn", "init"}})
		}
		key := strings.TrimSpace(other.must(command{args: []string{"git-agent-turn", "trust", "key"}}).stdout)
		gittest.Must(l.t, os.WriteFile(filepath.Join(l.tmp, "git-agent", "allowed_signers"), []byte("colleague "+key+"\n"), 0o600))
	}
	return other
}

// asked lets the colleague purge a mission of this clone's as a whole, or what one of its files and prompts says.
func (l *lab) asked(whole bool) (id, secret string) {
	l.t.Helper()
	l.turn()
	other := l.colleague()
	id, secret = l.leaks()
	l.send()
	other.must(command{args: []string{"git-agent-turn", "fetch"}})
	c := command{args: []string{"git-agent-turn", "purge", "--yes", "--fixed"}, stdin: []byte(secret + "\n"), env: other.consent()}
	if whole {
		c = command{args: []string{"git-agent-turn", "purge", "--yes", "--mission", id}, env: other.consent()}
	}
	other.must(c)
	other.must(command{args: []string{"git-agent-turn", "purge", "--push", "--yes"}, env: other.consent()})
	return id, secret
}

// send pushes what is not held, of which the push tells.
func (l *lab) send() {
	l.t.Helper()
	if r := l.run(command{args: []string{"git-agent-turn", "push"}, env: l.consent()}); r.status != 0 && (r.status != 1 || !strings.Contains(r.stderr, "was not sent")) {
		l.find("push fails beside what is held", "%v", r)
	}
}

// stays checks that a mission is whole, is held, and is sent nowhere. Kept says what a person has decided, if they have.
func (l *lab) stays(id, secret string, kept bool) {
	l.t.Helper()
	var h struct {
		From     string
		Missions []string
		By       []string
		Gone     bool
		Kept     bool
	}
	data, err := os.ReadFile(filepath.Join(l.common, "agent", "held", id))
	if err = errors.Join(err, json.Unmarshal(data, &h)); err != nil || h.From != "origin" || len(h.Missions) != 1 || len(h.By) != 1 || !h.Gone || h.Kept != kept {
		l.find("what is held is noted otherwise", "mission %s: %v\n%s", id, err, data)
	}
	l.has(id, "use "+secret+" in "+id, "after "+id)
	l.send()
	if refs, err := l.bare.Try("for-each-ref", "refs/**/"+id); err != nil || refs != "" {
		l.find("a mission that is held is sent", "%v\n%s", err, refs)
	}
	if reached, err := l.bare.Try("log", "--all", "--format=%B", "-p", "--text", "-m"); err != nil || strings.Contains(reached, secret) {
		l.find("what is held is sent", "%s: %v", secret, err)
	}
}

// gone checks that nothing of a mission is there, and that nothing waits.
func (l *lab) gone(id, secret string) {
	l.t.Helper()
	l.rewritten()
	refs, err := l.main.Try("for-each-ref", "refs/**/"+id)
	if err != nil || refs != "" {
		l.find("a purge that a person agrees to leaves a mission", "%v\n%s", err, refs)
	}
	if _, err := os.Lstat(filepath.Join(l.common, "agent", "held", id)); err == nil {
		l.find("a mission that is gone is held", "%s", id)
	}
	l.silent(l.main, secret)
	l.ended()
}

// ended checks that no purge is under way.
func (l *lab) ended() {
	l.t.Helper()
	if _, err := os.Lstat(filepath.Join(l.common, "agent", "purge", "journal")); err == nil {
		l.find("a fetch leaves the journal of a purge", "%v", err)
	}
}

// holding is a fetch that is told of the purge of a mission as a whole.
func holding(l *lab) command {
	id, secret := l.asked(true)
	c := command{args: []string{"git-agent-turn", "fetch"}, status: 1}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.stays(id, secret, false)
	}
	return c
}

// letting is a fetch that lets go what a colleague has purged, as it is little.
func letting(l *lab) command {
	id, secret := l.asked(false)
	if err := os.Remove(filepath.Join(l.common, "agent", "unasked")); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is the first one of a week
		l.t.Fatal(err)
	}
	c := command{args: []string{"git-agent-turn", "fetch"}}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.rewritten()
		l.without(l.main, id, secret)
		l.silent(l.main, secret)
		l.ended()
	}
	return c
}

// keeping is a fetch in which a person decides to keep a mission.
func keeping(l *lab) command {
	id, secret := l.asked(true)
	c := command{args: []string{"git-agent-turn", "fetch"}, typed: "keep\n"}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.stays(id, secret, true)
	}
	return c
}

// agreeing is a fetch in which a person lets a mission go.
func agreeing(l *lab) command {
	id, secret := l.asked(true)
	c := command{args: []string{"git-agent-turn", "fetch"}, typed: "yes\n"}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.gone(id, secret)
	}
	return c
}

// pushHolding is a push that is told of the purge of a mission as a whole, of which it sends nothing.
func pushHolding(l *lab) command {
	id, secret := l.asked(true)
	l.turn()
	c := command{args: []string{"git-agent-turn", "push"}, env: l.consent(), status: 1}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.stays(id, secret, false)
	}
	return c
}

// queueHolding is that in the background, with what the hooks have left.
func queueHolding(l *lab) command {
	id, secret := l.asked(true)
	l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", fmt.Sprintf("queued %d", l.n)}, env: l.consent()})
	l.family.Await()
	dir := filepath.Join(l.common, "agent", "push", "origin")
	gittest.Must(l.t, os.MkdirAll(dir, 0o777))
	gittest.Must(l.t, os.WriteFile(filepath.Join(dir, id), nil, 0o666))
	c := command{args: []string{"git-agent-turn", "push", "--queued"}, env: l.consent()}
	c.then = func(l *lab, _ result) {
		gittest.Must(l.t, os.WriteFile(filepath.Join(dir, id), nil, 0o666))
		l.must(c)
		l.stays(id, secret, false)
	}
	return c
}
