package readme

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A world is the home directory of a user with a project, in which commands of
// a document are run one after the other.
type world struct {
	t    *testing.T
	home string
	dir  string // of the project
	env  []string

	alive *os.File // what commands and hooks start has it as well

	sessions  []func(*replay.Client) // what the agent does when it is started
	resumable string                 // the session that was printed last
	known     []string               // missions
	forks     map[string]string      // the id of a mission by the one that the document has for it
}

// asking are the commands that ask the user on a terminal, and answers what is
// typed when the last thing on it is the question.
var (
	asking  = []string{"git agent-turn init --push", "git agent-turn trust accept", "git agent-turn trust add", "git agent-turn purge", "git agent-turn reviewed"}
	answers = map[string]string{
		"[all/code/no] ":                 "all",
		"[yes/no] ":                      "yes",
		"The text, which is not shown: ": "correct horse battery",
	}
)

// invented are the ids that documents have for missions made by their commands,
// in order; that of the first session is session's end.
var invented = []string{"c3d4e5f6", "d4e5f6a7", "e5f6a7b8", "f6a7b8c9", "a7b8c9d0", "b8c9d0e1", "c9d0e1f2", "d0e1f2a3", "e1f2a3b4"}

// resumes is a command that goes on with a session in another directory, as a
// fork prints it; uuid is the id of a session.
var (
	resumes = regexp.MustCompile(`^cd (\S+) && claude --resume \S+$`)
	uuid    = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
)

// The missions of the user's first session and of a colleague's.
const (
	session   = "6c1c1f6b-0000-4000-8000-0000a1b2c3d4"
	colleague = "b2c3d4e5"
)

