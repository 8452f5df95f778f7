//go:build unix

package neighbours

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A world is a repository with what is around it, and a model of what was
// acknowledged.
type world struct {
	*rand.Rand // of the step
	t          *testing.T
	tally      *tally
	home       string
	env        []string
	family     *gittest.Family
	ours, twin *side
	mirror     bool // the checkout is a worktree of a bare mirror
	shared     bool // another user works here, too
	apart      bool // the twin has what ours refused, and is compared no more
	count      int  // of steps, for names that nothing else has

	clients []*client
	turns   []*turn // acknowledged, or about to be
	told    strings.Builder
	beside  string // a script that runs at the next event

	done  []string
	found []string
}

// A side is a copy of all repositories: ours, or the twin in which nothing is
// recorded. Both have the same names below top.
type side struct {
	top  string
	repo string // the checkout, which may be moved
}

func (s *side) dir() string { return filepath.Join(s.top, s.repo) }

// A client is an agent's session.
type client struct {
	*replay.Client
	process *exec.Cmd
	dir     string // below top; "" for the checkout, wherever it is
	file    string // that it writes
	mission string // whose branch it works on
	guest   bool   // it is the other user's
	prompt  string
}

// A turn is one that ended well.
type turn struct {
	prompt   string
	files    map[string]string // that it must hold
	said     string            // in its conversation
	mission  string            // once it was listed
	number   int
	archived bool
}

func (t *turn) name() string { return fmt.Sprintf("%s/%d", t.mission, t.number) }

// guest is the other user.
const guest = 2345

// newWorld makes the world of a round: a plain clone, or a worktree of a
// mirror, and remotes that have none of our refs, or some.
func newWorld(t *testing.T, round int, c *tally) *world {
	home := gittest.TempDir(t)
	w := &world{
		Rand: draw(round, -1), t: t, tally: c, home: home, env: append(gittest.Env(home), "CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude")),
		family: gittest.NewFamily(t), ours: &side{filepath.Join(home, "ours"), "repo"}, twin: &side{filepath.Join(home, "twin"), "repo"},
	}
	w.mirror = w.IntN(4) == 0
	w.shared = os.Geteuid() == 0 && w.IntN(3) == 0
	gittest.Must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n[protocol \"file\"]\n\tallow = always\n"), 0o666))
	if w.shared {
		gittest.Must(t, gittest.Reachable(home))
		for _, dir := range []string{home, filepath.Join(home, "guest")} {
			gittest.Must(t, os.MkdirAll(dir, 0o777))
			gittest.Must(t, os.Chmod(dir, 0o777))
		}
		gittest.Env(filepath.Join(home, "guest"))
		data, err := os.ReadFile(filepath.Join(home, ".gitconfig"))
		gittest.Must(t, err)
		gittest.Must(t, os.WriteFile(filepath.Join(home, "guest", ".gitconfig"), data, 0o666))
		w.give(filepath.Join(home, "guest"))
		version := func() *exec.Cmd { return w.command(home, "sh", "-c", "git version") }
		w.shared = w.ran(w.as(version())).stdout == w.ran(version()).stdout // they may not get at this git
	}
	for _, s := range []*side{w.ours, w.twin} {
		gittest.Must(t, os.MkdirAll(s.dir(), 0o777))
		w.must(s, newRepositories+map[bool]string{false: newClone, true: newMirror}[w.mirror]+newRemotes)
		if w.shared {
			w.must(s, "for dir in . ../*.git ../else; do git -C $dir config core.sharedRepository 0666; done; chmod -R a+rwX ..")
		}
	}
	w.own("git-agent-turn", "init", "--agent", "claude")
	w.ran(w.command(filepath.Join(w.ours.top, "else"), "git-agent-turn", "init", "--agent", "claude"))
	w.must(w.ours, `for dir in . ../else; do for url in up.git old.git; do git -C $dir config "agent.${PWD%/*}/$url.push" all; done; done`)
	w.begin("", false)
	return w
}

// What a round begins with, by the user's git alone.
const (
	newRepositories = `set -e; cd ..; rmdir repo
git init -q -b main src; cd src; mkdir work user old; echo base >work/base; echo base >user/file; echo old >old/file; git add -A; git commit -qm base; cd ..
git clone -q --bare src up.git; git clone -q --bare src none.git; git clone -q --bare src old.git; git clone -q up.git else
cd src; echo more >user/more; git add -A; git commit -qm more; git tag v1; git push -q ../up.git main v1; cd ..
`
	newClone   = `git clone -q "$PWD/up.git" repo`
	newMirror  = `git clone -q --mirror "$PWD/up.git" bare.git; git -C bare.git worktree add -q -b work ../repo`
	newRemotes = `
cd repo; git remote add none "${PWD%/*}/none.git"; git remote add old "${PWD%/*}/old.git"`
)

// give gives a directory to the other user.
func (w *world) give(dir string) {
	gittest.Must(w.t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, guest, guest)
		}
		return err
	}))
}

