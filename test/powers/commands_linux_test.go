package powers

import (
	"crypto/sha256"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gitagent/internal/power"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.Programs{M: m}.Run())
}

// A world is a home with a repository in which two missions were recorded, the one of a session whose agent runs
// commands there; another repository; and a remote. It can be copied.
type world struct {
	t    *testing.T
	home string
}

const (
	session = "5e550000-0000-4000-8000-000000000001"
	own     = "aaaaaaaa" // the mission of the session
	other   = "bbbbbbbb"
	text    = "correct-horse-battery"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, gittest.TempDir(t)}
	w.must("", "git", "init", "-q", "--bare", "remote")
	for _, at := range []string{"elsewhere", "repo"} {
		w.must("", "git", "init", "-q", "-b", "main", at)
		w.write(at+"/file", "first\n")
		w.must(at, "git", "add", "file")
		w.must(at, "git", "commit", "-q", "-m", "first")
		w.must(at, "git", "agent-turn", "init")
		w.must(at, "git", "agent-turn", "record", "--mission", other, "--prompt", "say "+text, "--reply", "said")
		w.write(at+"/file", "second\n")
		w.must(at, "git", "agent-turn", "record", "--mission", own, "--session", session, "--prompt", "say "+text, "--reply", "said")
		w.must(at, "git", "agent-handoff", "write", "--mission", other, "--summary", "half of it")
		w.must(at, "git", "agent-handoff", "write", "--mission", own, "--summary", "half of it")
	}
	w.must("repo", "git", "remote", "add", "origin", "../remote")
	w.must("repo", "git", "config", "agent.../remote.push", "all")
	w.must("repo", "git", "agent-turn", "push")
	w.write("outside", "private\n")
	w.write("key.pub", w.must("repo", "git", "agent-turn", "trust", "key"))
	return w
}

// copied is the same world somewhere else.
func (w *world) copied(t *testing.T) *world {
	t.Helper()
	to := &world{t, gittest.TempDir(t)}
	gittest.Must(t, os.CopyFS(to.home, os.DirFS(w.home)))
	for _, name := range []string{".config/git-agent/key", "outside"} {
		gittest.Must(t, os.Chmod(filepath.Join(to.home, name), 0o600))
	}
	return to
}

func (w *world) write(name, content string) {
	w.t.Helper()
	gittest.Must(w.t, os.WriteFile(filepath.Join(w.home, name), []byte(content), 0o600))
}

func (w *world) must(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.run(dir, nil, args...)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (w *world) run(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(w.home, dir), append(gittest.Env(w.home), env...), strings.NewReader(text+"\n")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it has no terminal
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// as runs one of our commands as somebody.
func (w *world) as(who power.Actor, args ...string) string {
	switch who {
	case power.Person: // who says no to everything
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = filepath.Join(w.home, "repo"), append(gittest.Env(w.home), "TERM=xterm", "GIT_PAGER=cat", "GIT_EDITOR=true")
		return strings.Join(strings.Fields(onTerminal(w.t, cmd, strings.Repeat("no\n", 5)+"\x04")), " ")
	case power.Agent:
		out, _ := w.run("repo", []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + session}, args...)
		return strings.Join(strings.Fields(out), " ")
	}
	out, _ := w.run("repo", nil, args...)
	return strings.Join(strings.Fields(out), " ")
}

// content is all that the world has, without the files of locks.
func (w *world) content() map[string][sha256.Size]byte {
	w.t.Helper()
	all := make(map[string][sha256.Size]byte)
	gittest.Must(w.t, filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "locks" {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = sha256.Sum256(data)
		return err
	}))
	return all
}

// A line is a command line, and what its words stand for.
type line struct {
	args  []string
	flags []string
	on    power.On
}

// arguments are what commands need.
var arguments = map[string][]string{
	"agent-turn show": {own + "/1"}, "agent-turn search": {"say"}, "agent-turn blame": {"file"}, "agent-turn why": {"file:1"}, "agent-turn recall": {"file"},
	"agent-turn summary": {"HEAD"},
	"agent-fork":         {own + "/1"}, "agent-fork compare": {own}, "agent-fork adopt": {own}, "agent-handoff grep": {"half"},
	"agent-handoff log": {"start"}, "agent-handoff log show": {"file"},
	"agent-turn restore": {own + "/1"}, "agent-turn revert": {own + "/1"}, "agent-turn bisect": {"--good", own + "/1", "--", "true"},
	"agent-turn start": {"--title", "x"}, "agent-turn finish": {own}, "agent-handoff retry": {"--", "true"},
	"agent-handoff write": {"--summary", "so far"}, "agent-handoff gather": {"--exit-type", "killed"}, "agent-handoff accept": {"1"},
	"agent-turn record": {"--prompt", "x"}, "agent-turn trust add": {"desk", "../key.pub"}, "agent-turn trust remove": {"desk"},
	"agent-turn reviewed": {own + "/1"}, "agent-turn trust accept": {own}, "agent-turn archive": {other}, "agent-turn remove": {other}, "agent-turn prune": {"--older-than", "1h"},
	"agent-turn purge": {"--fixed", "--yes"},
}

