package codex

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// TestEvent: the client's payloads in the common words.
func TestEvent(t *testing.T) {
	t.Parallel()
	const rollouts, tui = "/home/dev/.codex/sessions/2026/11/22/", "01a200dd-759c-7162-a29d-c743cd1919d2"
	for file, want := range map[string]hooks.Payload{
		"tui-Interrupt.json": {
			Name: "Interrupt", SessionID: tui, PromptID: "01a200de-3b82-70e0-9211-f503beeac75f",
			TranscriptPath: rollouts + "rollout-2026-11-22T01-27-23-" + tui + ".jsonl",
			Lock:           "/home/dev/.codex/thread-writer-locks/" + tui + ".lock",
		},
		"exec-SessionEnd.json": {
			Name: "SessionEnd", SessionID: "01a200d9-1a4c-76d0-a2a0-2c15929b9722", Reason: "other",
			TranscriptPath: rollouts + "rollout-2026-11-22T01-22-37-01a200d9-1a4c-76d0-a2a0-2c15929b9722.jsonl",
			Lock:           "/home/dev/.codex/thread-writer-locks/01a200d9-1a4c-76d0-a2a0-2c15929b9722.lock",
		},
		"nodaemon-SessionStart-resume.json": { // after a rewind, in a second file
			Name: "SessionStart", SessionID: "01a200e0-4ce6-7712-a1e5-7dc2562641c4", Source: "resume",
			TranscriptPath: rollouts + "rollout-2026-11-22T01-31-40-01a200e0-4ce6-7712-a1e5-7dc2562641c4_01a200e1-61b1-7cb1-ba2f-ab6b4164b5a9.jsonl",
			Lock:           "/home/dev/.codex/thread-writer-locks/01a200e0-4ce6-7712-a1e5-7dc2562641c4.lock",
		},
		"sub-UserPromptSubmit-sub.json": { // a sub-agent has the session of its parent and a rollout of its own
			Name: "UserPromptSubmit", SessionID: "01a200e4-856d-7c50-86bb-bb0b808d7df3", PromptID: "01a200e4-899d-7422-b29f-db70f23e6bd2",
			Prompt: "you are the child RUN:echo child >> b.txt", AgentID: "01a200e4-8987-77e0-ab2e-125b20160713", AgentType: "default",
			TranscriptPath: rollouts + "rollout-2026-11-22T01-35-07-01a200e4-8987-77e0-ab2e-125b20160713.jsonl",
			Lock:           "/home/dev/.codex/thread-writer-locks/01a200e4-856d-7c50-86bb-bb0b808d7df3.lock",
		},
	} {
		f, err := os.Open(filepath.Join("testdata", "payloads", file))
		gittest.Must(t, err)
		got, err := Event(f)
		_ = f.Close()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		got.Model, want.Cwd = "", "/home/dev/cx"
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, want %+v", file, *got, want)
		}
	}
}

