//go:build unix

package neighbours

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A site is where a round takes place: a home directory, and what happened.
type site struct {
	*rand.Rand // of the step
	t          *testing.T
	tally      *tally
	home       string
	env        []string
	family     *gittest.Family

	done  []string
	found []string
}

func newSite(t *testing.T, r source, c *tally) *site {
	home := gittest.TempDir(t)
	return &site{
		Rand: r.draw(-1), t: t, tally: c, home: home, env: append(gittest.Env(home), "CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude")),
		family: gittest.NewFamily(t),
	}
}

// at draws what comes next from a source.
func (s *site) at(r *rand.Rand) { s.Rand = r }

func (s *site) report() (done, found []string) { return s.done, s.found }

// A result is what a process has left.
type result struct {
	status         int
	stdout, stderr string
}

func (s *site) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, s.env
	s.family.Join(cmd)
	return cmd
}

// ran runs a command to its end.
func (s *site) ran(cmd *exec.Cmd) result {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Fatal(cmd.Args, err)
	}
	r := result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if strings.Contains(r.stderr, "goroutine ") || r.status < 0 {
		s.find("crash", "%q: %d\n%s", cmd.Args, r.status, r.stderr)
	}
	return r
}

// find notes something that is wrong. kind names what, for the counts.
func (s *site) find(kind, format string, args ...any) {
	s.found = append(s.found, kind+": "+fmt.Sprintf(format, args...))
	s.tally.add("FOUND "+kind, 1)
}

// A process is that of an agent's client.
type process struct {
	*replay.Client
	cmd *exec.Cmd
}

// launch starts one, with a session whose id is drawn.
func (s *site) launch(config, cwd string, hook func(replay.Event)) *process {
	p := &process{Client: replay.New(config, cwd, hook)}
	s.run(p)
	p.Session = fmt.Sprintf("5e550000-0000-4000-8000-%012x", s.Uint64()>>16)
	p.Path = filepath.Join(filepath.Dir(p.Path), p.Session+".jsonl")
	return p
}

func (s *site) run(p *process) {
	p.cmd = exec.Command("sleep", "6000")
	gittest.Must(s.t, p.cmd.Start())
	p.PID = p.cmd.Process.Pid
}

func (p *process) over() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
}

// recording are the events that git-agent-turn handles; the others are of
// git-agent-handoff.
var recording = []string{"UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"}

// hookOf is the process that a client runs at an event.
func (s *site) hookOf(e replay.Event) *exec.Cmd {
	program := "git-agent-handoff"
	if slices.Contains(recording, e.Name) {
		program = "git-agent-turn"
	}
	cmd := s.command(e.Cwd, program, "hook")
	cmd.Env = append(append([]string{}, s.env...), fmt.Sprintf("CLAUDE_PID=%d", e.PID))
	cmd.Stdin = bytes.NewReader(e.Payload())
	return cmd
}

// answered checks what a hook has left, and returns what the user is told.
func (s *site) answered(e replay.Event, r result) string {
	var answer struct {
		HookSpecificOutput *struct{ AdditionalContext string }
		SystemMessage      string
	}
	if r.stdout != "" {
		if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
			s.find("a hook prints", "%s: %q", e.Name, r.stdout)
		}
	}
	model := answer.HookSpecificOutput
	company := model != nil && strings.Contains(model.AdditionalContext, "beside this session") // which agents are told of
	if r.status != 0 || r.stderr != "" || slices.Contains(recording, e.Name) && model != nil && !company {
		s.find("a hook prints or fails", "%s: %+v", e.Name, r)
	}
	return answer.SystemMessage
}
