//go:build unix

package neighbours

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A world is a repository with what is around it, and a model of what was
// acknowledged.
type world struct {
	*site
	ours, twin *side
	mirror     bool // the checkout is a worktree of a bare mirror
	shared     bool // another user works here, too
	apart      bool // the twin has what ours refused, and is compared no more
	count      int  // of steps, for names that nothing else has

	clients []*client
	turns   []*turn // acknowledged, or about to be
	told    strings.Builder
	looked  time.Time // last
	beside  string    // a script that runs at the next event
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
	*process
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
func newWorld(t *testing.T, r source, c *tally) game {
	at := newSite(t, r, c)
	home := at.home
	w := &world{site: at, ours: &side{filepath.Join(home, "ours"), "repo"}, twin: &side{filepath.Join(home, "twin"), "repo"}}
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

// as makes a command the other user's.
func (w *world) as(cmd *exec.Cmd) *exec.Cmd {
	home := filepath.Join(w.home, "guest")
	cmd.Env = append(append([]string{}, cmd.Env...), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_RUNTIME_DIR="+home,
		"CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: guest, Gid: guest}}
	return cmd
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

// begin begins a session in a directory below top.
func (w *world) begin(dir string, other bool) *client {
	w.count++
	c := &client{dir: dir, file: fmt.Sprintf("work/of-%d", w.count), guest: other}
	config := filepath.Join(w.home, "claude")
	if other {
		config = filepath.Join(w.home, "guest", "claude")
		// The owner's init does not speak for a guest.
		if r := w.ran(w.as(w.command(w.place(c), "git-agent-turn", "init", "--agent", "claude"))); r.status != 0 {
			w.t.Fatalf("init by the other user: exit status %d\n%s", r.status, r.stderr)
		}
	}
	c.process = w.launch(config, w.place(c), func(e replay.Event) { w.event(c, e) })
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

func (w *world) leave() {
	for _, c := range w.clients {
		c.over()
	}
	w.family.Await()
}

// event is the hook of what a client does, perhaps with a script of the user's beside it.
func (w *world) event(c *client, e replay.Event) {
	cmd := w.hookOf(e)
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
	w.told.WriteString(w.answered(e, r))
}
