//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// A retried is a run of `git agent-handoff retry`.
type retried struct {
	r      *rig
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// retry starts the command in the repository. prompt is its standard input.
// It is not run through git, which would end by itself when it is signalled.
func (r *rig) retry(prompt string, args ...string) *retried {
	r.t.Helper()
	x := &retried{r: r}
	x.cmd = exec.Command("git-agent-handoff", append([]string{"retry"}, args...)...)
	x.cmd.Dir, x.cmd.Env, x.cmd.Stdin = r.repo.Dir, r.env(), strings.NewReader(prompt)
	x.cmd.Stdout, x.cmd.Stderr = &x.stdout, &x.stderr
	if err := x.cmd.Start(); err != nil {
		r.t.Fatalf("start retry: %v", err)
	}
	return x
}

// wait waits for the end and returns the exit status.
func (x *retried) wait() int {
	x.r.t.Helper()
	x.r.ends("retry", x.cmd.Wait)
	return x.cmd.ProcessState.ExitCode()
}

// agent is the client's command line, headless, its output a JSON object per line.
func (r *rig) agent(args ...string) []string {
	return append([]string{"--", r.client(), "-p"}, r.arguments(append(args, "--output-format", "stream-json", "--verbose")...)...)
}

// prompts returns what the user has said in each request of a rule.
func (r *rig) prompts(rule string) []string {
	r.t.Helper()
	var all []string
	for _, q := range r.mock.requests() {
		if q.Rule != rule {
			continue
		}
		var body struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		gittest.Must(r.t, json.Unmarshal(q.Body, &body))
		said := ""
		for _, m := range body.Messages {
			if m.Role == "user" {
				said += string(m.Content)
			}
		}
		all = append(all, said)
	}
	return all
}

// outcomes are those of all turns, in the order in which they ended.
func (r *rig) outcomes() []string {
	r.t.Helper()
	turns := r.list()
	slices.SortFunc(turns, func(a, b turn) int { return a.At.Compare(b.At) })
	var all []string
	for _, t := range turns {
		all = append(all, t.Outcome)
	}
	return all
}

// The first attempt's work does not pass the check; the second one is told so, and what it said.
func TestRetryCheck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	again := rule{Match: "RETRY 2/3", Steps: []reply{write("right.txt", "right\n"), say("now it is right")}}
	first := on("TFIX", write("wrong.txt", "wrong\n"), say("I think it is wrong.txt"))
	r.mock.play(again, first)
	x := r.retry("", append([]string{"--tail", "2000", "--check", "test -e right.txt || { echo 'right.txt is missing' >&2; exit 9; }"}, r.agent("TFIX hello")...)...)
	if status := x.wait(); status != 0 {
		t.Fatalf("exit status %d\n%s\n%s\n%s", status, &x.stdout, &x.stderr, r.report())
	}
	told := r.prompts(again.Match)
	if len(told) != 2 {
		t.Fatalf("%d requests of the second attempt, want 2\n%s", len(told), r.report())
	}
	for _, want := range []string{"TFIX hello", "RETRY 2/3", "● Write(", "I think it is wrong.txt", "right.txt is missing", "ended with status 9"} {
		if !strings.Contains(told[0], want) {
			t.Errorf("the second attempt was not told %q:\n%s", want, told[0])
		}
	}
	for _, want := range []string{"● Write(", "I think it is wrong.txt\n", "now it is right\n"} {
		if strings.Count(x.stdout.String(), want) == 0 || strings.Contains(x.stdout.String(), `"type":`) {
			t.Errorf("printed\n%s\nwant %q in it, and no JSON", &x.stdout, want)
		}
	}
	// The client's hooks have recorded both as done; the check knows better. They are turns of one
	// mission.
	if got, want := r.outcomes(), []string{"failed", "done"}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v\n%s", got, want, r.report())
	}
	if turns := r.list(); turns[0].Mission != turns[1].Mission {
		t.Errorf("two missions: %v", turns)
	}
}

