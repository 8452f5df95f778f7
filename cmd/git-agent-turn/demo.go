package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/transcript"
)

// recordedSession is the transcript of a real session of five turns.
//
//go:embed demo/five-turns.jsonl
var recordedSession []byte

// demoFiles are the files that each recorded turn wrote. Two of its tools are
// shell commands, which a demo does not run.
var demoFiles = [5]map[string]string{
	{"one.txt": "one\n"},
	{"two.txt": "two\n"},
	nil,
	{"one.txt": "one edited in T4\n"},
	{"sub/five.txt": "five\n"},
}

// demoDocument is what the agent leaves for the next session.
const demoDocument = "# Where this stands\n\none.txt, two.txt and sub/five.txt are written; nothing is committed yet.\n"

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:      "demo",
		Usage:     "record, list, fork and hand off a session in a throw-away repository",
		UsageText: "git agent-turn demo",
		Description: "Replays a recorded session of five turns, hook by hook, as the agent's client sends them. " +
			"Nothing outside a temporary directory is touched, and no agent is run.",
		Action: cmdline.NoArgs(demo),
	}
}

func demo(c *cli.Context) error {
	dir, err := os.MkdirTemp("", "git-agent-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "HANDOFF.md"), []byte(demoDocument), 0o666); err != nil {
		return err
	}
	repo, err := demoRepo(c.Context, filepath.Join(dir, "repo"))
	if err != nil {
		return err
	}
	// The user's own directories, where a fork places files, are not touched.
	repo = repo.With(git.Env("XDG_DATA_HOME=" + filepath.Join(dir, "data")))
	for _, name := range agent.Reads(func(getenv func(string) string) { agent.Default().ConfigDir(getenv) }) {
		if name != "HOME" {
			repo = repo.With(git.Env(name + "=" + filepath.Join(dir, "client")))
		}
	}
	if err := replay(c.Context, repo, filepath.Join(dir, "session.jsonl")); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"agent-turn", "list"},
		{"agent-turn", "show", "4"},
		{"agent-turn", "diff", "4"},
		{"status", "--short", "--branch"},
		{"agent-fork", "--worktree", "../fork", "2"},
		{"agent-turn", "missions", "--tree"},
		{"agent-handoff", "write", "../HANDOFF.md"},
		{"agent-handoff", "prime"},
	} {
		if err := terminal.Find("git-" + args[0]); strings.HasPrefix(args[0], "agent-") && err != nil {
			return err
		}
		fmt.Fprintf(c.App.Writer, "$ git %s\n", strings.Join(args, " "))
		if err := repo.Run(c.Context, nil, c.App.Writer, c.App.ErrWriter, args...); err != nil {
			return err
		}
		fmt.Fprintln(c.App.Writer)
	}
	return nil
}

func demoRepo(ctx context.Context, dir string) (*git.Repo, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	repo, err := git.Init(ctx, dir, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range agent.Reads(func(getenv func(string) string) { agent.Default().Client(getenv) }) {
		repo = repo.With(git.Env(name + "=")) // of the client that may have started us
	}
	repo = repo.With(git.Env(
		"GIT_AGENT_DISABLE=", "GIT_AGENT_MISSION=",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.invalid",
		"GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.invalid",
	))
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# demo\n"), 0o666); err != nil {
		return nil, err
	}
	if _, err := repo.Output(ctx, nil, "add", "README.md"); err != nil {
		return nil, err
	}
	if _, err := repo.Output(ctx, nil, "commit", "--quiet", "-m", "start"); err != nil {
		return nil, err
	}
	_, err = session.Open(repo.CommonDir).Enable(true)
	return repo, err
}

// replay sends the session's hooks and transcript in the client's order.
func replay(ctx context.Context, repo *git.Repo, path string) error {
	recorded := transcript.Turns(agent.Default().Reader(), recordedSession)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	written := 0
	for i, files := range demoFiles {
		t := recorded[i]
		payload := map[string]any{
			"hook_event_name": "UserPromptSubmit", "session_id": "6c1c1f6b-0000-4000-8000-00005e55104e",
			"transcript_path": path, "cwd": repo.Top, "prompt_id": t.PromptID, "prompt": t.Prompt,
		}
		if err := sendHook(ctx, repo, payload); err != nil {
			return err
		}
		for name, content := range files {
			name = filepath.Join(repo.Top, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
				return err
			}
		}
		if _, err := file.Write(recordedSession[written:t.End]); err != nil {
			return err
		}
		written = t.End
		payload["hook_event_name"] = "Stop"
		payload["last_assistant_message"] = transcript.Summarise(agent.Default().Reader(), recordedSession[t.Start:t.End]).Reply
		if err := sendHook(ctx, repo, payload); err != nil {
			return err
		}
	}
	return nil
}

// sendHook runs the hook in its own process, as a client does.
func sendHook(ctx context.Context, repo *git.Repo, payload map[string]any) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	out, err := repo.Output(ctx, bytes.NewReader(data), "agent-turn", "hook")
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("the hook says: %s", out)
	}
	return err
}
