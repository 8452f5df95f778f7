//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"syscall"

	"gitagent/test/gittest"
)

const (
	// dummyKey is sent to the mock, which does not look at it.
	// The client remembers its last 20 characters as approved: all of it.
	dummyKey = "sk-ant-dummy"
	model    = "claude-opus-4-8"
)

// arguments are those of every run: no permission dialogs unless the rig asks, one model,
// and the witness's hooks beside the ones in the user's settings.
func (r *rig) arguments(args ...string) []string {
	permissions := []string{"--dangerously-skip-permissions"}
	if r.asks {
		permissions = []string{"--permission-mode", "default"}
	}
	return append(append(args, permissions...), "--model", model, "--settings", r.witness.settings)
}

// A headless is one run of `claude -p`.
type headless struct {
	r      *rig
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
	result result       // the last line, if the client came to write it
	hooks  []hookResult // of all events
	denied []denial
}

// A result is the last line that `claude -p` prints.
type result struct {
	Type           string `json:"type"`
	Subtype        string `json:"subtype"`
	SessionID      string `json:"session_id"`
	IsError        bool   `json:"is_error"`
	Result         string `json:"result"`
	TerminalReason string `json:"terminal_reason"`
}

// A denial is a tool call that the client did not run: it would have asked its user.
type denial struct {
	Tool string `json:"tool_name"`
	ID   string `json:"tool_use_id"`
}

// A hookResult is what the client says about one hook that ran.
type hookResult struct {
	Event    string `json:"hook_event"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exit_code"`
	Outcome  string `json:"outcome"`
}

// claude runs the client headless in dir with one prompt and returns when it has ended.
// Its exit status is not looked at: see [headless.status].
func (r *rig) claude(dir, prompt string, args ...string) *headless {
	r.t.Helper()
	h := r.startClaude(dir, prompt, args...)
	h.wait()
	return h
}

// talk runs the client headless with one prompt after the other, in
// one session.
func (r *rig) talk(prompts ...string) (session string) {
	r.t.Helper()
	session = r.claude(r.repo.Dir, prompts[0]).ok().quiet().session()
	for _, prompt := range prompts[1:] {
		r.claude(r.repo.Dir, prompt, "--resume", session).ok().quiet()
	}
	return session
}

// startClaude is claude for a run that the test ends.
func (r *rig) startClaude(dir, prompt string, args ...string) *headless {
	r.t.Helper()
	h := r.headless(dir, append([]string{"-p", prompt}, args...)...)
	h.start()
	return h
}

// stream runs the client headless as a program does that drives it: prompts go to
// its standard input, one JSON line each, and it ends when that is closed.
func (r *rig) stream(dir string) (h *headless, prompts io.WriteCloser) {
	r.t.Helper()
	h = r.headless(dir, "-p", "--input-format", "stream-json")
	prompts, err := h.cmd.StdinPipe()
	gittest.Must(r.t, err)
	h.start()
	return h, prompts
}

// headless prepares a run of the client that tells everything it does.
func (r *rig) headless(dir string, args ...string) *headless {
	r.t.Helper()
	h := &headless{r: r}
	args = append(args, "--output-format", "stream-json", "--verbose", "--include-hook-events")
	h.cmd = exec.Command(r.client(), r.arguments(args...)...)
	h.cmd.Dir, h.cmd.Env = dir, r.env()
	h.cmd.Stdout, h.cmd.Stderr = &h.stdout, &h.stderr
	return h
}

// start starts the client, which does not outlive the test.
func (h *headless) start() {
	h.r.t.Helper()
	if err := h.cmd.Start(); err != nil {
		h.r.t.Fatalf("start the client: %v", err)
	}
	h.r.t.Cleanup(func() {
		if h.cmd.ProcessState == nil {
			h.cmd.Process.Kill()
			h.cmd.Wait()
		}
	})
}

// wait waits for the end of the client and reads what it printed.
func (h *headless) wait() {
	h.r.t.Helper()
	if err := h.r.ends("the client", h.cmd.Wait); err != nil && !errors.As(err, new(*exec.ExitError)) {
		h.r.t.Fatalf("run the client: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(h.stdout.Bytes()))
	lines.Buffer(nil, h.stdout.Len()+1)
	for lines.Scan() {
		var head struct{ Type, Subtype string }
		if json.Unmarshal(lines.Bytes(), &head) != nil {
			continue
		}
		switch {
		case head.Type == "result":
			json.Unmarshal(lines.Bytes(), &h.result)
		case head.Subtype == "hook_response":
			var x hookResult
			json.Unmarshal(lines.Bytes(), &x)
			h.hooks = append(h.hooks, x)
		case head.Subtype == "permission_denied":
			var x denial
			json.Unmarshal(lines.Bytes(), &x)
			h.denied = append(h.denied, x)
		}
	}
}

// signal sends the client a signal, once.
func (h *headless) signal(s syscall.Signal) {
	h.r.t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.r.t.Fatalf("signal the client: %v", err)
	}
}

// status is the client's exit status as a shell gives it: 128 and the number for a signal.
func (h *headless) status() int {
	ws := h.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// ok fails the test unless the run was a success.
func (h *headless) ok() *headless {
	h.r.t.Helper()
	if h.status() != 0 || h.result.Type == "" || h.result.IsError {
		h.r.t.Fatalf("claude -p: status %d, result %+v\n%s\n%s", h.status(), h.result, &h.stderr, h.r.report())
	}
	return h
}

// session is the id of the run's session.
func (h *headless) session() string {
	h.r.t.Helper()
	if h.result.SessionID != "" {
		return h.result.SessionID
	}
	id := h.r.registry(h.cmd.Process.Pid).SessionID
	if id == "" {
		h.r.t.Fatalf("no session id of the run\n%s", h.r.report())
	}
	return id
}

// recording are the events that `git agent-turn` hooks into.
var recording = []string{"UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"}

// quiet fails the test if a hook of the recording printed something or failed.
func (h *headless) quiet() *headless {
	h.r.t.Helper()
	for _, x := range h.hooks {
		if slices.Contains(recording, x.Event) && (x.Stdout != "" || x.Stderr != "" || x.ExitCode != 0) {
			h.r.t.Errorf("a hook was heard: %+v", x)
		}
	}
	return h
}

// ran counts the hooks of an event that ran, the witness's included.
func (h *headless) ran(event string) int {
	n := 0
	for _, x := range h.hooks {
		if x.Event == event {
			n++
		}
	}
	return n
}