// newWorld returns a world with a project of one commit, whose tests fail: a
// name may be empty.
func newWorld(t *testing.T) *world {
	r := gittest.New(t)
	home := filepath.Dir(r.Dir)
	w := &world{t: t, home: home, dir: filepath.Join(home, "my-project"), forks: map[string]string{}}
	w.alive = alive(t)
	w.write("tools/claude", "#!/bin/sh\n")
	w.write("tools/xdg-open", "#!/bin/sh\n")
	for _, tool := range []string{"claude", "xdg-open"} {
		w.must(os.Chmod(filepath.Join(home, "tools", tool), 0o755))
	}
	for _, v := range r.Env {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE": // it is now
		case "PATH":
			w.env = append(w.env, "PATH="+filepath.Join(home, "tools")+string(os.PathListSeparator)+value)
		default:
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "GIT_EDITOR=true")
	w.must(os.RemoveAll(filepath.Join(home, ".config", "git-agent"))) // init makes the key
	w.must(os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	w.must(os.Rename(r.Dir, w.dir))
	w.write("my-project/login.go", loginBefore+loginAfter)
	w.write("my-project/.gitignore", ".env\n")
	w.write("my-project/.env", "PORT=8080\n")
	w.write("my-project/Makefile", "test:\n\t@grep -q 'the name is empty' login.go\n")
	w.run("git add . && git commit -q -m Start")
	w.run("git init -q --bare ../host && git remote add origin ../host && git push -q origin main")
	w.sessions = []func(*replay.Client){w.first, w.lock, w.last}
	return w
}

// alive returns a file. The test ends when no process has it open any more, as
// those have that push in the background.
func alive(t *testing.T) *os.File {
	t.Helper()
	end, file, err := os.Pipe()
	gittest.Must(t, err)
	t.Cleanup(func() {
		file.Close()
		_, _ = io.Copy(io.Discard, end)
		end.Close()
	})
	return file
}

const (
	loginBefore = "package login\n\nfunc check(name string) error {\n"
	loginAfter  = "\treturn nil\n}\n"
)

// first is a session of three turns, the last of which breaks the tests.
func (w *world) first(c *replay.Client) {
	c.Session, c.Path = session, filepath.Join(filepath.Dir(c.Path), session+".jsonl")
	login := func(message string) {
		w.write("my-project/login.go", loginBefore+"\tif name == \"\" {\n\t\treturn errors.New(\""+message+"\")\n\t}\n"+loginAfter)
	}
	c.Start("startup")
	c.Prompt("Fix the login form")
	c.Tool("Edit")
	login("no")
	c.Stop("It took an empty name. That is an error now.")
	c.Prompt("Say what is wrong")
	c.Tool("Edit")
	login("the name is empty")
	c.Stop("The error says it.")
	c.Prompt("Count the attempts")
	c.Tool("Write")
	w.write("my-project/attempts.go", "package login\n\nvar attempts int\n")
	login("attempt")
	c.Stop("attempts.go counts them.")
}

// lock is a session in a fork, of one turn.
func (w *world) lock(c *replay.Client) {
	c.Start("resume")
	c.Prompt("Let only one log in at a time")
	c.Tool("Write")
	w.must(os.WriteFile(filepath.Join(c.Cwd, "lock.go"), []byte("package login\n\nvar one sync.Mutex\n"), 0o666))
	c.Stop("A mutex does it.")
}

// last is a session in which the user says too much.
func (w *world) last(c *replay.Client) {
	c.Start("startup")
	c.Prompt("Log in as dev, with the words correct horse battery")
	c.Stop("I am in.")
}

// colleague records a turn on another machine, with a key that the user does
// not know, and sends it to the host.
func (w *world) colleague() {
	w.t.Helper()
	w.known = append(w.known, colleague)
	other := gittest.New(w.t)
	home := filepath.Dir(other.Dir)
	w.must(os.RemoveAll(filepath.Join(home, ".config", "git-agent")))
	gittest.Key(home, "colleague")
	other.Git("remote", "add", "origin", filepath.Join(w.home, "host"))
	other.Git("pull", "-q", "origin", "main")
	other.Write("logout.go", "package login\n\nfunc logout() {}\n")
	other.Git("agent-turn", "record", "--mission", colleague, "--agent", "claude-code", "--prompt", "Let users log out", "--reply", "They can.")
	other.Git("push", "-q", "origin", "refs/agent/*:refs/agent/*")
}

// start starts the agent in a directory: it plays the next session, with its
// hooks.
func (w *world) start(dir, resume string) {
	w.t.Helper()
	if len(w.sessions) == 0 {
		w.t.Fatal("the agent has no session any more")
	}
	client := exec.Command("sleep", "600")
	w.must(client.Start())
	defer func() { _ = client.Process.Kill(); _ = client.Wait() }()
	c := replay.New(filepath.Join(w.home, ".claude"), dir, func(e replay.Event) {
		for _, program := range []string{"git-agent-turn", "git-agent-handoff"} {
			cmd := exec.Command(program, "hook")
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(e.Payload())
			cmd.Env = append(slices.Clone(w.env), fmt.Sprintf("CLAUDE_PID=%d", e.PID))
			cmd.ExtraFiles = []*os.File{w.alive}
			if out, err := cmd.CombinedOutput(); err != nil {
				w.t.Fatalf("hook of %s: %v\n%s", e.Name, err, out)
			}
		}
	})
	c.PID = client.Process.Pid
	if resume != "" {
		c.Session, c.Path = resume, filepath.Join(filepath.Dir(c.Path), resume+".jsonl")
	}
	w.sessions[0](c)
	w.sessions = w.sessions[1:]
	c.End("prompt_input_exit")
}

// run runs a command line of a document and returns what it prints, in the
// document's words.
func (w *world) run(command string) string {
	w.t.Helper()
	for name, id := range w.forks {
		command = regexp.MustCompile(`\b`+name[:4]+"("+name[4:]+`)?\b`).ReplaceAllString(command, id)
	}
	if strings.HasPrefix(command, "git agent-turn fetch") && !slices.Contains(w.known, colleague) {
		w.colleague()
	}
	if command == "claude" {
		w.start(w.dir, "")
		return ""
	}
	if resumed := resumes.FindStringSubmatch(command); resumed != nil {
		w.start(filepath.Join(w.dir, resumed[1]), w.resumable)
		return ""
	}
	var out []byte
	var err error
	if slices.ContainsFunc(asking, func(start string) bool { return strings.HasPrefix(command, start) }) {
		out, err = w.answer(command)
	} else {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env, cmd.ExtraFiles = w.dir, w.env, []*os.File{w.alive}
		out, err = cmd.CombinedOutput()
	}
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	w.learn()
	if id := uuid.Find(out); id != nil && strings.HasPrefix(command, "git agent-fork ") {
		w.resumable = string(id)
	}
	printed := strings.ReplaceAll(string(out), "\r\n", "\n")
	for name, id := range w.forks {
		printed = strings.ReplaceAll(strings.ReplaceAll(printed, id, name), id[:4]+"/", name[:4]+"/")
	}
	return strings.ReplaceAll(printed, w.home, "/home/dev")
}

// answer runs a command on a terminal and answers what it asks.
func (w *world) answer(command string) ([]byte, error) {
	w.t.Helper()
	if runtime.GOOS != "linux" {
		w.t.Skip("script takes other arguments here")
	}
	if _, err := exec.LookPath("script"); err != nil && os.Getenv("CI") == "" {
		w.t.Skip(err)
	}
	cmd := exec.Command("script", "-qec", command, "/dev/null")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = w.dir, w.env, []*os.File{w.alive}
	stdin, err := cmd.StdinPipe()
	w.must(err)
	stdout, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	var out []byte
	for chunk := make([]byte, 4096); ; {
		n, err := stdout.Read(chunk)
		out = append(out, chunk[:n]...)
		if err != nil {
			return out, cmd.Wait()
		}
		for question, answer := range answers {
			if bytes.HasSuffix(out, []byte(question)) {
				_, err := io.WriteString(stdin, answer+"\n")
				w.must(err)
			}
		}
	}
}

// learn gives the missions that are new their ids of the document.
func (w *world) learn() {
	w.t.Helper()
	cmd := exec.Command("git", "agent-turn", "missions", "--json")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, _ := cmd.Output() // of nothing recorded, nothing
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		var m struct{ ID string }
		if json.Unmarshal([]byte(line), &m) != nil || slices.Contains(w.known, m.ID) {
			continue
		}
		w.known = append(w.known, m.ID)
		if !strings.HasSuffix(session, m.ID) {
			w.forks[invented[len(w.forks)]] = m.ID
		}
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	w.must(os.MkdirAll(filepath.Dir(path), 0o777))
	w.must(os.WriteFile(path, []byte(text), 0o666))
}

func (w *world) must(err error) {
	w.t.Helper()
	gittest.Must(w.t, err)
}