// values are what flags need.
var values = map[string][]string{"remote": {}, "tmux": {"%0"}, "check": {"true"}, "out": {"page.html"}}

// lines are the command lines of a command: alone, with each flag that adds to what it does, and on what is not the
// session's.
func lines(name string) []line {
	words := strings.Fields("git " + name)
	base := append(slices.Clone(words), arguments[name]...)
	if name == "agent-turn hook" || name == "agent-handoff hook" {
		return nil // the client's hooks don't come this way
	}
	of := power.Commands()[name]
	there := func(args []string) line {
		return line{args: slices.Insert(slices.Clone(args), 2, "-C", "../elsewhere"), on: power.On{Repository: true}}
	}
	list := []line{{args: base}}
	if name != "agent-turn housekeep" { // our hooks start it wherever the agent works
		list = append(list, there(base))
	}
	for _, flag := range slices.Sorted(maps.Keys(of.With)) {
		args := slices.Concat(base, []string{"--" + flag}, values[flag])
		if name == "agent-turn doctor" && flag == "remote" {
			args = append(args, "origin")
		}
		if flag != "tmux" { // below
			far := there(args)
			far.flags = []string{flag}
			list = append(list, line{args: args, flags: []string{flag}}, far)
		}
	}
	if slices.Contains([]string{"agent-handoff write", "agent-handoff gather", "agent-turn record"}, name) {
		list = append(list,
			line{args: slices.Concat(base, []string{"--mission", own})},
			line{args: slices.Concat(base, []string{"--mission", other}), on: power.On{Mission: true}})
	}
	if name == "agent-turn record" {
		list = append(list,
			line{args: slices.Concat(base, []string{"--session", session})},
			line{args: slices.Concat(base, []string{"--session", "another"}), on: power.On{Mission: true}})
	}
	if name == "agent-handoff write" {
		list = append(list,
			line{args: slices.Concat(base, []string{"../outside"}), on: power.On{File: true}},
			line{args: slices.Concat(base, []string{"file"})},
			line{args: slices.Concat(base, []string{"-"})},
			line{args: slices.Concat(base, []string{"--log", "../outside"}), on: power.On{File: true}})
	}
	if name == "agent-handoff log show" {
		list = append(list, line{args: slices.Concat(words, []string{"../outside"}), on: power.On{File: true}})
	}
	if slices.Contains([]string{"agent-turn purge", "agent-turn remove", "agent-turn restore", "agent-turn import"}, name) {
		dry := slices.DeleteFunc(slices.Clone(base), func(a string) bool { return a == "--yes" })
		list = append(list, line{args: append(dry, "--dry-run"), flags: []string{"dry-run"}})
	}
	return list
}

// refused reports whether what a command said is a refusal.
func refused(said string) bool {
	return strings.Contains(said, "error: an agent may not ") || strings.Contains(said, "error: only a person may ")
}

// TestCommands runs each command as an agent, and as a person and a script; before make nightly as these one of each use.
// What the table refuses is refused, and changes nothing; nothing else is.
func TestCommands(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	first := newWorld(t)
	tried := make(map[power.Actor]map[power.Use]bool)
	for _, who := range []power.Actor{power.Person, power.Script, power.Agent} {
		tried[who] = make(map[power.Use]bool)
		untouched := first.copied(t)
		before := untouched.content()
		for _, name := range slices.Sorted(maps.Keys(power.Commands())) {
			for _, l := range lines(name) {
				uses := power.Commands()[name].Uses(l.flags, l.on)
				news := who == power.Agent || gittest.Whole() // else one command of each use is enough
				for _, u := range uses {
					news = news || !tried[who][u]
					tried[who][u] = true
				}
				if !news {
					continue
				}
				use, no := power.Refused(who, uses)
				w := untouched
				if !no {
					w = first.copied(t)
				}
				if said := w.as(who, l.args...); refused(said) != no {
					t.Errorf("%s: %s: refused is %t, want %t (%v)\n%s", who, strings.Join(l.args, " "), !no, no, use, said)
				}
				if after := untouched.content(); no && !maps.Equal(before, after) {
					t.Errorf("%s: %s was refused, and has changed something", who, strings.Join(l.args, " "))
					before = after
				}
			}
		}
	}
	for who, uses := range tried {
		for _, d := range power.Deeds {
			for _, to := range power.All {
				u := power.Use{Deed: d, Whose: to}
				if is := power.Of(who, d, to) != power.Unknown; is != uses[u] && u != (power.Use{Deed: power.Tell, Whose: power.Elsewhere}) {
					t.Errorf("%s, %s, %s: the table says that it can come up: %t; a command does it: %t", who, d, to, is, uses[u])
				}
			}
		}
	}
}
