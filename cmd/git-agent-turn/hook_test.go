package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// A host is a repository with recording switched on, and the environment that an agent's client
// runs hooks in.
type host struct {
	*gittest.Repo
	t      testing.TB
	env    []string
	config string // where clients keep their files
	family *gittest.Family
}

func newHost(t testing.TB, args ...string) *host {
	t.Helper()
	r := gittest.New(t, args...)
	h := &host{Repo: r, t: t, config: gittest.TempDir(t), family: gittest.NewFamily(t)}
	h.env = append(append([]string{}, r.Env...), "GORACE="+os.Getenv("GORACE"))
	gittest.Must(t, os.MkdirAll(filepath.Join(r.Git("rev-parse", "--path-format=absolute", "--git-common-dir"), "agent"), 0o777))
	r.Write(".git/agent/enabled", "")
	r.Write("kept.txt", "kept\n")
	r.Commit("first")
	return h
}

// fsck fails the test unless git finds the repository sound.
func (h *host) fsck() {
	h.t.Helper()
	h.family.Await() // packs are rolled up in the background
	if out, err := h.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		h.t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

// sound fails the test unless git finds the repository sound, and hooks had
// nothing to tell anybody.
func (h *host) sound() {
	h.t.Helper()
	if log := h.log(); log != "" {
		h.t.Errorf("the log: %s", log)
	}
	h.fsck()
}

// A said is what a hook's process has left.
type said struct {
	status         int
	stdout, stderr string
}

// hook runs the hook with a payload, as the client does.
func (h *host) hook(dir string, payload io.Reader, env []string, args ...string) said {
	h.t.Helper()
	return h.hookOf("git-agent-turn", dir, payload, env, args...)
}

// hookOf is hook with another program.
func (h *host) hookOf(program, dir string, payload io.Reader, env []string, args ...string) said {
	h.t.Helper()
	cmd := exec.Command(program, append([]string{"hook"}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, payload, append(append([]string{}, h.env...), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	h.family.Join(cmd)
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return said{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// client is a client whose hooks are ours, each a process of its own. They must succeed in silence.
func (h *host) client(env ...string) *claude.Client {
	return claude.New(h.config, h.Dir, func(e claude.Event) { h.deliver(e, env...) })
}

func (h *host) deliver(e claude.Event, env ...string) {
	h.t.Helper()
	if s := h.hook(e.Cwd, bytes.NewReader(e.Payload()), append([]string{fmt.Sprintf("CLAUDE_PID=%d", e.PID)}, env...)); s != (said{}) {
		h.t.Errorf("hook of %s: %+v\n%s", e.Name, s, h.log())
	}
}

// log is what hooks could not tell anybody else.
func (h *host) log() string {
	data, err := os.ReadFile(filepath.Join(h.Git("rev-parse", "--path-format=absolute", "--git-common-dir"), "agent", "log"))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(data)
}

// A line is what list prints of a turn.
type line struct {
	Mission, Session, Prompt, Reply, Outcome, Code, Base string
	Turn                                                 int
	Transcript                                           struct {
		From, To, Bytes int64
		After           int
	}
}

// list is what `git agent-turn list --json` prints, the oldest turn first.
func (h *host) list(args ...string) []line {
	h.t.Helper()
	cmd := exec.Command("git", append([]string{"agent-turn", "list", "--json"}, args...)...)
	cmd.Dir, cmd.Env = h.Dir, h.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%v: %s", err, &stderr)
	}
	var all []line
	for text := range strings.Lines(string(out)) {
		var l line
		gittest.Must(h.t, json.Unmarshal([]byte(text), &l))
		all = append([]line{l}, all...)
	}
	return all
}

// TestHostilePayloads: whatever arrives, a hook exits with 0 and says nothing to the model, and
// where recording is switched on there is a line in the log.
func TestHostilePayloads(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const session = "5b603d06-8528-4d54-8275-dcebec74b87e"
	for name, tt := range map[string]struct {
		payload string // CWD is replaced by the repository's top
		logged  string // what the log says, "" for nothing
	}{
		"empty":             {"", "malformed hook payload"},
		"binary":            {"\x00\xff\xfe\x00", "malformed hook payload"},
		"truncated":         {`{"session_id":"` + session + `","cwd":"CWD","hook_event_name":"Sto`, "malformed hook payload"},
		"an array":          {`[]`, "malformed hook payload"},
		"a number":          {`7`, "malformed hook payload"},
		"nested":            {`{"session_id":"` + session + `","cwd":"CWD","hook_event_name":"Stop","x":` + strings.Repeat("[", 200000), "malformed hook payload"},
		"wrong types":       {`{"session_id":7,"cwd":"CWD","hook_event_name":"Stop"}`, "session_id"},
		"no session":        {`{"cwd":"CWD","hook_event_name":"Stop"}`, "session_id"},
		"no directory":      {`{"session_id":"` + session + `","hook_event_name":"Stop"}`, "cwd"},
		"relative":          {`{"session_id":"` + session + `","cwd":".","hook_event_name":"Stop"}`, "cwd"},
		"session climbs":    {`{"session_id":"../../../../evil","cwd":"CWD","hook_event_name":"Stop"}`, "session_id"},
		"session is hidden": {`{"session_id":".git","cwd":"CWD","hook_event_name":"Stop"}`, "session_id"},
		"session is long":   {`{"session_id":"` + strings.Repeat("a", 5000) + `","cwd":"CWD","hook_event_name":"Stop"}`, "session_id"},
		"session has NUL":   {`{"session_id":"a\u0000b","cwd":"CWD","hook_event_name":"Stop"}`, "session_id"},
		"transcript is not absolute": {
			`{"session_id":"` + session + `","cwd":"CWD","hook_event_name":"Stop","transcript_path":"x.jsonl"}`, "transcript_path",
		},
		"session with few digits": {`{"session_id":"abc","cwd":"CWD","hook_event_name":"Stop"}`, "abc"},
		"unknown event":           {`{"session_id":"` + session + `","cwd":"CWD","hook_event_name":"Nonsense"}`, ""},
		"someone else's event":    {`{"session_id":"` + session + `","cwd":"CWD","hook_event_name":"PostToolBatch"}`, ""},
		"from a sub-agent":        {`{"session_id":"` + session + `","cwd":"CWD","hook_event_name":"Stop","agent_id":"a1","agent_type":"x"}`, ""},
		"elsewhere":               {`{"session_id":"` + session + `","cwd":"/home/dev/nowhere","hook_event_name":"Stop"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			payload := strings.ReplaceAll(tt.payload, "CWD", h.Dir)
			s := h.hook(h.Dir, strings.NewReader(payload), nil)
			if s.status != 0 || s.stderr != "" {
				t.Errorf("the hook left %+v", s)
			}
			if s.stdout != "" && (tt.logged == "" || !isSystemMessage(s.stdout)) {
				t.Errorf("standard output: %s", s.stdout)
			}
			if log := h.log(); tt.logged == "" && log != "" || !strings.Contains(log, tt.logged) || len(log) > 2000 {
				t.Errorf("the log has %d bytes, want %q in it:\n%.2000s", len(log), tt.logged, log)
			}
			if refs := h.Git("for-each-ref", "refs/agent", "refs/notes"); refs != "" {
				t.Errorf("recorded all the same: %s", refs)
			}
			found, err := filepath.Glob(filepath.Join(filepath.Dir(h.Dir), "*evil*"))
			if err != nil || len(found) > 0 {
				t.Errorf("outside there is %v (%v)", found, err)
			}
			// And where recording is not switched on, there is no trace at all.
			gittest.Must(t, os.RemoveAll(filepath.Join(h.Dir, ".git/agent")))
			if s := h.hook(h.Dir, strings.NewReader(payload), nil); s != (said{}) {
				t.Errorf("not switched on, the hook left %+v", s)
			}
			if _, err := os.Stat(filepath.Join(h.Dir, ".git/agent")); err == nil {
				t.Error("not switched on, the hook made its directory")
			}
		})
	}
}

func isSystemMessage(out string) bool {
	var fields map[string]string
	err := json.Unmarshal([]byte(out), &fields)
	return err == nil && len(fields) == 1 && fields["systemMessage"] != ""
}

// TestHugePayload: a tool's input of 100 MB in the payload of a turn's end.
func TestHugePayload(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	c := h.client()
	c.Prompt("one")
	huge := func(field, end string) io.Reader {
		return io.MultiReader(
			strings.NewReader(`{"session_id":"`+c.Session+`","cwd":"`+h.Dir+`","`+field+`":"`),
			io.LimitReader(letters{}, 100<<20),
			strings.NewReader(`","hook_event_name":"Stop"`+end+`}`),
		)
	}
	for _, field := range []string{"last_assistant_message", "x"} {
		if s := h.hook(h.Dir, huge(field, ""), nil); s.status != 0 || s.stderr != "" || s.stdout != "" && !isSystemMessage(s.stdout) {
			t.Errorf("%s of 100 MB: %+v", field, s)
		}
	}
	if log := h.log(); len(log) > 2000 {
		t.Errorf("the log has %d bytes", len(log))
	}
	c.Stop("done")
	c.End("other")
	if list := h.list(); len(list) == 0 || list[len(list)-1].Reply != "done" {
		t.Errorf("after it, turns are %+v\n%s", list, h.log())
	}
}

// letters is an endless text.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestCapturedPayloads: every payload that was ever seen, whatever its event, from a client that
// works elsewhere.
func TestCapturedPayloads(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	files, err := filepath.Glob("../../testdata/payloads/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d payloads: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		gittest.Must(t, err)
		var captured struct{ Payload json.RawMessage }
		gittest.Must(t, json.Unmarshal(data, &captured))
		if s := h.hook(h.Dir, bytes.NewReader(captured.Payload), nil); s != (said{}) {
			t.Errorf("%s: %+v", filepath.Base(file), s)
		}
	}
	if log := h.log(); log != "" {
		t.Errorf("the log: %s", log)
	}
}

// TestBadArguments: a hook never exits with 2, which would tell the client to go on with the turn.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	for _, args := range [][]string{
		{"--nope"}, {"--agent"}, {"--agent", "emacs"}, {"--agent", "codex", "extra"}, {"extra"}, {"--help"}, {"-h"}, {"--version"}, {"--generate-bash-completion"}, {"-C", "/"}, {"--", "x"}, {""},
	} {
		c := claude.New(h.config, h.Dir, nil)
		var event claude.Event
		c.Hook = func(e claude.Event) { event = e }
		c.Prompt("with bad arguments")
		gittest.Must(t, os.RemoveAll(filepath.Join(h.Dir, ".git", "agent", "here"))) // it is alone
		s := h.hook(h.Dir, bytes.NewReader(event.Payload()), nil, args...)
		if s.status != 0 || s.stderr != "" || s.stdout != "" && !isSystemMessage(s.stdout) {
			t.Errorf("hook %q: %+v", args, s)
		}
	}
	for _, args := range [][]string{{"-C", h.Dir, "hook", "--nope"}, {"-C", "/home/dev/nowhere", "hook"}} {
		cmd := exec.Command("git-agent-turn", args...)
		cmd.Dir, cmd.Env = h.Dir, h.env
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status == 2 {
			t.Errorf("git-agent-turn %q exits with 2", args)
		}
	}
	// The command as it is installed, where the program is not.
	for _, command := range []string{"git-agent-turn hook || true"} {
		cmd := exec.Command("/bin/sh", "-c", command)
		cmd.Dir, cmd.Env = h.Dir, []string{"PATH=/home/dev/nowhere"}
		if err := cmd.Run(); err != nil {
			t.Errorf("without the program: %v", err)
		}
	}
}

// TestWithoutInput: standard input is closed, or a directory, or nobody writes.
func TestWithoutInput(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir, err := os.Open(h.Dir)
	gittest.Must(t, err)
	defer dir.Close()
	if s := h.hook(h.Dir, dir, nil); s.status != 0 || !isSystemMessage(s.stdout) {
		t.Errorf("a directory: %+v, want a message to the user", s)
	}
	if s := h.hook(h.Dir, nil, nil); s.status != 0 || s.stdout != "" {
		t.Errorf("nothing: %+v", s)
	}
	cmd := exec.Command("/bin/sh", "-c", "git-agent-turn hook <&-")
	cmd.Dir, cmd.Env = h.Dir, h.env
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("closed: %v\n%s", err, out)
	}
}

// TestRefusedRepository: git can't work in the repository, or it has a format that we can't write.
// The user is told once in a session, the log has it each time, and the agent goes on.
func TestRefusedRepository(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string // more of it
		env    string
		says   string
	}{
		"an unknown object format": {"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha512\n", "", "objectformat"},
		"no git in PATH":           {"", "PATH=/home/dev/nowhere", "git"},
		"broken config file":       {"[core\n", "", "config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			program, err := exec.LookPath("git-agent-turn")
			gittest.Must(t, err)
			h.Write(".git/config", h.Read(".git/config")+tt.config)
			var out []string
			run := func(e claude.Event) {
				cmd := exec.Command(program, "hook")
				cmd.Dir, cmd.Env, cmd.Stdin = h.Dir, append(append([]string{}, h.env...), tt.env), bytes.NewReader(e.Payload())
				stdout, err := cmd.Output()
				if err != nil {
					t.Errorf("%s: %v", e.Name, err)
				}
				out = append(out, string(stdout))
			}
			for range 2 {
				c := claude.New(h.config, h.Dir, run)
				c.Prompt("one")
				c.Stop("done")
				c.End("other")
			}
			for i, s := range out {
				if first := i%3 == 0; first && (!isSystemMessage(s) || !strings.Contains(s, tt.says)) || !first && s != "" {
					t.Errorf("event %d: standard output %q; want the first event of each session to tell the user of %q", i, s, tt.says)
				}
			}
			data, err := os.ReadFile(filepath.Join(h.Dir, ".git/agent/log"))
			if err != nil || !strings.Contains(string(data), tt.says) {
				t.Errorf("the log: %s (%v)", data, err)
			}
		})
	}
}

// TestWhichRepository: the directory follows the agent's cd; what counts is the repository that the
// client was launched in.
func TestWhichRepository(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h, other := newHost(t), newHost(t)
	linked := filepath.Join(gittest.TempDir(t), "linked")
	h.Git("worktree", "add", "-q", "--detach", linked)
	h.Write("sub/x", "x")
	for name, tt := range map[string]struct {
		cwd, project string
		top          string // where the turn is recorded; "" for nowhere
	}{
		"launched and stayed":             {h.Dir, h.Dir, h.Dir},
		"changed into a directory":        {filepath.Join(h.Dir, "sub"), h.Dir, h.Dir},
		"changed into a linked worktree":  {linked, h.Dir, linked},
		"changed into another repository": {other.Dir, h.Dir, h.Dir},
		"changed out of it":               {filepath.Dir(h.Dir), h.Dir, h.Dir},
		"the directory is gone":           {filepath.Join(h.Dir, "gone"), h.Dir, h.Dir},
		"into .git":                       {filepath.Join(h.Dir, ".git"), h.Dir, h.Dir},
		"no project is named":             {filepath.Join(h.Dir, "sub"), "", h.Dir},
		"launched outside":                {h.Dir, filepath.Dir(h.Dir), ""},
		"launched in the worktree":        {h.Dir, linked, h.Dir},
		"nowhere":                         {"/home/dev/nowhere", "", ""},
		"the whole disk":                  {"/", "/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := h.client("CLAUDE_PROJECT_DIR=" + tt.project)
			c.Hook = func(e claude.Event) {
				if s := h.hook(h.Dir, bytes.NewReader(e.Payload()), []string{"CLAUDE_PROJECT_DIR=" + tt.project}); s != (said{}) {
					t.Errorf("%s: %+v", e.Name, s)
				}
			}
			c.Cwd = tt.cwd
			c.Prompt("one")
			where := tt.top
			if where == "" {
				where = h.Dir
			}
			file := filepath.Join(where, "by "+c.Session)
			gittest.Must(t, os.WriteFile(file, nil, 0o666))
			c.Stop("done")
			ref := "refs/agent/missions/" + c.Session[len(c.Session)-8:]
			if out, err := other.Try("rev-parse", "--verify", "-q", ref); err == nil {
				t.Errorf("recorded in the other repository: %s", out)
			}
			out, err := h.Try("rev-parse", "--verify", "-q", ref)
			if tt.top == "" {
				if err == nil {
					t.Errorf("recorded: %s", out)
				}
				return
			}
			if err != nil {
				t.Fatalf("not recorded: %v\n%s", err, h.log())
			}
			list := h.list("--mission", c.Session[len(c.Session)-8:])
			if names := h.Git("ls-tree", "--name-only", list[0].Code); !strings.Contains(names, "by "+c.Session) {
				t.Errorf("the turn has not the worktree of %s:\n%s", tt.top, names)
			}
		})
	}
}

