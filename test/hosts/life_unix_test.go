//go:build unix

package hosts_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// secret is in what is purged.
const secret = "hunter2-secret-key"

// A life is that of some missions between people who share a host.
type life struct {
	t    *testing.T
	at   place
	a, b person

	refused bool            // what is pushed in the background would be tried again and again
	family  *gittest.Family // our commands, with what they leave in the background
}

// A person has a clone, and a key of their own.
type person struct {
	*gittest.Repo
	key    string
	family *gittest.Family
}

func begin(t *testing.T, at place) *life { return &life{t: t, at: at, family: gittest.NewFamily(t)} }

func (l *life) person(name string) person {
	in := gittest.New(l.t)
	home := filepath.Join(gittest.TempDir(l.t), name)
	in.Env = append(slices.DeleteFunc(in.Env, func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_CONFIG_HOME=")
	}), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config")
	key := gittest.Key(home, name)
	args := []string{"clone", "-q"}
	for _, c := range l.at.config {
		args = append(args, "-c", c)
	}
	dir := filepath.Join(home, "clone")
	in.Git(append(args, l.at.url, dir)...)
	p := person{in.In(dir), key, l.family}
	p.Git("config", remote(l.at.url), "all")
	return p
}

func remote(url string) string { return "agent." + url + ".push" }

// trusts lets a person rely on what another one has signed, as a script does it.
func (p person) trusts(t *testing.T, name string, other person) {
	file := filepath.Join(filepath.Dir(p.Dir), ".config", "git-agent", "allowed_signers")
	gittest.Must(t, os.WriteFile(file, []byte(name+" "+other.key+"\n"), 0o600))
}

// record records a turn, whose push then goes on in the background.
func (l *life) record(p person, mission, prompt, reply string) {
	p.Write("file of "+mission, prompt+"\n")
	if out, err := p.run("record", "--mission", mission, "--prompt", prompt, "--reply", reply); err != nil {
		l.t.Fatalf("record: %v %s", err, out)
	}
}

// run runs a command of ours, and returns all that it says.
func (p person) run(args ...string) (string, error) { return p.feed("", args...) }