func TestLockOf(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "/", "rollout-x", "/home/dev/.codex/sessions/2026/11/rollout-x.jsonl", "/home/dev/.codex/sessions/2026/11/22/x.jsonl",
	} {
		if got := lockOf(path, "x"); got != "" {
			t.Errorf("lockOf(%q) = %q", path, got)
		}
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"/home/dev/.codex/packages/app-server-daemon/releases/0.169.0-x86_64-unknown-linux-musl/bin/codex app-server --listen unix:// --managed-daemon": true,
		"codex app-server daemon pid-update-loop": true,
		"codex -c model=x app-server":             true, // an editor's
		"codex --enable hooks --x=y app-server":   true,
		"codex":                                   false,
		"codex --no-daemon":                       false,
		"codex exec app-server":                   false,
		"codex -c app-server exec":                false,
		"codex resume --last":                     false,
		"":                                        false,
	} {
		if got := serves(strings.Fields(line)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// TestClient runs itself as a hook, below a process with the client's name and command line.
func TestClient(t *testing.T) {
	switch os.Getenv("TEST_CODEX") {
	case "client":
		hook := exec.Command("/bin/sh", "-c", `"$TEST_PROGRAM" -test.run='^TestClient$' || exit 1`)
		hook.Env = append(os.Environ(), "TEST_CODEX="+strconv.Itoa(os.Getpid()))
		hook.Stdout, hook.Stderr = os.Stdout, os.Stderr
		gittest.Must(t, hook.Run())
		return
	case "":
	default:
		c := Client(os.Getenv)
		fmt.Printf("is the client: %t, shared: %t, session: %s\n", strconv.Itoa(c.PID) == os.Getenv("TEST_CODEX"), c.Shared, c.SessionID)
		return
	}
	t.Parallel()
	if len(session.Ancestors()) == 0 {
		t.Skip("this system does not tell who started a process")
	}
	program, err := os.Executable()
	gittest.Must(t, err)
	codex := filepath.Join(t.TempDir(), "codex")
	gittest.Must(t, os.Symlink(program, codex))
	for _, tt := range []struct {
		name, command string
		env           []string
		want          string
	}{
		{"a hook", "exec", nil, "is the client: true, shared: false, session: "},
		{"a hook in the daemon", "app-server", nil, "is the client: false, shared: true, session: "},
		{"a command of the agent", "exec", []string{"CODEX_THREAD_ID=01a2", "CODEX_SESSION_ID=01a2"}, "is the client: true, shared: false, session: 01a2"},
		{"a command of a sub-agent", "exec", []string{"CODEX_THREAD_ID=01a3", "CODEX_SESSION_ID=01a2"}, "is the client: true, shared: false, session: 01a2"},
		{"a command of the agent, in an older client", "exec", []string{"CODEX_THREAD_ID=01a2"}, "is the client: true, shared: false, session: 01a2"},
		{"nonsense", "exec", []string{"CODEX_THREAD_ID=../x"}, "is the client: true, shared: false, session: "},
	} {
		cmd := exec.Command(codex)
		cmd.Args = []string{"codex", "-test.run=^TestClient$", tt.command}
		cmd.Env = append([]string{"TEST_CODEX=client", "TEST_PROGRAM=" + program}, tt.env...)
		out, err := cmd.Output()
		got, _, _ := strings.Cut(string(out), "\n")
		if err != nil || got != tt.want {
			t.Errorf("%s: %v, %q, want %q", tt.name, err, out, tt.want)
		}
	}
}

// TestRunning: the threads whose file is locked live, and nothing else in that directory does.
func TestRunning(t *testing.T) {
	t.Parallel()
	config := statedir.In(t.TempDir(), "codex")
	if all, err := Running(config.Path(".")); len(all) > 0 || err != nil {
		t.Errorf("without a directory: %v, %v", all, err)
	}
	var held *statedir.Lock
	for _, name := range []string{".coordination", "left", "lives"} {
		l, err := config.TryLock(filepath.Join(locks, name+".lock"))
		if l == nil || err != nil {
			t.Fatal(err)
		}
		if held = l; name == "left" {
			l.Release()
			continue
		}
		t.Cleanup(l.Release)
	}
	if seen, _ := statedir.Locked(held.File().Name()); !seen {
		t.Skip("this system does not tell who holds a lock")
	}
	all, err := Running(config.Path("."))
	if want := (session.Registration{Session: "lives", Held: true}); len(all) != 1 || all[0] != want || err != nil {
		t.Errorf("Running = %v, %v", all, err)
	}
	if !session.Registered("lives", all) || session.Registered("left", all) {
		t.Error("a thread is taken for what it isn't")
	}
}

// TestEffects: what tools may do to files. A patch names its files, unless its end is missing.
func TestEffects(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("+x\\n", hooks.MaxCommand)
	for input, want := range map[string]hooks.Call{
		`"tool_name":"Bash","tool_input":{"command":"echo cx1 > b.txt"},"tool_response":"","tool_use_id":"call_3"`: {ID: "call_3", Tool: "Bash", Command: "echo cx1 > b.txt"},
		`"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n+*** Add File: no\n*** Update File: b c\n*** Move to: d\n@@\n-x\n+y\n*** Delete File: e\n*** End Patch"}`: {
			Tool: "apply_patch", Effect: hooks.Edits, Paths: []string{"a", "b c", "d", "e"},
		},
		`"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n` + long + `*** End Patch"}`: {
			Tool: "apply_patch", Cut: true,
		},
		`"tool_name":"update_plan","tool_input":{"plan":[]}`: {Tool: "update_plan", Effect: hooks.Reads},
		`"tool_name":"mcp__server__tool"`:                    {Tool: "mcp__server__tool"},
	} {
		e, err := Event(strings.NewReader(`{"session_id":"s","cwd":"/r","hook_event_name":"PostToolUse",` + input + `}`))
		gittest.Must(t, err)
		e.Tell(Effects)
		if e.Calls[0].Cut {
			e.Calls[0].Command = ""
		}
		if !reflect.DeepEqual(e.Calls, []hooks.Call{want}) {
			t.Errorf("%.200s: got %+v", input, e.Calls)
		}
	}
}
