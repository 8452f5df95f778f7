//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// pollEvery is the pause between two looks. The registry is written within 20 to 70 ms of a change.
const pollEvery = 20 * time.Millisecond

// await polls ok until it is true. There is no time after which it gives up: a machine may be as slow as it likes, and
// what waits in vain is ended with the whole run. But when nothing runs any more that could make it true, the test
// fails and says what was waited for and all that the rig knows; the latter is also logged once when it takes long.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	const second, long = 50, 6000 // looks
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	deserted := 0
	for looks := 1; !ok(); looks++ {
		<-tick.C
		if looks == long {
			r.t.Logf("still waiting: %s\n%s", what, r.report())
		}
		if looks%second != 0 {
			continue
		}
		// One look doesn't do: a process may start another one behind it, and end before it.
		if deserted++; len(r.processes()) > 0 {
			deserted = 0
		}
		if deserted == 3 {
			if ok() {
				return
			}
			r.t.Fatalf("nothing runs any more that could bring this: %s\n%s", what, r.report())
		}
	}
}

// processes are those of the rig's user, by their environment: some have no parent by which they could be found.
func (r *rig) processes() (pids []int) {
	entry := []byte("\x00TMPDIR=" + r.tmp + "\x00")
	all, _ := filepath.Glob("/proc/[0-9]*")
	if len(all) == 0 {
		return []int{os.Getpid()} // nobody can say
	}
	for _, dir := range all {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), entry) {
			continue
		}
		// The server of a terminal outlives what ran in it.
		if name, _ := os.ReadFile(filepath.Join(dir, "comm")); bytes.HasPrefix(name, []byte("tmux: server")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// end ends what the rig's user has left running, as a hook that outlives its client and a client's daemon, and returns
// when none of it can write any more into what is about to be removed.
func (r *rig) end() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		pids := r.processes()
		if len(pids) == 0 || slices.Contains(pids, os.Getpid()) {
			return
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		<-tick.C
	}
}

// ends waits for the end of what this process has started, and returns what wait does.
func (r *rig) ends(what string, wait func() error) (err error) {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	r.await("the end of "+what, func() bool {
		select {
		case err = <-ended:
			return true
		default:
			return false
		}
	})
	return err
}

// report describes the rig for the reader of a failed test.
func (r *rig) report() string {
	var b strings.Builder
	section := func(name, text string) {
		fmt.Fprintf(&b, "--- %s\n%s\n", name, strings.TrimRight(text, "\n"))
	}
	for _, s := range r.sessions {
		section("pane", s.term.screen())
		section("registry", fmt.Sprintf("%+v", s.registry()))
	}
	section("requests", r.mock.index())
	var events strings.Builder
	for _, e := range r.witness.events() {
		fmt.Fprintln(&events, e)
	}
	section("hook events", events.String())
	for _, p := range r.panes {
		section("pane", p.term.screen())
	}
	settings, _ := os.ReadFile(r.settings())
	section("settings", string(settings))
	log, _ := os.ReadFile(filepath.Join(r.repo.Dir, ".git", "agent", "log"))
	section("log of the hooks", string(log))
	list, err := r.tryCommand(r.repo.Dir, "list", "--json", "--all")
	if err != nil {
		list += err.Error()
	}
	section("list", list)
	return b.String()
}

// What a test leaves running ends before its directories are removed.
func TestLeftRunning(t *testing.T) {
	t.Parallel()
	var r *rig
	left := exec.Command("sh", "-c", "while mkdir -p new && : > new/file; do mv new .git/$((n = n + 1)); done")
	t.Run("test", func(t *testing.T) {
		r = newBareRig(t)
		left.Dir, left.Env = r.repo.Dir, r.env()
		left.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		gittest.Must(t, left.Start())
	})
	if err := left.Wait(); err == nil || left.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("what was left running: %v", err)
	}
	if pids := r.processes(); len(pids) > 0 {
		t.Errorf("%d still run", pids)
	}
}