// feed is run with standard input.
func (p person) feed(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"agent-turn"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, strings.NewReader(stdin)
	p.family.Join(cmd)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// has tells whether any object, or only those that refs lead to, has a text.
func has(r *gittest.Repo, text string, reachable bool) bool {
	which := []string{"cat-file", "--batch-all-objects", "--batch-check=%(objectname)"}
	if reachable {
		which = []string{"rev-list", "--objects", "--no-object-names", "--all"}
	}
	return strings.Contains(r.Pipe(r.Git(which...)+"\n", "cat-file", "--batch"), text)
}

func refsOf(r *gittest.Repo) map[string]string {
	return remotelab.RefsOf(r, "refs/agent/", "refs/notes/agent/")
}

// tips are the tips of ledgers in a repository, sorted, but those that doctor could not delete.
func (l *life) tips(r *gittest.Repo) []string {
	refs := remotelab.RefsOf(r, "refs/agent/missions/")
	maps.DeleteFunc(refs, func(ref, _ string) bool { return strings.Contains(ref, "/probe-") })
	return slices.Sorted(maps.Values(refs))
}

// A step of a life returns what is not as it should be.
type step struct {
	name string
	do   func(l *life) error
}

const (
	mission  = "a1b2c3d4"
	archived = "b1b2c3d4"
)

var steps = []step{
	{"push", func(l *life) error { // in the background
		if l.refused {
			l.a.Git("config", "--unset", remote(l.at.url))
		}
		l.record(l.a, mission, "one of a", "with "+secret)
		l.a.Git("config", remote(l.at.url), "all")
		for {
			if refs := refsOf(l.at.repo); refs["refs/agent/missions/"+mission] != "" {
				return nil
			}
			pushed, err := l.a.run("push")
			if err != nil && l.at.line != nil && l.at.line.cut.Load() <= int64(l.at.line.line.Load().cuts) {
				continue // it is cut, and goes on when the line is whole
			}
			if err != nil {
				return fmt.Errorf("%w %s", err, pushed)
			}
		}
	}},
	{"clone", func(l *life) error {
		l.b = l.person("b")
		if out, err := l.b.run("fetch"); err != nil || !strings.Contains(out, mission+" new") {
			pushed, _ := l.a.run("push")
			return fmt.Errorf("fetch: %w %s; push: %s", err, out, pushed)
		}
		return nil
	}},
	{"trust", func(l *life) error {
		if out, err := l.b.run("list", "--mission", mission, "--trusted"); err == nil {
			return fmt.Errorf("what a has signed is relied on: %s", out)
		}
		l.b.trusts(l.t, "a", l.a)
		l.a.trusts(l.t, "b", l.b)
		out, err := l.b.run("list", "--mission", mission, "--trusted")
		if err != nil || !strings.Contains(out, "one of a") {
			return fmt.Errorf("%w %s", err, out)
		}
		return nil
	}},
	{"both", func(l *life) error { // both go on with the mission: it becomes two, for both
		l.record(l.a, mission, "two of a", "answer")
		l.record(l.b, mission, "two of b", "answer")
		for _, p := range []person{l.a, l.b, l.a, l.b, l.a} {
			for _, command := range []string{"fetch", "push"} {
				if out, err := p.run(command); err != nil {
					return fmt.Errorf("%s: %w %s", command, err, out)
				}
			}
		}
		there := l.tips(l.at.repo)
		for _, p := range []person{l.a, l.b} { // the two have other names in each clone
			if here := l.tips(p.Repo); len(here) != 2 || !slices.Equal(here, there) {
				return fmt.Errorf("somebody has %v, the host %v", here, there)
			}
		}
		return nil
	}},
	{"archive", func(l *life) error {
		l.record(l.a, archived, "one of a", "with "+secret)
		if out, err := l.a.run("push"); err != nil {
			return fmt.Errorf("push: %w %s", err, out)
		}
		if out, err := l.b.run("fetch"); err != nil || !strings.Contains(out, archived+" new") {
			return fmt.Errorf("fetch: %w %s", err, out)
		}
		for _, p := range []person{l.a, l.b} {
			if out, err := p.run("archive", archived); err != nil || !strings.Contains(out, "archived 1 mission") {
				return fmt.Errorf("archive: %w %s", err, out)
			}
		}
		out, err := l.a.run("push")
		if err != nil {
			return fmt.Errorf("push: %w %s", err, out)
		}
		if refs := refsOf(l.at.repo); refs["refs/agent/archive"] == "" || refs["refs/agent/missions/"+archived] != "" {
			return fmt.Errorf("the host has %v", refs)
		}
		return nil
	}},
	{"fetch archived", func(l *life) error {
		c := l.person("c")
		if out, err := c.run("fetch", "--mission", archived); err != nil || !strings.Contains(out, archived+" new") {
			return fmt.Errorf("fetch: %w %s", err, out)
		}
		if out, err := c.run("show", archived+"/1"); err != nil || !strings.Contains(out, secret) {
			return fmt.Errorf("show: %w %s", err, out)
		}
		return nil
	}},
	{"purge", func(l *life) error {
		if out, err := l.a.feed(secret+"\n", "purge", "--fixed", "--yes"); err != nil {
			return fmt.Errorf("purge: %w %s", err, out)
		}
		if has(l.at.repo, secret, true) {
			return fmt.Errorf("the host has it")
		}
		return nil
	}},
	{"purged elsewhere", func(l *life) error {
		if !has(l.b.Repo, secret, false) {
			return fmt.Errorf("b never had it")
		}
		if out, err := l.b.run("fetch"); err != nil {
			return fmt.Errorf("fetch: %w %s", err, out)
		}
		if has(l.b.Repo, secret, false) {
			return fmt.Errorf("b has it")
		}
		l.b.Git("fsck", "--strict")
		return nil
	}},
	{"prune", func(l *life) error {
		out, err := l.a.run("remove", "--older-than", "0h", "--remote", "--yes", "origin")
		if err != nil {
			return fmt.Errorf("remove: %w %s", err, out)
		}
		if refs := remotelab.RefsOf(l.at.repo, "refs/agent/missions/", "refs/notes/agent/"); len(refs) > 0 {
			return fmt.Errorf("the host has %v: %s", refs, out)
		}
		return nil
	}},
}

// TestLife goes through each step on each host. A step that can't work says why, and so does doctor before it.
func TestLife(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, h := range hosts() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			if h.nightly {
				gittest.Nightly(t)
			}
			l := begin(t, h.open(t))
			defer l.family.Await()
			_, l.refused = h.lacks["push"]
			l.a = l.person("a")
			report, _ := l.a.run("doctor", "--remote", "origin")
			for _, want := range h.says {
				if !regexp.MustCompile(`(?m)^` + want).MatchString(report) {
					t.Errorf("doctor --remote does not say %q:\n%s", want, report)
				}
			}
			if h.line != nil {
				l.at.line.line.Store(h.line)
			}
			row := []string{h.name, l.at.version}
			for _, s := range steps {
				began := time.Now()
				err := s.do(l)
				cell := fmt.Sprintf("%s %.1f s", s.name, time.Since(began).Seconds())
				switch want, can := h.lacks[s.name]; {
				case !can && err != nil:
					t.Errorf("%s: %v", s.name, err)
					cell += " FAILS"
				case can && err == nil:
					t.Errorf("%s works, and should not", s.name)
				case can:
					if !regexp.MustCompile(want).MatchString(err.Error()) {
						t.Errorf("%s says %v, want %q", s.name, err, want)
					}
					cell += " refused"
				}
				row = append(row, cell)
				if err != nil && (s.name == "push" || s.name == "clone") {
					break
				}
			}
			if h.more != nil {
				if err := h.more(l); err != nil {
					t.Error(err)
				}
			}
			t.Log(strings.Join(row, " | "))
		})
	}
}
