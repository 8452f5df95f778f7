//go:build unix

package hints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

// TestCommandsExist checks every text of the programs: what it names is a command, with these flags.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	ask := asker(t)
	var flags []string // of all commands
	for _, program := range []string{"agent-turn", "agent-handoff", "agent-fork"} {
		flags = append(flags, ask(program, "-")...)
		for _, name := range ask(program, "") {
			flags = append(flags, ask(program, name, "-")...)
		}
	}
	for _, x := range texts(t) {
		for _, f := range anyFlag.FindAllString(x.format, -1) {
			if !ofGit.MatchString(x.format) && !slices.Contains(flags, f) {
				t.Errorf("%s: %q: there is no flag %s", x.at, x.format, f)
			}
		}
		for _, c := range commands(x.format) {
			if err := exists(ask, c); err != nil {
				t.Errorf("%s: %q: %v", x.at, strings.Join(c, " "), err)
			}
		}
	}
}

// asker returns what a program proposes to a shell after words; the answers are remembered.
func asker(t *testing.T) func(words ...string) []string {
	dir := t.TempDir()
	known := map[string][]string{}
	return func(words ...string) []string {
		t.Helper()
		key := strings.Join(words, " ")
		if answer, ok := known[key]; ok {
			return answer
		}
		cmd := exec.Command("git", append(words, "--generate-bash-completion")...)
		cmd.Dir, cmd.Env = dir, gittest.Env(dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", key, err)
		}
		var answer []string
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			answer = append(answer, word)
		}
		known[key] = answer
		return answer
	}
}

var (
	word    = regexp.MustCompile(`^[a-z][a-z-]*$`)
	ofGit   = regexp.MustCompile(`\bgit [a-z]`)
	anyFlag = regexp.MustCompile(`--[a-z][a-z-]*`)
	flag    = regexp.MustCompile(`^\[?(--?[a-zA-Z][a-z-]*)[\]=]?`)
)

// exists checks the commands and flags of a command line. Its arguments, and prose that follows, are
// not looked at.
func exists(ask func(...string) []string, c command) error {
	path := strings.Fields(strings.TrimPrefix(c[0], "git "))
	rest := c[1:]
	for len(rest) > 0 {
		known := ask(append(path, "")...)
		if !slices.Contains(known, rest[0]) {
			if word.MatchString(rest[0]) && len(path) == 1 && len(known) > 0 {
				return fmt.Errorf("there is no command %q", rest[0])
			}
			break
		}
		path, rest = append(path, rest[0]), rest[1:]
	}
	for _, w := range rest {
		if m := flag.FindStringSubmatch(w); m != nil && !slices.Contains(ask(append(path, m[1])...), m[1]) {
			return fmt.Errorf("there is no flag %s", m[1])
		}
	}
	return nil
}

// A place is a repository of one user, where things are done until a hint comes.
type place struct {
	*gittest.Repo
	t       *testing.T
	client  *claude.Client
	process *exec.Cmd         // of the client
	with    map[string]string // what stands for "<turn>" and the like in a hint
}

func newPlace(t *testing.T) *place {
	p := &place{Repo: gittest.New(t), t: t, with: map[string]string{}}
	p.Write("file", "one\n")
	p.Commit("first")
	return p
}

