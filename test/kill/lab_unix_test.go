//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A lab is a repository in which processes are killed, with an agent's session that works in it.
type lab struct {
	*gittest.Repo // the worktree that the agent works in
	*series
	t       *testing.T
	main    *gittest.Repo // the first worktree
	bare    *gittest.Repo // the remote origin
	common  string        // the git directory
	outside string        // where commands make worktrees
	tmp     string
	config  string // of the agent's client
	env     []string
	family  *gittest.Family

	c        *replay.Client
	unheard  *replay.Client    // a client without hooks
	said     int               // messages of sub-agents
	process  *exec.Cmd         // of the client
	attached string            // the mission whose branch the agent works on, "" for none
	n        int               // prompts so far
	prompt   string            // the last one
	done     map[string]string // the turns that were acknowledged: their code by their prompts
	used     string            // a worktree of which a command uses the private index: what is left of that goes with the next such command
	going    string            // a worktree that is being removed: there may be a part of it until that is done

	other  *lab            // a second clone
	guests []*gittest.Repo // that the session visits
	home   string          // the branch that the user was on
}

// newLab makes a repository with so many files, with recording switched on.
func newLab(t *testing.T, r *series) *lab {
	t.Helper()
	l := &lab{
		series: r, t: t, main: gittest.New(t), bare: gittest.New(t, "--bare"), outside: gittest.TempDir(t), tmp: gittest.TempDir(t),
		config: gittest.TempDir(t), family: gittest.NewFamily(t), done: make(map[string]string),
	}
	l.Repo, l.common = l.main, filepath.Join(l.main.Dir, ".git")
	l.env = append(append([]string{}, l.Env...), "CLAUDE_CONFIG_DIR="+l.config)
	if !r.signed && r.random.IntN(2) == 0 { // nothing is signed; what was recorded here counts all the same
		l.env = append(l.env, "XDG_CONFIG_HOME="+l.tmp)
	}
	for i := range r.files {
		l.Write(fmt.Sprintf("files/%d/%d", i%40, i), fmt.Sprintf("file %d\n", i))
	}
	l.Write("file", "none\n")
	l.Write("user", "none\n")
	l.Write(".git/agent/enabled", "")
	l.Commit("first")
	l.Git("config", "gc.autoDetach", "false") // else git's own repacking goes on beside the next check
	url := l.bare.Dir
	if r.remote {
		dir := filepath.Dir(l.bare.Dir)
		url = "git://" + gittest.Serve(t, func() *exec.Cmd { return gittest.Daemon(dir) }) + "/repo"
	}
	l.Git("remote", "add", "origin", url)
	l.Git("push", "-q", "origin", "main")
	t.Cleanup(func() { l.leave() })
	if r.attached {
		args, dir := []string{"git-agent-turn", "start", "--title", "attached"}, l.main.Dir
		if r.random.IntN(2) == 0 {
			dir = filepath.Join(l.outside, "linked")
			args = append(args, "--worktree", dir)
		}
		l.attached = strings.TrimSpace(l.must(command{args: args}).stdout)
		l.Repo = l.main.In(dir)
	}
	return l
}

// clone is another clone of the same remote.
func (l *lab) clone() *lab {
	if l.other == nil {
		r := *l.series
		r.files, r.attached, r.remote = 0, false, false
		l.other = newLab(l.t, &r)
		l.other.Git("remote", "set-url", "origin", l.Git("remote", "get-url", "origin"))
	}
	return l.other
}

// consent lets a command send everything to the remote. The hooks have none: what they would push
// is left to the commands.
func (l *lab) consent() []string {
	return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=agent." + l.Git("remote", "get-url", "origin") + ".push", "GIT_CONFIG_VALUE_0=all"}
}

// must runs a command that has to succeed.
func (l *lab) must(c command) result {
	l.t.Helper()
	r := l.run(c)
	if r.status != c.status {
		l.find("undisturbed, "+c.name()+" fails", "%q: %v", c.args, r)
		l.t.FailNow()
	}
	return r
}

func (c command) name() string {
	if len(c.args) < 2 || strings.HasPrefix(c.args[1], "-") {
		return c.args[0]
	}
	return c.args[0] + " " + c.args[1]
}

// enter begins a session, unless there is one. Nothing tells of it.
func (l *lab) enter() {
	l.t.Helper()
	if l.c != nil {
		return
	}
	l.process = exec.Command("sleep", "6000") // it lives as long as the client
	gittest.Must(l.t, l.process.Start())
	l.c = replay.New(l.config, l.Dir, nil)
	l.c.PID = l.process.Process.Pid
}

