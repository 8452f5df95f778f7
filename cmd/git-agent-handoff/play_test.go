package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/test/cmdlinetest"
	"gitagent/test/replay"
)

// A player is an agent's client in a script: what it does, and a process that lives as long as it
// does.
type player struct {
	*replay.Client
	process *exec.Cmd
}

func (p *player) kill() {
	if p.process != nil {
		_ = p.process.Process.Kill()
		_ = p.process.Wait() // killed
		p.process = nil
	}
}

// players are those of one script. The processes that their hooks have started, which may outlive
// them, have an end of a pipe in common.
type players struct {
	by            map[string]*player
	reads, writes *os.File
}

func newPlayers() (*players, error) {
	ps := &players{by: make(map[string]*player)}
	var err error
	ps.reads, ps.writes, err = os.Pipe()
	return ps, err
}

func (ps *players) end() {
	for _, p := range ps.by {
		p.kill()
	}
	_ = ps.await()
	ps.reads.Close()
	ps.writes.Close()
}

// await returns when all that hooks have started has ended.
func (ps *players) await() error {
	ps.writes.Close()
	_, err := io.Copy(io.Discard, ps.reads)
	ps.reads.Close()
	var e error
	ps.reads, ps.writes, e = os.Pipe()
	return errors.Join(err, e)
}

// keepers matches what git, from 2.48 on, says of each: that it leads to no ref below refs/.
var keepers = regexp.MustCompile(`(?m)^warning: refs/agent/kept/..: symrefTargetIsNotARef: .*\n`)

// fsck checks that git finds the repository in the current directory sound.
func fsck(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: fsck")
	}
	ts.Check(ts.Value("players").(*players).await()) // packs are rolled up in the background
	cmd := exec.Command("git", "fsck", "--strict", "--no-dangling")
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.CombinedOutput()
	out = keepers.ReplaceAll(out, nil)
	if err != nil || len(out) > 0 {
		ts.Fatalf("git fsck --strict: %v\n%s", err, out)
	}
}

// play lets an agent's client do something in the current directory:
//
//	play <id> start [<source>] | prompt <text> | tool <name> | stop <text> | fail <text> | compact | end [<reason>] | kill | clear <new id>
//
// The client's session is one whose mission is <id>. Hooks must exit with 0, and only those of start
// and prompt may say something: what the model is told is put into the file $WORK/told, what the user
// is told into $WORK/said.
func play(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: play <id> <event> [<text>]")
	}
	ps := ts.Value("players").(*players)
	p := ps.by[args[0]]
	if p == nil {
		p = &player{Client: replay.New(ts.Getenv("WORK"), "", nil)}
		rename(p.Client, args[0])
		ps.by[args[0]] = p
	}
	if p.process == nil {
		p.process = exec.Command("sleep", "600")
		ts.Check(p.process.Start())
		p.PID = p.process.Process.Pid
	}
	p.Cwd = ts.MkAbs(".")
	p.Hook = func(e replay.Event) { deliver(ts, ps.writes, e) }
	text := ""
	if len(args) == 3 {
		text = args[2]
	}
	switch args[1] {
	case "start":
		if text == "" {
			text = "startup"
		}
		p.Start(text)
	case "prompt":
		p.Prompt(text)
	case "tool":
		p.Tool(text)
	case "stop":
		p.Stop(text)
	case "fail":
		p.Fail(text)
	case "compact":
		p.Compact("manual")
	case "end":
		if text == "" {
			text = "other"
		}
		p.End(text)
		p.kill()
	case "kill":
		p.Kill(true)
		p.kill()
	case "clear":
		p.Clear()
		rename(p.Client, text)
		delete(ps.by, args[0])
		ps.by[text] = p
		p.Start("clear")
	default:
		ts.Fatalf("play: unknown event %q", args[1])
	}
	p.Flush()
}

func rename(c *replay.Client, id string) {
	c.Session = "5e550000-0000-4000-8000-0000" + id
	c.Path = filepath.Join(filepath.Dir(c.Path), c.Session+".jsonl")
}

func deliver(ts *testscript.TestScript, family *os.File, e replay.Event) {
	program := map[string]string{"SessionStart": "git-agent-handoff", "PreCompact": "git-agent-handoff"}[e.Name]
	if program == "" {
		program = "git-agent-turn"
	}
	cmd := exec.Command(cmdlinetest.Executable(ts, program), "hook")
	cmd.Dir, cmd.Stdin = e.Cwd, bytes.NewReader(e.Payload())
	for _, name := range []string{
		"HOME", "PATH", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
		"GIT_AGENT_MISSION", "GIT_AGENT_DISABLE", "TMPDIR", "GORACE",
	} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("CLAUDE_PID=%d", e.PID))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &stdout, &stderr, []*os.File{family}
	tells := e.Name == "SessionStart" || e.Name == "UserPromptSubmit"
	if err := cmd.Run(); err != nil || stderr.Len() > 0 || stdout.Len() > 0 && !tells {
		ts.Fatalf("hook of %s: %v\n%s%s", e.Name, err, &stdout, &stderr)
	}
	if !tells {
		return
	}
	var answer struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
		SystemMessage      string
	}
	if stdout.Len() > 0 {
		ts.Check(json.Unmarshal(stdout.Bytes(), &answer))
	}
	if told := answer.HookSpecificOutput; told.AdditionalContext != "" && told.HookEventName != e.Name {
		ts.Fatalf("the answer to %s is for %q", e.Name, told.HookEventName)
	}
	work := ts.Getenv("WORK")
	ts.Check(os.WriteFile(filepath.Join(work, "told"), []byte(answer.HookSpecificOutput.AdditionalContext), 0o666))
	ts.Check(os.WriteFile(filepath.Join(work, "said"), []byte(answer.SystemMessage), 0o666))
}