// TestConfigurationOfStrangers: a wrong configuration file is a line in the log; what is valid
// counts.
func TestConfigurationOfStrangers(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	h.Write(".git-agent.toml", "[capture]\nmax_file_size = \"1KiB\"\nnonsense = true\n")
	told := ""
	c := h.listening(&told)
	c.Prompt("one")
	h.Write("large", strings.Repeat("x", 2000))
	c.Stop("done")
	if log := h.log(); !strings.Contains(log, "nonsense") {
		t.Errorf("the log: %s", log)
	}
	h.Write(".git-agent.toml", "[capture\n")
	c.Prompt("two")
	c.Stop("done")
	list := h.list()
	if names := h.Git("ls-tree", "--name-only", list[0].Code); strings.Contains(names, "large") {
		t.Errorf("the limit does not count:\n%s", names)
	}
	if !strings.Contains(told, "large is not recorded as it is: it is larger than capture.max_file_size") || strings.Count(told, "{") != 1 {
		t.Errorf("the user was told %s", told)
	}
	if len(list) != 2 {
		t.Errorf("%d turns, want 2\n%s", len(list), h.log())
	}
}

// listening is a client whose hooks may tell the user something, and nothing else; told is what they
// have told, a line each.
func (h *host) listening(told *string, env ...string) *claude.Client {
	return claude.New(h.config, h.Dir, func(e claude.Event) {
		h.t.Helper()
		s := h.hook(e.Cwd, bytes.NewReader(e.Payload()), append([]string{fmt.Sprintf("CLAUDE_PID=%d", e.PID)}, env...))
		if s.status != 0 || s.stderr != "" || s.stdout != "" && !isSystemMessage(s.stdout) {
			h.t.Errorf("hook of %s: %+v\n%s", e.Name, s, h.log())
		}
		*told += s.stdout
	})
}