// leave ends the client's process. Nothing tells of it.
func (l *lab) leave() {
	if l.c == nil {
		return
	}
	_ = l.process.Process.Kill()
	_ = l.process.Wait() // killed
	l.c = nil
}

// event is the hook of what the client does.
func (l *lab) event(do func(c *replay.Client)) (c command) {
	l.enter()
	l.c.Hook = func(e replay.Event) {
		program := "git-agent-turn"
		if e.Name == "SessionStart" || e.Name == "PreCompact" || e.Name == "PostToolBatch" {
			program = "git-agent-handoff"
		}
		c = command{args: []string{program, "hook"}, stdin: e.Payload(), env: []string{fmt.Sprintf("CLAUDE_PID=%d", e.PID)}}
		if e.Name == "Stop" {
			c.stops = l.prompt
		}
	}
	do(l.c)
	return c
}

func (l *lab) prompted() command {
	l.n++
	l.prompt = fmt.Sprintf("turn %d", l.n)
	return l.event(func(c *replay.Client) { c.Prompt(l.prompt) })
}

func (l *lab) stopped() command {
	l.Write("file", l.prompt+"\n")
	l.Write(fmt.Sprintf("new/%d", l.n%7), l.prompt+"\n")
	for i := range l.files / 50 {
		l.Write(fmt.Sprintf("files/%d/%d", i%40, i), fmt.Sprintf("file %d of %s\n", i, l.prompt))
	}
	return l.event(func(c *replay.Client) { c.Stop("did " + l.prompt) })
}

// next is what happens next in the session: a prompt, or the end of the turn that runs.
func (l *lab) next() (what string, c command) {
	if l.enter(); l.c.Busy() {
		return "Stop", l.stopped()
	}
	return "UserPromptSubmit", l.prompted()
}

// turn is a whole turn, or the rest of the one that runs.
func (l *lab) turn() {
	l.t.Helper()
	for {
		what, c := l.next()
		l.undisturbed(what, c)
		if what == "Stop" {
			return
		}
	}
}

// undisturbed runs a command that must succeed, and tells by how much it was slower than usual.
func (l *lab) undisturbed(what string, c command) result {
	l.t.Helper()
	r := l.must(c)
	if usual, ok := l.usual[what]; ok {
		l.worst[what] = max(l.worst[what], r.took-usual)
	} else {
		l.measured[what] = append(l.measured[what], r.took)
	}
	l.acknowledge(c, r)
	return r
}

// acknowledge notes a turn whose Stop hook has ended well.
func (l *lab) acknowledge(c command, r result) {
	if c.stops != "" && r.status == 0 {
		l.done[c.stops] = ""
	}
}

// mission is the one that the session records to.
func (l *lab) mission() string {
	if l.attached != "" {
		return l.attached
	}
	return l.c.Session[len(l.c.Session)-8:]
}

// A turn is what list prints of it.
type turn struct {
	Mission, Prompt, Outcome, Code, By string
	Turn                               int
	Transcript                         struct{ Bytes int64 }
}

// list is every turn that is recorded.
func (l *lab) list() (all []turn) {
	l.t.Helper()
	out := l.must(command{dir: l.main.Dir, args: []string{"git-agent-turn", "list", "--all", "--json"}}).stdout
	for line := range strings.Lines(out) {
		var one turn
		gittest.Must(l.t, json.Unmarshal([]byte(line), &one))
		all = append(all, one)
	}
	return all
}

// log is what hooks could not tell anybody else.
func (l *lab) log() string {
	data, err := os.ReadFile(filepath.Join(l.common, "agent", "log"))
	if err != nil && !os.IsNotExist(err) {
		l.t.Fatal(err)
	}
	return string(data)
}

// measure runs everything undisturbed a few times, to learn how long it takes and how many files
// come and go.
func (l *lab) measure() {
	l.t.Helper()
	rounds := 4
	if *kills < long {
		rounds = 2
	}
	for i := range rounds {
		l.turn()
		c := l.victim(l)
		var r result
		if i < rounds-1 {
			r = l.undisturbed("victim", c)
		} else {
			known := l.known()
			l.usual["victim"] = median(l.measured["victim"])
			r = l.start(c, func(_ int, began time.Time) {
				_, l.appeared = l.await(known, -1, began.Add(l.usual["victim"]*3/2))
			})
			l.acknowledge(c, r)
		}
		l.turn()
		if c.then != nil {
			c.then(l, r)
		}
	}
	l.check()
	for what, took := range l.measured {
		l.usual[what] = median(took)
	}
}