// An error of the model's service, too many turns, and an interruption, after which the client
// exits with 0, are failures. When all attempts are used up, the tail is in a handoff.
func TestRetryFailures(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	third := rule{Match: "RETRY 3/3", Steps: []reply{{"text": "I do not get far.", "content": []any{
		map[string]any{"type": "text", "text": "I do not get far."},
		map[string]any{"type": "tool_use", "name": "Bash", "input": map[string]any{"command": "echo more", "description": "more"}},
	}}}}
	second := rule{Match: "RETRY 2/3", Steps: []reply{bash(slow.wait())}}
	r.mock.play(third, second, on("TFIX", reply{"error": map[string]any{"status": 400, "type": "invalid_request_error", "message": "mock: scripted failure"}}))
	x := r.retry("", append([]string{"--tail", "2000"}, r.agent("TFIX hello", "--max-turns", "2")...)...)
	slow.reached()
	pid := r.onlyClient()
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		t.Fatalf("interrupt the client: %v", err)
	}
	status := x.wait()
	if status != 1 {
		t.Errorf("exit status %d, want that of the client after too many turns, 1\n%s", status, &x.stderr)
	}
	for i, want := range []string{
		"attempt 1 of 3 failed: it ended with status 1: API Error: 400 mock: scripted failure (api_error)",
		"attempt 2 of 3 failed: ",
		"attempt 3 of 3 failed: it ended with status 1: Reached maximum number of turns (2) (max_turns)",
	} {
		if !strings.Contains(x.stderr.String(), want) {
			t.Errorf("attempt %d: printed\n%s\nwant %q", i+1, &x.stderr, want)
		}
	}
	if told := r.prompts(second.Match); len(told) == 0 || !strings.Contains(told[0], "API Error: 400 mock: scripted failure") {
		t.Errorf("the second attempt was told %q", told)
	}
	if told := r.prompts(third.Match); len(told) == 0 || !strings.Contains(told[0], "[Request interrupted by user for tool use]") {
		t.Errorf("the third attempt was told %q", told)
	}
	if got, want := r.outcomes(), []string{"failed", "failed", "failed"}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v\n%s", got, want, r.report())
	}
	show := exec.Command("git", "agent-handoff", "show", "--json")
	show.Dir, show.Env = r.repo.Dir, r.env()
	out, err := show.Output()
	var handoff struct {
		ExitType string `json:"exit_type"`
		Summary  string `json:"progress_summary"`
	}
	if err := json.Unmarshal(out, &handoff); err != nil {
		t.Fatalf("show --json: %v\n%s", err, out)
	}
	if err != nil || handoff.ExitType != "crash" || !strings.Contains(handoff.Summary, "gave up after 3 attempts") || !strings.Contains(handoff.Summary, "I do not get far.") {
		t.Errorf("the last handoff is %s, %v", out, err)
	}
}

// Signals reach the agent, and nothing is tried again after one.
func TestRetryStopped(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TFIX", bash(slow.wait()), say("not reached")))
	x := r.retry("", r.agent("TFIX hello")...)
	slow.reached()
	gittest.Must(t, x.cmd.Process.Signal(syscall.SIGTERM))
	if status := x.wait(); status != 143 {
		t.Errorf("exit status %d, want 143", status)
	}
	if got, want := r.outcomes(), []string{"interrupted"}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v\n%s", got, want, r.report())
	}
}

// In a terminal, the client that talks to a person is left alone: it has the terminal, and runs
// once.
func TestRetryInteractive(t *testing.T) {
	r := newNightly(t)
	s := r.interactiveBy(r.repo.Dir, []string{"git-agent-handoff", "retry", "--tail", "100", "--check", "false", "--"})
	s.prompt("T1 hello")
	s.exit()
	r.check(r.done("T1"))
}

// onlyClient is the process of the one client that runs.
func (r *rig) onlyClient() int {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.home, ".claude", "sessions", "*.json"))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("clients that run: %q, %v", files, err)
	}
	var pid int
	gittest.Must(r.t, json.Unmarshal([]byte(strings.TrimSuffix(filepath.Base(files[0]), ".json")), &pid))
	return pid
}