// do runs a command that must work; try is do for one that may fail, and returns all that is printed.
func (p *place) do(line string) string {
	p.t.Helper()
	out, err := p.try(line)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

func (p *place) try(line string) (string, error) { return p.feed("", strings.Fields(line)...) }

// feed runs a command with standard input; in its words ~ stands for a blank,
// and "<turn>" and the like for what the place has.
func (p *place) feed(stdin string, args ...string) (string, error) {
	for i, arg := range args {
		args[i] = strings.ReplaceAll(p.named(arg), "~", " ")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it has no terminal
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// named is a line with what the place has for "<turn>" and the like.
func (p *place) named(line string) string {
	for name, value := range p.with {
		line = strings.ReplaceAll(line, name, value)
	}
	return line
}

// person runs a command on a terminal, with an answer.
func (p *place) person(line, answer string) (string, error) {
	out, err := p.feed(answer+"\n", "script", "-qec", line, "/dev/null")
	return strings.ReplaceAll(out, "\r\n", "\n"), err
}

// agent lets the agent's client do something, with all hooks, and returns what they print.
func (p *place) agent(act func(c *claude.Client)) string {
	var out bytes.Buffer
	if p.client == nil {
		p.process = exec.Command("sleep", "600")
		gittest.Must(p.t, p.process.Start())
		p.t.Cleanup(p.gone)
		p.client = claude.New(filepath.Join(filepath.Dir(p.Dir), ".claude"), p.Dir, nil)
		p.client.PID = p.process.Process.Pid
	}
	p.client.Hook = func(e claude.Event) {
		program := "git-agent-turn"
		if e.Name == "SessionStart" || e.Name == "PreCompact" {
			program = "git-agent-handoff"
		}
		cmd := exec.Command(program, "hook")
		cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, append(p.Env, fmt.Sprintf("CLAUDE_PID=%d", e.PID)), bytes.NewReader(e.Payload())
		said, err := cmd.Output()
		if err != nil {
			p.t.Fatalf("hook of %s: %v\n%s", e.Name, err, said)
		}
		var answer struct {
			HookSpecificOutput struct{ AdditionalContext string }
			SystemMessage      string
		}
		if err := json.Unmarshal(said, &answer); err != nil && len(said) > 0 {
			p.t.Fatalf("hook of %s: %v\n%s", e.Name, err, said)
		}
		out.WriteString(answer.HookSpecificOutput.AdditionalContext + answer.SystemMessage)
	}
	act(p.client)
	p.client.Flush()
	return out.String()
}

// gone ends the agent's client, which tells no hook of it.
func (p *place) gone() {
	if p.client == nil {
		return
	}
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
	p.client = nil
}

// session records a turn of an agent.
func (p *place) session() {
	p.t.Helper()
	p.do("git agent-turn init")
	p.agent(func(c *claude.Client) {
		c.Start("startup")
		c.Prompt("paint it black")
		p.Write("file", "two\n")
		c.Stop("It is black.")
	})
}

// turns records two turns by hand.
func (p *place) turns() {
	p.t.Helper()
	p.do("git agent-turn init")
	for _, prompt := range []string{"paint it black", "paint it white"} {
		p.Write("file", prompt+"\n")
		p.do("git agent-turn record --reply done --prompt " + strings.ReplaceAll(prompt, " ", "~"))
	}
	p.with["<turn>"] = "1"
	p.with["<id>"] = p.mission()
}

// binary records two turns that change a binary file, which has changed since, and another one.
func (p *place) binary() {
	p.t.Helper()
	p.Write("binary", "\x00")
	p.turns()
	p.Write("binary", "\x00\x01")
	p.Write("other", "other\n")
	p.do("git agent-turn record --reply done --prompt both")
	p.Write("binary", "\x00\x02")
}

// attached records a turn of a mission that has a branch, in a worktree of its own.
func (p *place) attached() {
	p.t.Helper()
	p.do("git agent-turn init")
	p.do("git worktree add -q -b agent/mission/a1a1a1a1 ../own")
	own := p.own()
	own.Write("file", "two\n")
	own.do("git agent-turn record --reply done --prompt paint~it~black")
	p.with["<id>"], p.with["<branch>"] = "a1a1a1a1", "main"
	p.Env = append(p.Env, "GIT_EDITOR=true")
}

// forked records a turn of a fork, in a worktree of its own, that another fork of the same turn stands beside.
func (p *place) forked() {
	p.t.Helper()
	p.turns()
	p.do("git agent-fork --no-conversation --no-worktree latest")
	p.do("git agent-fork --no-conversation --worktree ../own latest")
	own := p.own()
	own.Write("file", "paint it red\n")
	own.do("git agent-turn record --reply done --prompt paint~it~red")
	p.with["<fork>"] = strings.TrimPrefix(own.Git("symbolic-ref", "--short", "HEAD"), "agent/mission/")
	for id := range strings.FieldsSeq(p.Git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/agent/missions")) {
		if id != p.with["<fork>"] && id != p.with["<id>"] {
			p.with["<other>"] = id
		}
	}
	p.with["<own>"] = own.Dir
	p.with["<here>"] = p.Dir
}

// own is the place in that worktree.
func (p *place) own() *place {
	own := *p
	own.Repo = p.In(filepath.Join(filepath.Dir(p.Dir), "own"))
	return &own
}

// mission is the only mission.
func (p *place) mission() string {
	return strings.TrimPrefix(p.Git("for-each-ref", "--format=%(refname)", "refs/agent/missions/"), "refs/agent/missions/")
}

// before is a conversation of the client from before, and recording is on since.
func (p *place) before() {
	p.t.Helper()
	c := claude.New(filepath.Join(filepath.Dir(p.Dir), ".claude"), p.Dir, nil)
	c.Prompt("paint it black")
	c.Stop("It is black.")
	c.Flush()
	p.do("git agent-turn init")
}

// imported brings a conversation from before.
func (p *place) imported() string {
	p.t.Helper()
	p.before()
	return p.do("git agent-turn import")
}

// remote gives the repository a remote to which everything may be sent.
func (p *place) remote() {
	p.t.Helper()
	dir := filepath.Join(filepath.Dir(p.Dir), "remote")
	p.do("git init -q --bare " + dir)
	p.do("git remote add origin " + dir)
	p.do("git push -q origin main")
	p.with["<remote>"] = "origin"
}

// consents gives the repository a remote that has everything.
func (p *place) consents() {
	p.t.Helper()
	p.remote()
	p.do("git config agent." + filepath.Join(filepath.Dir(p.Dir), "remote") + ".push all")
	p.do("git agent-turn push")
}

// archived records two turns and archives them, and goes to a worktree that knows of none.
func (p *place) archived() {
	p.t.Helper()
	p.turns()
	p.do("git agent-turn archive <id>")
	p.do("git worktree add -q --detach ../own")
	*p = *p.own()
}

// old records so many turns of years ago, each in a mission.
func (p *place) old(n int) {
	p.t.Helper()
	p.do("git agent-turn init")
	for range n {
		c := claude.New(filepath.Join(filepath.Dir(p.Dir), ".claude"), p.Dir, nil)
		c.Prompt("paint it black")
		c.Stop("It is black.")
		c.Flush()
		text, err := os.ReadFile(c.Path)
		year := regexp.MustCompile(`"timestamp":"\d{4}`)
		if err == nil {
			err = os.WriteFile(c.Path, year.ReplaceAll(text, []byte(`"timestamp":"2020`)), 0o600)
		}
		gittest.Must(p.t, err)
	}
	p.do("git agent-turn import")
}

// unpurged begins a purge that git does not let end.
func (p *place) unpurged() {
	p.t.Helper()
	p.turns()
	host, err := os.Hostname()
	gittest.Must(p.t, err)
	p.Write(".git/gc.pid", fmt.Sprintf("%d %s", os.Getpid(), host))
	p.with["<printed>"], err = p.try("git agent-turn purge --yes --turn 1")
	if err == nil {
		p.t.Fatal("the purge has ended")
	}
	gittest.Must(p.t, os.Remove(filepath.Join(p.Dir, ".git", "gc.pid")))
}

// damaged loses an object of the newest turn.
func (p *place) damaged() {
	p.t.Helper()
	if p.mission() == "" {
		p.turns()
	}
	tree := p.Git("rev-parse", "refs/agent/missions/"+p.mission()+"^{tree}")
	objects := filepath.Join(p.Dir, ".git", "objects")
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*"))
	for _, path := range packs {
		data, e := os.ReadFile(path)
		err = errors.Join(err, e, os.Remove(path))
		if strings.HasSuffix(path, ".pack") {
			_, e = p.feed(string(data), "git", "unpack-objects", "-q")
			err = errors.Join(err, e)
		}
	}
	gittest.Must(p.t, errors.Join(err, os.Remove(filepath.Join(objects, tree[:2], tree[2:]))))
}

// unknown is a place of somebody else.
func (p *place) unknown() *place {
	p.t.Helper()
	other := newPlace(p.t)
	home := filepath.Dir(other.Dir)
	gittest.Must(p.t, os.RemoveAll(filepath.Join(home, ".config", "git-agent")))
	gittest.Key(home, "stranger")
	return other
}

// stranger brings a mission, with a handoff, that somebody unknown has recorded.
func (p *place) stranger() {
	p.t.Helper()
	if p.with["<remote>"] == "" {
		p.remote()
	}
	other := p.unknown()
	other.turns()
	other.do("git agent-handoff write --summary half~of~it")
	other.do("git push -q " + filepath.Join(filepath.Dir(p.Dir), "remote") + " refs/agent/*:refs/agent/*")
	p.do("git agent-turn fetch origin")
	p.with["<mission>"] = other.mission()
}

// A follow is a command that is printed, and what comes of it there.
type follow struct {
	command string // as it is printed; "<turn>" and the like stand for what the place has
	answer  string // of a person, who runs it on a terminal
	status  int    // it exits with this
}

func run(commands ...string) []follow {
	var list []follow
	for _, c := range commands {
		list = append(list, follow{command: c})
	}
	return list
}

var scenes = []struct {
	name    string
	prepare func(p *place)
	says    func(p *place) string // what is printed; instead of line
	line    string                // what a person types
	follow  []follow
}{
	// Nothing here yet.
	{name: "not switched on", line: "git agent-turn list", follow: run("git agent-turn init")},
	{name: "doctor, not switched on", line: "git agent-turn doctor", follow: run("git agent-turn init")},
	{name: "first contact", line: "git agent-turn", follow: run("git agent-turn init")},
	{
		name: "later", line: "git agent-turn", prepare: (*place).turns,
		follow: run("git agent-turn list", "git agent-turn show", "git agent-turn diff"),
	},
	{name: "others can read", prepare: func(p *place) {
		gittest.Must(p.t, gittest.Reachable(p.Dir))
	}, line: "git agent-turn init", follow: run("git agent-turn init --private")},
	{name: "an agent without hooks for projects", prepare: func(p *place) { p.do("git agent-turn init") }, line: "git agent-turn init --agent opencode --project", follow: run("git agent-turn init --agent opencode")},
	{name: "a remote has turns", prepare: (*place).remote, line: "git agent-turn list", follow: run("git agent-turn init", "git agent-turn fetch origin")},
	{name: "no session", line: "git agent-handoff context", prepare: func(p *place) {
		p.session()
		p.with["<session>"] = p.client.Session
		p.do("git worktree add -q --detach ../other")
		p.Repo = p.In(filepath.Join(filepath.Dir(p.Dir), "other"))
	}, follow: run("git agent-handoff context <session>")},
	{name: "only others' missions", prepare: func(p *place) {
		p.stranger()
		p.stranger()
	}, line: "git agent-handoff write", follow: run("git agent-turn missions")},
	{name: "a hook that fails", prepare: func(p *place) { p.do("git agent-turn init") }, says: func(p *place) string {
		obstacle := filepath.Join(p.Dir, ".git", "refs", "agent")
		gittest.Must(p.t, os.WriteFile(obstacle, nil, 0o666))
		defer os.Remove(obstacle)
		return p.agent(func(c *claude.Client) {
			c.Prompt("paint it black")
			c.Stop("It is black.")
		})
	}, follow: run("git agent-turn doctor")},
	{name: "no key", line: "git agent-turn trust key", prepare: func(p *place) {
		gittest.Must(p.t, os.RemoveAll(filepath.Join(filepath.Dir(p.Dir), ".config", "git-agent")))
	}, follow: run("git agent-turn init")},

	// Turns and missions.
	{name: "no such turn", prepare: (*place).turns, line: "git agent-turn show 99", follow: run("git agent-turn list --all")},
	{name: "no such commit", prepare: (*place).turns, line: "git agent-turn show HEAD^{tree}", follow: run("git agent-turn missions")},
	{name: "no such mission", prepare: (*place).turns, line: "git agent-turn show ffffffff/1", follow: run("git agent-turn missions")},
	{name: "no mission begins so", prepare: (*place).turns, line: "git agent-turn list --mission ffff", follow: run("git agent-turn missions")},
	{name: "nobody chooses", prepare: (*place).turns, line: "git agent-fork", follow: run("git agent-fork <turn>", "git agent-turn list --all")},
	{name: "nobody chooses forks", prepare: func(p *place) { p.turns(); p.do("git agent-fork --no-worktree 1") }, line: "git agent-fork compare", follow: run("git agent-fork compare <turn>", "git agent-turn missions --tree")},
	{name: "compared without forks", prepare: (*place).turns, line: "git agent-fork compare 1", follow: run("git agent-fork 1")},
	{name: "compared what is no fork", prepare: (*place).turns, line: "git agent-fork compare <id>/1 <id>/2", follow: run("git agent-turn diff <id>/1 <id>/2")},
	{name: "compared", prepare: (*place).turns, says: func(p *place) string {
		before := p.mission()
		var forks []string
		for range 2 {
			p.do("git agent-fork --no-worktree 1")
			for _, id := range strings.Fields(strings.ReplaceAll(p.mission(), "refs/agent/missions/", "")) {
				if id != before && !slices.Contains(forks, id) {
					forks = append(forks, id)
					p.do("git agent-turn record --mission " + id + " --reply done --prompt otherwise")
				}
			}
		}
		p.with["<fork>"], p.with["<other>"] = forks[0], forks[1]
		return p.do("git agent-fork compare 1")
	}, follow: run("git agent-fork adopt <fork>", "git agent-turn diff <other> <fork>")},
	{name: "a commit has no conversation", prepare: func(p *place) {
		p.turns()
		p.with["<commit>"] = p.Git("rev-parse", "--short=12", "HEAD")
	}, line: "git agent-turn show --conversation HEAD", follow: run("git agent-turn show <commit>")},
	{name: "a stranger's turns", prepare: (*place).stranger, line: "git agent-turn show HEAD", follow: []follow{{command: "git agent-turn trust accept <mission>", answer: "yes"}}},
	{name: "nothing to compare with", prepare: func(p *place) {
		p.Commit("second")
	}, line: "git agent-turn summary", follow: run("git agent-turn summary HEAD^..HEAD")},
	{name: "nothing in the range", prepare: func(p *place) {
		p.Commit("second")
	}, line: "git agent-turn summary HEAD..HEAD", follow: run("git agent-turn summary HEAD^..HEAD")},
	{name: "export in no format", line: "git agent-turn export", follow: run("git agent-turn export --format agent-trace HEAD")},
	{name: "export of no range", prepare: func(p *place) {
		p.do("git branch -m only")
	}, line: "git agent-turn export --format git-ai", follow: run("git agent-turn export --format git-ai HEAD")},
	{name: "export of no commit", line: "git agent-turn export --format git-ai nothing", follow: run("git agent-turn export --format git-ai HEAD")},
	{name: "export of an empty range", line: "git agent-turn export --format git-ai HEAD..HEAD", follow: run("git agent-turn export --format git-ai HEAD")},
	{name: "no such range", prepare: (*place).turns, line: "git agent-turn summary nothing", follow: run("git log --oneline")},
	{name: "blamed without a worktree", prepare: func(p *place) {
		p.do("git clone -q --bare . ../bare")
	}, line: "git -C ../bare agent-turn blame file", follow: run("git agent-turn blame HEAD -- file")},
	{name: "blamed, and gone", prepare: func(p *place) {
		p.do("git mv file other")
	}, line: "git agent-turn blame file", follow: run("git agent-turn blame HEAD -- file")},
	{name: "why what", prepare: func(p *place) {
		p.Write("main.go", strings.Repeat("line\n", 12))
	}, line: "git agent-turn why", follow: run("git agent-turn why main.go:12")},
	{name: "why a file", line: "git agent-turn why file", follow: run("git agent-turn why file 1")},
	{name: "why in the wrong order", line: "git agent-turn why 1 file", follow: run("git agent-turn why file 1")},
	{name: "why after the end", line: "git agent-turn why file:9", follow: run("git agent-turn why file 1")},
	{name: "why", prepare: func(p *place) {
		p.do("git agent-turn init")
		p.Write("file", "two\n")
		p.do("git agent-turn record --prompt paint~it --reply " + strings.Repeat("It~is~black.~", 200))
		p.with["<id>"] = p.mission()
		p.Env = append(p.Env, "GIT_PAGER_IN_USE=1", "COLUMNS=80", "NO_COLOR=1") // a reply of many lines
	}, line: "git agent-turn why file:1", follow: run("git agent-turn show --full <id>/1", "git agent-fork <id>/1", "git agent-turn revert <id>/1")},
	{name: "nobody chooses what to show", prepare: (*place).turns, line: "git agent-turn show -i", follow: run("git agent-turn list --all")},
	{name: "a conversation from before", prepare: (*place).before, line: "git agent-turn missions", follow: run("git agent-turn import")},
	{name: "imported", says: (*place).imported, follow: run("git agent-turn missions")},
	{name: "code that is not known", prepare: func(p *place) {
		p.do("git reflog expire --expire=now --all")
		p.imported()
		p.with["<id>"] = p.mission()
	}, line: "git agent-turn restore 1", follow: run("git agent-turn show <id>/1", "git agent-fork <id>/1")},
	{name: "restored", prepare: (*place).turns, line: "git agent-turn restore 1", follow: run("git agent-turn undo")},
	{name: "nothing to undo", prepare: (*place).turns, line: "git agent-turn undo", follow: run("git agent-turn list")},
	{name: "a conflict", prepare: (*place).turns, line: "git agent-turn revert 1", follow: []follow{{command: "git agent-turn revert --merge <id>/1", status: 1}}},
	{name: "a conflict in undo", prepare: func(p *place) {
		p.turns()
		p.do("git agent-turn restore 1")
		p.Write("file", "paint it red\n")
	}, line: "git agent-turn undo", follow: []follow{{command: "git agent-turn undo --merge", status: 1}}},
	{name: "adopted", prepare: (*place).forked, line: "git agent-fork adopt <fork>", follow: []follow{
		{command: "git agent-turn undo"},
		{command: "git agent-fork adopt --remove-others <fork>/3", answer: "yes"},
	}},
	{name: "nobody removes the others", prepare: (*place).forked, says: func(p *place) string {
		out, _ := p.try("git agent-fork adopt --remove-others <fork>")
		p.with["<mission>"] = p.with["<other>"]
		return out
	}, follow: run("git agent-turn remove <mission>")},
	{name: "adopted without a conversation", prepare: (*place).forked, line: "git agent-fork adopt --resume <fork>", follow: run("git agent-turn show <fork>/3")},
	{name: "commits without a branch", prepare: func(p *place) {
		p.forked()
		p.do("git worktree remove --force ../own")
		p.do("git branch -q -D agent/mission/<fork>")
	}, line: "git agent-fork adopt --commits pick <fork>", follow: run("git agent-fork adopt <fork>/3")},
	{name: "commits that were amended", prepare: func(p *place) {
		p.forked()
		p.do("git add file")
		p.do("git commit -q -m second")
		own := p.own()
		own.Commit("red")
		own.Write("file", "paint it green\n")
		own.do("git agent-turn record --reply done --prompt paint~it~green")
		own.do("git commit -q --amend --no-edit file")
	}, line: "git agent-fork adopt --commits pick <fork>/4", follow: run("git agent-fork adopt --commits pick <fork>")},
	{name: "adopted in part", prepare: func(p *place) {
		p.forked()
		p.own().Write("other", "by hand\n")
	}, line: "git agent-fork adopt <fork>", follow: run("git -C <own> agent-turn record --mission <fork>")},
	{name: "a conflict in adopt", prepare: func(p *place) {
		p.forked()
		p.Write("file", "paint it blue\n")
	}, line: "git agent-fork adopt <fork>", follow: []follow{{command: "git agent-fork adopt --merge <fork>/3", status: 1}}},
	{name: "adopt at its own", prepare: (*place).forked, line: "git -C <own> agent-fork adopt <fork>", follow: run("git -C <here> agent-fork adopt <fork>/3")},
	{name: "adopt what is running", prepare: func(p *place) {
		p.forked()
		p.own().agent(func(c *claude.Client) {
			c.Start("startup")
			c.Prompt("paint it green")
		})
	}, line: "git agent-fork adopt <fork>", follow: run("git agent-fork adopt <fork>/3")},
	{name: "adopt no fork", prepare: func(p *place) {
		p.turns()
		p.Env = append(p.Env, "GIT_EDITOR=true")
	}, line: "git agent-fork adopt latest", follow: run("git agent-turn finish <id>")},
	{name: "both sides", prepare: (*place).turns, line: "git agent-turn revert --merge 1", follow: run("git agent-turn undo")},
	{name: "no sides", prepare: (*place).binary, line: "git agent-turn revert 3", follow: []follow{{command: "git agent-turn revert --merge <id>/3", status: 1}}},
	{name: "no sides written", prepare: (*place).binary, line: "git agent-turn revert --merge 3", follow: run("git agent-turn undo")},
	{name: "some sides", prepare: func(p *place) {
		p.binary()
		p.Write("file", "paint it red\n")
	}, line: "git agent-turn revert 1..3", follow: []follow{{command: "git agent-turn revert --merge <id>/1..<id>/3", status: 1}}},
	{name: "some sides written", prepare: func(p *place) {
		p.binary()
		p.Write("file", "paint it red\n")
	}, line: "git agent-turn revert --merge 1..3", follow: run("git agent-turn undo")},
	{
		name: "bisected", prepare: (*place).turns, line: "git agent-turn bisect --good 1 --bad 2 -- grep -q black file",
		follow: run("git agent-turn show --conversation <id>/2", "git agent-turn revert <id>/2"),
	},
	{name: "bisected without an end", prepare: (*place).turns, line: "git agent-turn bisect --good 1", follow: run("git agent-turn list")},
	{name: "bisected across forks", prepare: func(p *place) {
		p.turns()
		p.do("git agent-turn record --mission f0f0f0f0 --reply done --prompt otherwise")
	}, line: "git agent-turn bisect --good f0f0f0f0/1 --bad <id>/2 -- true", follow: run("git agent-turn missions --tree")},
	{name: "bisected across what forks have in common", prepare: (*place).turns, says: func(p *place) string {
		before := p.mission()
		p.do("git agent-fork --no-worktree 1")
		fork := strings.Fields(strings.ReplaceAll(p.mission(), "refs/agent/missions/", ""))
		fork = slices.DeleteFunc(fork, func(id string) bool { return id == before })
		p.do("git agent-turn record --mission " + fork[0] + " --reply done --prompt otherwise")
		out, _ := p.try("git agent-turn bisect --good " + fork[0] + "/2 --bad " + before + "/2 -- true")
		return out
	}, follow: run("git agent-turn missions --tree")},
	{name: "both sides of a handoff", prepare: func(p *place) {
		p.turns()
		p.do("git agent-handoff write --summary half")
		p.Write("file", "red\n")
		p.Commit("red")
	}, line: "git agent-handoff restore", follow: run("git agent-turn undo")},
	{name: "which to finish", prepare: func(p *place) {
		p.stranger()
		p.stranger()
	}, line: "git agent-turn finish", follow: run("git agent-turn missions")},
	{name: "finished", prepare: (*place).attached, line: "git agent-turn finish a1a1a1a1", follow: run("git agent-turn finish --remove <id>")},
	{name: "finished on its own branch", prepare: (*place).attached, line: "git -C ../own agent-turn finish", follow: run("git agent-turn finish <id> --onto <branch>")},
	{name: "finished while it runs", prepare: func(p *place) {
		p.session()
		p.agent(func(c *claude.Client) { c.Prompt("paint it white") })
	}, line: "git agent-turn finish", follow: run("git agent-turn missions")},
	{name: "finished with nothing", prepare: func(p *place) {
		p.do("git agent-turn init")
		p.do("git agent-turn record --reply done --prompt why")
		p.with["<id>"] = p.mission()
	}, line: "git agent-turn finish", follow: run("git agent-turn list --mission <id>")},
	{name: "finished without what was done elsewhere", prepare: func(p *place) {
		p.attached()
		own := p.own()
		own.do("git checkout -q -b aside")
		own.Write("file", "three\n")
		own.do("git agent-turn record --mission a1a1a1a1 --reply done --prompt again")
		own.do("git commit -q -a -m aside")
	}, line: "git agent-turn finish a1a1a1a1", follow: run("git agent-turn list --mission <id>")},
	{name: "finished at once", prepare: func(p *place) {
		p.attached()
		p.Env = append(p.Env, "GIT_EDITOR=git agent-turn finish a1a1a1a1 #")
	}, line: "git agent-turn finish a1a1a1a1", follow: run("git agent-turn missions")},
	{name: "finished in parts", prepare: (*place).attached, line: "git agent-turn finish --split 9 a1a1a1a1", follow: run("git agent-turn list --mission <id>")},
	{name: "removed from inside", prepare: (*place).attached, line: "git -C ../own agent-turn finish --onto main --remove", follow: run("git agent-turn finish --remove <id>")},
	{name: "removed from under an agent", prepare: (*place).attached, says: func(p *place) string {
		own := p.own()
		own.agent(func(c *claude.Client) {
			c.Prompt("paint it white")
			c.Stop("It is black.")
		})
		out, _ := p.try("git agent-turn finish --remove a1a1a1a1")
		own.gone()
		return out
	}, follow: run("git agent-turn finish --remove <id>")},
	{name: "removed, and in no branch", prepare: (*place).attached, says: func(p *place) string {
		p.do("git switch -q --detach")
		out, _ := p.try("git agent-turn finish --remove a1a1a1a1")
		p.do("git switch -q -c work")
		return out
	}, follow: run("git agent-turn finish --remove <id>")},
	{name: "nowhere to push", prepare: func(p *place) { p.turns(); p.remote() }, line: "git agent-fork 1 --push", follow: []follow{{command: "git agent-turn init --push <remote>", answer: "all"}}},
	{name: "not agreed", prepare: func(p *place) { p.turns(); p.remote() }, line: "git agent-turn push origin", follow: []follow{{command: "git agent-turn init --push origin", answer: "all"}}},
	{name: "continued by a stranger", prepare: func(p *place) {
		p.turns()
		p.remote()
		p.do("git push -q origin refs/agent/*:refs/agent/*")
		other, remote := p.unknown(), filepath.Join(filepath.Dir(p.Dir), "remote")
		_, err := other.person("git agent-turn trust add dev "+strings.ReplaceAll(p.do("git agent-turn trust key"), "\n", ""), "yes")
		gittest.Must(p.t, err)
		other.do("git fetch -q " + remote + " refs/agent/*:refs/agent/*")
		other.do("git agent-turn record --prompt go~on~there --mission " + p.mission())
		other.do("git push -q " + remote + " refs/agent/*:refs/agent/*")
		p.do("git agent-turn record --prompt go~on~here")
	}, says: func(p *place) string {
		out := p.do("git agent-turn fetch origin")
		p.with["<mission>"] = regexp.MustCompile(`[0-9a-f]{12}`).FindString(out)
		return out
	}, follow: []follow{{command: "git agent-turn trust accept <mission>", answer: "yes"}}},

	// Keys, and what strangers have recorded.
	{name: "no line", line: "git agent-turn trust add laptop nonsense", follow: run("git agent-turn trust key")},
	{name: "no such name", line: "git agent-turn trust remove laptop", follow: run("git agent-turn trust")},
	{name: "nothing to accept", line: "git agent-turn trust accept ffffffff", prepare: (*place).turns, follow: run("git agent-turn missions")},
	{name: "a stranger's fork", prepare: (*place).stranger, line: "git agent-fork latest", follow: []follow{{command: "git agent-turn trust accept <mission>", answer: "yes"}}},
	{name: "a stranger's handoff", prepare: (*place).stranger, line: "git agent-handoff show", follow: []follow{{command: "git agent-turn trust accept <mission>", answer: "yes"}}},
	{name: "looking at a stranger's", prepare: (*place).stranger, says: func(p *place) string {
		out, _ := p.person("git agent-turn trust accept "+p.mission(), "no")
		return out
	}, follow: run("git agent-turn list --mission <mission>", "git agent-handoff list --mission <mission>")},
	{name: "a stranger's handoff at a start", prepare: func(p *place) {
		p.stranger()
		p.do("git agent-turn init")
		p.Env = append(p.Env, "GIT_AGENT_MISSION="+p.mission())
	}, says: func(p *place) string {
		return p.agent(func(c *claude.Client) { c.Start("startup") })
	}, follow: []follow{{command: "git agent-handoff show <mission>/1"}, {command: "git agent-turn trust accept <mission>", answer: "yes"}}},

	// Handoffs.
	{name: "nothing to search", line: "git agent-turn search zyzzyva", follow: run("git agent-turn init")},
	{name: "nothing is found", prepare: (*place).turns, line: "git agent-turn search zyzzyva", follow: run("git agent-turn list --all")},
	{name: "nothing is found in a handoff", prepare: func(p *place) {
		p.turns()
		p.do("git agent-handoff write --summary painted")
		p.with["<words>"] = "paint"
	}, line: "git agent-handoff grep zyzzyva", follow: run("git agent-turn search <words>")},
	{name: "no such handoff", prepare: (*place).turns, line: "git agent-handoff show 99", follow: run("git agent-handoff list --all")},
	{name: "no such handoff to search", prepare: (*place).turns, line: "git agent-handoff grep --handoff 99 x", follow: run("git agent-handoff list --all")},
	{name: "no such mission with handoffs", prepare: (*place).turns, line: "git agent-handoff list --mission ffffffff", follow: run("git agent-turn missions")},
	{name: "a window is not calibrated", prepare: func(p *place) { p.do("git agent-turn init") }, line: "git agent-handoff context --calibrate", follow: run("git agent-turn doctor")},
	{name: "no mission to hand off", line: "git agent-handoff write --exit-type crash --mission ffffffff", prepare: (*place).turns, follow: run("git agent-turn missions")},
	{name: "no handoff to go on from", prepare: func(p *place) {
		p.turns()
		p.Write("done.md", "# Done\n")
		p.with["<file>"] = "done.md"
	}, line: "git agent-handoff wake", follow: run("git agent-handoff write <file>")},
	{name: "waking", prepare: func(p *place) {
		p.turns()
		p.Write("terminal.log", "a line\n")
		p.do("git agent-handoff write --summary half --log terminal.log")
		p.with["<pattern>"] = "line"
	}, line: "git agent-handoff wake", follow: run("git agent-handoff show <id>/1", "git agent-handoff grep --handoff <id>/1 <pattern>")},
	{name: "what is told", prepare: func(p *place) {
		p.turns()
		p.Write("terminal.log", "a line\n")
		p.Write("done.md", "# Done\n"+strings.Repeat("A line of the document.\n", 2000))
		p.do("git agent-handoff write --log terminal.log done.md")
		p.with["<pattern>"] = "line"
	}, line: "git agent-handoff prime", follow: run("git agent-handoff show <id>/1 --document", "git agent-handoff grep <pattern>", "git agent-handoff restore <id>/1")},
	{name: "two sessions that are gone", prepare: func(p *place) {
		p.do("git agent-turn init")
		first := *p
		for _, p := range []*place{&first, p} {
			p.agent(func(c *claude.Client) {
				c.Start("startup")
				c.Prompt("paint it black")
			})
		}
		first.gone()
		p.gone()
	}, says: func(p *place) string {
		out := p.agent(func(c *claude.Client) { c.Start("startup") })
		p.with["<handoff>"] = regexp.MustCompile(`[0-9a-f]{8}/1`).FindString(out[strings.Index(out, "Another session")+1:])
		return out
	}, follow: run("git agent-handoff prime <handoff>")},
	// Years of it.
	{name: "nothing is archived", prepare: (*place).turns, line: "git agent-turn missions --archived", follow: run("git agent-turn archive")},
	{name: "all is archived", prepare: (*place).archived, line: "git agent-turn list", follow: run("git agent-turn missions --archived")},
	{name: "adopt what is archived", prepare: func(p *place) {
		p.forked()
		p.do("git worktree remove --force ../own")
		p.do("git branch -q -D agent/mission/<fork>")
		p.do("git agent-turn archive <fork>")
	}, line: "git agent-fork adopt --commits pick <fork>", follow: run("git agent-turn archive --out <fork>")},
	{name: "archived at a remote", prepare: func(p *place) {
		p.turns()
		p.consents()
		p.do("git agent-turn archive <id>")
		p.do("git agent-turn push")
		p.do("git clone -q ../remote ../own")
		*p = *p.own()
		p.do("git agent-turn fetch")
	}, line: "git agent-turn show <id>/1", follow: run("git agent-turn fetch --mission <id> origin")},
	{name: "many old missions", prepare: func(p *place) {
		p.old(1)
		p.with["<age>"] = "90d"
	}, line: "git agent-turn doctor", follow: run("git agent-turn archive", "git agent-turn remove --older-than <age>")},
	{name: "said with the word of before", prepare: func(p *place) {
		p.turns()
		p.with["<age>"] = "90d"
	}, line: "git agent-turn prune --older-than 90d --dry-run", follow: run("git agent-turn remove --older-than <age>")},
	{name: "handed off with the word of before", prepare: func(p *place) {
		p.turns()
		p.with["<type>"] = "crash"
	}, line: "git agent-handoff gather --exit-type crash", follow: run("git agent-handoff write --exit-type <type>")},
	{name: "pruned at a remote, where it goes on", prepare: (*place).turns, says: func(p *place) string {
		p.consents()
		p.do("git clone -q ../remote ../own")
		own := p.own()
		own.do("git agent-turn fetch")
		own.do("git agent-turn record --prompt more --mission <id>")
		own.do("git push -q origin refs/agent/*:refs/agent/*")
		return p.do("git agent-turn remove --older-than 0h --remote --yes origin")
	}, follow: run("git agent-turn fetch --mission <id> origin")},
	{name: "all to be removed while recording is on", prepare: (*place).turns, line: "git agent-turn remove --all", follow: run("git agent-turn init --remove")},
	{name: "all to be removed while a purge has not ended", prepare: (*place).unpurged, line: "git agent-turn remove --all", follow: run("git agent-turn purge")},
	{name: "recording switched off", prepare: (*place).turns, line: "git agent-turn init --remove", follow: []follow{
		{command: "git agent-turn remove --all", answer: "yes"},
	}},
	{name: "all to be removed, and sent before", prepare: func(p *place) {
		p.turns()
		p.consents()
		p.do("git agent-turn init --remove")
	}, line: "git agent-turn remove --all", follow: []follow{{command: "git agent-turn remove --older-than 0h --remote origin", answer: "yes"}}},
	{name: "purged, and not at a remote", prepare: (*place).turns, says: func(p *place) string {
		p.consents()
		out, _ := p.person("git agent-turn purge --turn 1", "yes")
		return out
	}, follow: []follow{{command: "git agent-turn purge --push", answer: "yes"}}},
	{name: "purged, and nobody to ask for a remote", prepare: func(p *place) {
		p.turns()
		p.consents()
		_, _ = p.person("git agent-turn purge --turn 1", "yes")
	}, line: "git agent-turn purge --push", follow: run("git agent-turn purge --push --yes")},
	{name: "purged without a key", prepare: func(p *place) {
		p.turns()
		gittest.Must(p.t, os.RemoveAll(filepath.Join(filepath.Dir(p.Dir), ".config", "git-agent")))
	}, line: "git agent-turn purge --turn 1 --dry-run", follow: run("git agent-turn doctor")},
	{name: "purged without a trusted key", prepare: func(p *place) {
		p.turns()
		p.consents()
		own := p.unknown()
		_, err := own.person("git agent-turn trust add dev "+strings.TrimSpace(p.do("git agent-turn trust key")), "yes")
		gittest.Must(p.t, err)
		remote := filepath.Join(filepath.Dir(p.Dir), "remote")
		own.do("git remote add origin " + remote)
		own.do("git config agent." + remote + ".push all")
		own.do("git agent-turn fetch")
		own.do("git agent-turn purge --yes --turn " + p.with["<id>"] + "/1")
	}, line: "git agent-turn fetch origin", follow: []follow{{command: "git agent-turn fetch --accept-purges --mission <id> origin", answer: "yes"}}},
	{name: "a purge while git collects garbage", prepare: (*place).unpurged, says: func(p *place) string {
		return p.with["<printed>"]
	}, follow: run("git agent-turn purge")},
	{name: "a purge that can't write", prepare: func(p *place) {
		noise := make([]byte, 600_000)
		_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
		p.Write("big", string(noise))
		p.turns()
		p.do("git repack -adq")
	}, says: func(p *place) string {
		out, _ := p.feed("", "sh", "-c", "ulimit -f 400; git agent-turn purge --yes --turn 1")
		return out
	}, follow: run("git agent-turn purge")},
	{name: "a purge that has not ended", prepare: (*place).unpurged, line: "git agent-turn doctor", follow: run("git agent-turn purge")},
	{name: "a purge that has not ended, in repair", prepare: (*place).unpurged, line: "git agent-turn doctor --repair", follow: run("git agent-turn purge")},
	{name: "a purge that has not ended, in a session", prepare: (*place).unpurged, says: func(p *place) string {
		return p.agent(func(c *claude.Client) {
			c.Prompt("paint it red")
			c.Stop("It is red.")
		})
	}, follow: run("git agent-turn purge")},
	{name: "damaged", prepare: (*place).damaged, line: "git agent-turn show", follow: []follow{{command: "git agent-turn doctor --repair", status: 1}}},
	{name: "damaged, in doctor", prepare: (*place).damaged, line: "git agent-turn doctor", follow: []follow{{command: "git agent-turn doctor --repair", status: 1}}},
	{name: "a session of what is damaged", prepare: func(p *place) {
		p.session()
		p.damaged()
	}, says: func(p *place) string {
		return p.agent(func(c *claude.Client) {
			c.Prompt("paint it red")
			p.Write("file", "three\n")
			c.Stop("It is red.")
		})
	}, follow: []follow{{command: "git agent-turn doctor --repair", status: 1}}},
	{name: "to mend", prepare: func(p *place) {
		p.turns()
		p.do("git update-ref -d refs/notes/agent/<id>")
	}, line: "git agent-turn doctor --repair --dry-run", follow: run("git agent-turn doctor --repair")},
	{name: "a ref without a hash", prepare: func(p *place) {
		p.RefFiles()
		p.turns()
		p.consents()
		if err := os.RemoveAll(filepath.Join(p.Dir, ".git", "agent", "trust")); err != nil { // what this clone wrote
			p.t.Fatal(err)
		}
		p.Write(".git/refs/agent/missions/"+p.with["<id>"], "")
	}, line: "git agent-turn doctor --repair", follow: run("git agent-turn fetch --mission <id>")},
	{name: "an end without a document", prepare: func(p *place) {
		p.session()
		p.agent(func(c *claude.Client) { c.End("other") })
		p.with["<id>"] = p.mission()
		p.gone()
	}, says: func(p *place) string {
		return p.agent(func(c *claude.Client) { c.Start("startup") })
	}, follow: run("git agent-handoff prime <id>/1")},
	{name: "a refused conversation", prepare: func(p *place) {
		p.session()
		p.with["<id>"] = p.mission()
		p.agent(func(c *claude.Client) {
			c.Prompt("paint it red")
			c.Fail("Prompt is too long")
		})
	}, says: func(p *place) string {
		return p.agent(func(c *claude.Client) { c.Prompt("paint it red") })
	}, follow: run("git agent-fork <id>/1")},
}

// elsewhere are texts that no scene here leads to, and why.
var elsewhere = map[string]string{
	"begin with: git agent-handoff log start": "needs a pane of tmux; test/e2e",
	"git agent-handoff show %s --terminal":    "needs a pane of tmux; test/e2e",
	"search it with `git agent-handoff grep <pattern>`, or read it with `git agent-handoff show %s --terminal`":           "needs a pane of tmux; test/e2e",
	"wake one with: git agent-handoff wake --tmux <target>":                                                               "needs an agent in a pane of tmux; test/e2e",
	"the agent's turn ends only after this; it can ask for it with: git agent-handoff write --wake":                       "needs an agent in a pane of tmux; test/e2e",
	"git agent-handoff retry gave up after %s: %s.":                                                                       "no advice, but what was done",
	"%s %d is the last that a mission can have; go on in another one: git agent-turn start":                               "needs a million turns",
	"The first %d turns are left out; `git agent-turn list` has them. ":                                                   "is told to an agent, after 20 turns",
	"what is left: the mission %s, its branch and the worktree %s; remove them with git agent-turn remove --force %s: %w": "needs a disk that fails twice",
	"what is left: the mission %s and its branch; remove them with git agent-turn remove %s: %w":                          "needs a disk that fails twice",
	"go back to what was there before with: git agent-turn undo":                                                          "needs a disk that fails in the middle of a restore",
	// The script doctor.txtar runs every remedy.
	"; take that hook out of the file, then run: git agent-turn init": "doctor",
	"git agent-turn init --remove":                                    "doctor",
	"git agent-turn init --project --remove":                          "doctor",
	"git agent-turn push %s":                                          "doctor",
}

func TestHintsWork(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	if runtime.GOOS == "linux" {
		if _, err := exec.LookPath("script"); err != nil {
			t.Skip("script is missing")
		}
	} else {
		t.Skip("script takes other arguments here")
	}
	all := texts(t)
	var seen sync.Map // formats of what was printed
	t.Run("scenes", func(t *testing.T) {
		for _, s := range scenes {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				gittest.Sample(t)
				p := newPlace(t)
				if s.prepare != nil {
					s.prepare(p)
				}
				says := s.says
				if says == nil {
					says = func(p *place) string {
						out, _ := p.try(s.line)
						return out
					}
				}
				printed := says(p)
				for _, x := range all {
					if x.names() && !x.help && x.matches().MatchString(printed) {
						seen.Store(x.format, true)
					}
				}
				for _, f := range s.follow {
					p.follow(printed, f)
				}
				if t.Failed() || len(s.follow) == 0 {
					t.Logf("%s\n%s", s.line, printed)
				}
			})
		}
	})
	if !gittest.Whole() {
		return // some scenes were left out
	}
	for _, x := range all {
		if _, ok := seen.Load(x.format); !ok && x.names() && !x.help && elsewhere[x.format] == "" {
			t.Errorf("%s: no scene leads to this: %q", x.at, x.format)
		}
	}
}

// follow runs a command that was printed.
func (p *place) follow(printed string, f follow) {
	p.t.Helper()
	line, pattern := p.named(f.command), regexp.QuoteMeta(f.command)
	for name, value := range p.with {
		pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta(name), "("+regexp.QuoteMeta(name)+"|"+regexp.QuoteMeta(value)+")")
	}
	if !regexp.MustCompile(pattern).MatchString(printed) {
		p.t.Errorf("%q is not printed", line)
		return
	}
	out, err := "", error(nil)
	if f.answer != "" {
		out, err = p.person(line, f.answer)
	} else {
		out, err = p.try(line)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == f.status {
		return
	}
	if err != nil || f.status != 0 {
		p.t.Errorf("%s: %v\n%s", line, err, out)
	}
}