// A result is what a process has left.
type result struct {
	status         int
	stdout, stderr string
}

func (w *world) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, w.env
	w.family.Join(cmd)
	return cmd
}

// as makes a command the other user's.
func (w *world) as(cmd *exec.Cmd) *exec.Cmd {
	home := filepath.Join(w.home, "guest")
	cmd.Env = append(append([]string{}, cmd.Env...), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_RUNTIME_DIR="+home,
		"CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: guest, Gid: guest}}
	return cmd
}

// ran runs a command to its end.
func (w *world) ran(cmd *exec.Cmd) result {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		w.t.Fatal(cmd.Args, err)
	}
	r := result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if strings.Contains(r.stderr, "goroutine ") || r.status < 0 {
		w.find("crash", "%q: %d\n%s", cmd.Args, r.status, r.stderr)
	}
	return r
}

// own runs a command of ours in the checkout, and keeps what it tells.
func (w *world) own(args ...string) result { return w.ownIn(w.ours.dir(), args...) }

func (w *world) ownIn(dir string, args ...string) result {
	r := w.ran(w.command(dir, args...))
	w.told.WriteString(r.stderr)
	return r
}

// shell runs a script of the user's in the checkout of a side.
func (w *world) shell(s *side, script string) *exec.Cmd {
	cmd := w.command(s.dir(), "sh", "-c", script)
	cmd.Env = append(append([]string{}, w.env...), "REPO="+s.repo, "FILTER_BRANCH_SQUELCH_WARNING=1", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no")
	return cmd
}

func (w *world) must(s *side, script string) {
	w.t.Helper()
	if r := w.ran(w.shell(s, script)); r.status != 0 {
		w.t.Fatalf("%s\nexit status %d\n%s%s", script, r.status, r.stdout, r.stderr)
	}
}

// find notes something that is wrong. kind names what, for the counts.
func (w *world) find(kind, format string, args ...any) {
	w.found = append(w.found, kind+": "+fmt.Sprintf(format, args...))
	w.tally.add("FOUND "+kind, 1)
}

// begin begins a session in a directory below top.
func (w *world) begin(dir string, other bool) *client {
	w.count++
	c := &client{dir: dir, file: fmt.Sprintf("work/of-%d", w.count), guest: other, process: exec.Command("sleep", "6000")}
	gittest.Must(w.t, c.process.Start())
	config := filepath.Join(w.home, "claude")
	if other {
		config = filepath.Join(w.home, "guest", "claude")
	}
	c.Client = replay.New(config, w.place(c), func(e replay.Event) { w.event(c, e) })
	c.PID = c.process.Process.Pid
	c.Session = fmt.Sprintf("5e550000-0000-4000-8000-%012x", w.Uint64()>>16)
	c.Path = filepath.Join(filepath.Dir(c.Path), c.Session+".jsonl")
	w.clients = append(w.clients, c)
	c.Start("startup")
	return c
}

// place is where a client works now.
func (w *world) place(c *client) string {
	if c.dir == "" {
		return w.ours.dir()
	}
	return filepath.Join(w.ours.top, c.dir)
}

func (c *client) over() {
	_ = c.process.Process.Kill()
	_ = c.process.Wait() // killed
}

func (w *world) leave() {
	for _, c := range w.clients {
		c.over()
	}
	w.family.Await()
}

// event is the hook of what a client does, perhaps with a script of the user's beside it.
func (w *world) event(c *client, e replay.Event) {
	program := "git-agent-turn"
	if e.Name == "SessionStart" || e.Name == "PreCompact" {
		program = "git-agent-handoff"
	}
	cmd := w.command(e.Cwd, program, "hook")
	cmd.Env = append(append([]string{}, w.env...), fmt.Sprintf("CLAUDE_PID=%d", e.PID))
	cmd.Stdin = bytes.NewReader(e.Payload())
	if c.guest {
		w.give(filepath.Join(w.home, "guest"))
		w.as(cmd)
	}
	var other *exec.Cmd
	var said bytes.Buffer
	if w.beside != "" {
		other = w.shell(w.ours, w.beside)
		other.Stderr = &said
		gittest.Must(w.t, other.Start())
	}
	r := w.ran(cmd)
	if other != nil {
		_ = other.Wait() // as it goes
		w.apart = w.apart || strings.Contains(said.String(), refused)
		w.ran(w.shell(w.twin, w.beside))
		w.heard()
		w.beside = ""
	}
	var answer struct {
		HookSpecificOutput *struct{ AdditionalContext string }
		SystemMessage      string
	}
	if r.stdout != "" {
		if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
			w.find("a hook prints", "%s: %q", e.Name, r.stdout)
		}
	}
	w.told.WriteString(answer.SystemMessage)
	model := answer.HookSpecificOutput
	company := model != nil && strings.Contains(model.AdditionalContext, "beside this session") // which agents are told of
	if r.status != 0 || r.stderr != "" || program == "git-agent-turn" && model != nil && !company {
		w.find("a hook prints or fails", "%s: %+v", e.Name, r)
	}
}
