//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// witnessDir names the directory to write to in the environment of a witness process.
const witnessDir = "E2E_WITNESS"

// A witness is a second set of hooks on the client, beside the ones under test.
// It is this test binary, run once more: see TestMain.
type witness struct {
	t        testing.TB
	dir      string // one file per event
	command  string // of a hook
	settings string // file for Claude Code's --settings
}

// An event is one hook call as the witness saw it.
type event struct {
	At          time.Time `json:"at"`
	Name        string    `json:"hook_event_name"`
	Session     string    `json:"session_id"`
	PromptID    string    `json:"prompt_id"`
	Prompt      string    `json:"prompt"`
	Source      string    `json:"source"`
	Reason      string    `json:"reason"`
	Transcript  string    `json:"transcript_path"`
	Cwd         string    `json:"cwd"`
	LastMessage string    `json:"last_assistant_message"`
	Tree        string    `json:"tree"`     // the worktree at Cwd at that moment, or "" if there is none
	Toplevel    string    `json:"toplevel"` // of Cwd

	// What other clients call it, or say beside.
	TurnID    string `json:"turn_id,omitempty"`          // PromptID
	Submitted string `json:"submitted_prompt,omitempty"` // Prompt
	Reply     string `json:"prompt_response,omitempty"`  // LastMessage
	AgentID   string `json:"agent_id,omitempty"`         // of a sub-agent
}

func (e event) String() string {
	return fmt.Sprintf("%s %s session=%.8s prompt_id=%.8s %q %s%s%q cwd=%s tree=%.8s",
		e.At.Format("15:04:05.000"), e.Name, e.Session, e.PromptID, e.Prompt, e.Source, e.Reason, e.LastMessage, e.Cwd, e.Tree)
}

// newWitness returns a witness that a client is still to be told of, see [rig.hooks].
func newWitness(t testing.TB, dir string) *witness {
	t.Helper()
	gittest.Must(t, os.MkdirAll(dir, 0o777))
	self, err := os.Executable()
	gittest.Must(t, err)
	return &witness{t: t, dir: dir, command: witnessDir + "='" + dir + "' '" + self + "'", settings: filepath.Join(dir, "settings")}
}

// testify is the witness's process: it keeps the payload on standard input
// and the worktree's state at this moment. It prints nothing.
func testify(dir string) error {
	// The client does not wait for the hooks of a failed headless turn, it ends them.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	at := time.Now()
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if dir := os.Getenv(payloads); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("payload-%d-%d", at.UnixNano(), os.Getpid())), payload, 0o666); err != nil {
			return err
		}
	}
	e := event{}
	if err := json.Unmarshal(payload, &e); err != nil {
		return err
	}
	e.At = at
	e.PromptID, e.LastMessage, e.Prompt = cmp.Or(e.PromptID, e.TurnID), cmp.Or(e.LastMessage, e.Reply), cmp.Or(e.Submitted, e.Prompt)
	if strings.Contains(e.PromptID, "########") { // Qwen Code's, which its file doesn't have
		if e.Name == "UserPromptSubmit" && e.Submitted == "" {
			return nil // more of a turn
		}
		e.PromptID = ""
	}
	switch e.Name { // Gemini CLI's words
	case "BeforeAgent":
		e.Name = "UserPromptSubmit"
	case "AfterAgent":
		e.Name = "Stop"
	}
	if top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output(); err == nil {
		e.Toplevel = strings.TrimSuffix(string(top), "\n")
		// In a nested repository without a commit there is no snapshot, and Tree stays empty.
		e.Tree, _ = snapshot(e.Toplevel, os.Environ())
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, fmt.Sprintf("%d-%d.json", at.UnixNano(), os.Getpid()))
	if err := os.WriteFile(name+".new", b, 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// snapshot returns the tree of the worktree with the given top, all of it but what matches
// one of the pathspecs in except. Index and objects are thrown away, so that
// it can't lend the repository an object that the code under test forgot to write.
func snapshot(top string, env []string, except ...string) (string, error) {
	scratch, err := os.MkdirTemp("", "e2e-snapshot-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	run := func(extra []string, args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = top, append(env[:len(env):len(env)], extra...)
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = &commandError{err: err, stderr: string(exit.Stderr)}
		}
		return strings.TrimSuffix(string(out), "\n"), err
	}
	objects, err := run(nil, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return "", err
	}
	private := []string{
		"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
		"GIT_OBJECT_DIRECTORY=" + scratch,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects,
	}
	if _, err := run(nil, "rev-parse", "-q", "--verify", "HEAD"); err == nil {
		// Tracked files that are ignored are part of the worktree.
		if _, err := run(private, "read-tree", "HEAD"); err != nil {
			return "", err
		}
	}
	add := []string{"-c", "advice.addEmbeddedRepo=false", "add", "-A", "--", "."}
	for _, p := range except {
		add = append(add, ":(exclude)"+p)
	}
	if _, err := run(private, add...); err != nil {
		return "", err
	}
	return run(private, "write-tree")
}

// events returns what the witness saw so far, in order.
func (w *witness) events() []event {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, "*.json"))
	gittest.Must(w.t, err)
	var all []event
	for _, name := range names {
		b, err := os.ReadFile(name)
		gittest.Must(w.t, err)
		var e event
		if err := json.Unmarshal(b, &e); err != nil {
			w.t.Fatalf("read %s: %v", name, err)
		}
		all = append(all, e)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].At.Before(all[j].At) })
	return all
}

// named returns the events of one kind.
func (w *witness) named(name string) []event {
	var some []event
	for _, e := range w.events() {
		if e.Name == name {
			some = append(some, e)
		}
	}
	return some
}

// last returns the last event of a kind.
func (w *witness) last(name string) event {
	w.t.Helper()
	some := w.named(name)
	if len(some) == 0 {
		w.t.Fatalf("the client fired no %s", name)
	}
	return some[len(some)-1]
}
