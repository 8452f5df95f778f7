package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

var every = flag.Int("every", 10, "let one in so many writes fail")

// TestMain builds the programs, and puts them in front of PATH; or it traces.
func TestMain(m *testing.M) {
	if told := os.Getenv(tracer); told != "" {
		traced(told)
	}
	flag.Parse()
	os.Exit(gittest.Programs{M: m}.Run())
}

// TestStop lets each write of a Stop hook fail.
func TestStop(t *testing.T) { series(t, "Stop") }

// TestPrompt does the same with the hook that comes before the turn.
func TestPrompt(t *testing.T) { series(t, "UserPromptSubmit") }

// TestStep does the same with the hook that keeps a state within the turn: by paths, or attached by status.
func TestStep(t *testing.T) { series(t, "PostToolBatch") }

func series(t *testing.T, event string) {
	t.Parallel()
	gittest.Nightly(t)
	every := *every * gittest.Size(1, 4)
	for _, attached := range []bool{false, true} {
		for _, after := range []bool{false, true} {
			for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
				name := map[bool]string{false: "passive", true: "attached"}[attached]
				name += map[bool]string{false: ", one write", true: ", a write and all after it"}[after] + ", " + errno.Error()
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					counts := make(map[string]int)
					for n, over := 1, false; !over; n += every {
						t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
							over = attack(t, fault{at: n, after: after, errno: errno}, event, attached, counts)
						})
					}
					t.Logf("%d turns recorded at once, of %d; %d of the users told", counts["recorded"], counts["all"], counts["told"])
					if counts["all"] == 0 {
						t.Error("nothing failed")
					}
				})
			}
		}
	}
}

// TestWholeSession is a session in a repository where nothing can be written, until that is mended.
func TestWholeSession(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for name, errno := range map[string]syscall.Errno{"full": syscall.ENOSPC, "broken": syscall.EIO, "read-only": syscall.EROFS, "not ours": syscall.EACCES} {
		for _, attached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, attached: %t", name, attached), func(t *testing.T) {
				t.Parallel()
				gittest.Sample(t)
				l := newLab(t, attached)
				l.turn("before")
				l.fault = fault{at: 1, after: true, errno: errno, in: filepath.Join(l.Dir, ".git")}
				l.lost()
				l.fault = fault{}
				l.resumes()
			})
		}
	}
}

// lost are two turns in which nothing can be written. The user is told of it once.
func (l *lab) lost() {
	l.t.Helper()
	l.turn("lost")
	l.turn("lost as well")
	if strings.Count(l.told, "\n") != 1 || !strings.Contains(l.told, "not recorded") {
		l.t.Errorf("the user was told %q, want once that a turn was not recorded", l.told)
	}
}

// resumes checks that what comes now is recorded.
func (l *lab) resumes() {
	l.t.Helper()
	l.told = ""
	l.turn("after")
	if l.told != "" || l.outcome("before") == "" || l.code("after") == "" || l.Git("show", l.code("after")+":file") != "after" {
		l.t.Errorf("recorded is %v, and the user was told %q\n%s", l.listed, l.told, l.log())
	}
	l.fsck("")
	l.leftovers("")
}

// TestReadOnly is the same with the permissions of a git directory, as a user who is bound by them.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	l := newLab(t, false)
	l.turn("before")
	if os.Geteuid() == 0 {
		l.user = &syscall.Credential{Uid: nobody, Gid: nobody}
		l.give(nobody)
	}
	modes := make(map[string]fs.FileMode)
	l.each(filepath.Join(l.Dir, ".git"), func(path string) error {
		info, err := os.Lstat(path)
		if err == nil {
			modes[path] = info.Mode().Perm()
			err = os.Chmod(path, modes[path]&^0o222)
		}
		return err
	})
	l.lost()
	for path, mode := range modes {
		if err := os.Chmod(path, mode); err != nil {
			t.Error(err)
		}
	}
	if l.user != nil {
		l.user = nil
		l.give(0)
	}
	l.resumes()
}

// TestRestoreUnwritable: a file can't be removed, of which git only warns. The user hears of it, and can go
// back once it can.
func TestRestoreUnwritable(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	l := newLab(t, false)
	l.turn("before")
	l.Write("closed/f", "f\n")
	l.turn("after")
	if os.Geteuid() == 0 {
		l.user = &syscall.Credential{Uid: nobody, Gid: nobody}
		l.give(nobody)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("git-agent-turn", args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = l.Dir, l.env, &syscall.SysProcAttr{Credential: l.user}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	mode := func(mode fs.FileMode) {
		t.Helper()
		gittest.Must(t, os.Chmod(filepath.Join(l.Dir, "closed"), mode))
	}
	mode(0o555)
	out, err := run("restore", "1")
	mode(0o777)
	if err == nil || !strings.Contains(out, `"closed/f" could not be removed`) || !strings.Contains(out, "git agent-turn undo") {
		t.Errorf("restore: %v\n%s", err, out)
	}
	if l.Read("file") != "before" {
		t.Errorf("file is %q", l.Read("file"))
	}
	if out, err := run("undo"); err != nil || l.Read("file") != "after" || l.Read("closed/f") != "f\n" {
		t.Errorf("undo: %v\n%s", err, out)
	}
}

const nobody = 65534

// TestOthers traces while other commands of this process begin and end, each of which has to find
// its own end.
func TestOthers(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 100 {
				if err := exec.Command("sleep", "0.01").Run(); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 25 {
				if _, err := (fault{}).run(t, exec.Command("true")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// give gives everything to a user, who may pass through the directories above it.
func (l *lab) give(uid int) {
	l.t.Helper()
	for _, home := range []string{filepath.Dir(l.Dir), l.config} {
		l.each(home, func(path string) error { return os.Lchown(path, uid, uid) })
		gittest.Must(l.t, gittest.Reachable(home))
	}
}

// each calls f for a directory and everything in it.
func (l *lab) each(dir string, f func(path string) error) {
	l.t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { return errors.Join(err, f(path)) })
	gittest.Must(l.t, err)
}

// attack lets the hook of an event fail in a new repository. It reports whether it has no such write.
func attack(t *testing.T, f fault, event string, attached bool, counts map[string]int) (over bool) {
	l := newLab(t, attached)
	l.turn("before")
	l.fault, l.event = f, event
	l.Write("file", "between\n")
	l.c.Prompt("disturbed")
	l.Write("file", "disturbed\n")
	l.Write("dir/new", "disturbed\n")
	l.c.Tool("Agent")
	l.helps("a1")
	if event == "PostToolBatch" {
		l.steps(attached)
	}
	l.c.Stop("done")
	l.c.Flush()
	l.fault = fault{}
	if len(l.seen.Failed) == 0 {
		return true
	}
	counts["all"]++
	what := l.seen.Failed[0]
	told := l.told
	recorded := l.outcome("disturbed") != ""
	if recorded {
		counts["recorded"]++
	}
	if told != "" {
		counts["told"]++
	}
	if !recorded && told == "" {
		t.Errorf("%s: the turn was lost in silence\n%s", what, l.log())
	}
	if strings.Count(told, "\n") > 1 {
		t.Errorf("%s: the user was told %q", what, told)
	}
	l.fsck(what)

	l.told = ""
	l.turn("after")
	l.fsck(what)
	if l.told != "" {
		t.Errorf("%s: with the disk in order, the user was told %q", what, l.told)
	}
	for _, prompt := range []string{"before", "disturbed", "after"} {
		if l.outcome(prompt) == "" {
			t.Errorf("%s: %q is not recorded\n%s\n%s", what, prompt, told, l.log())
		}
	}
	if n := l.sides("a1"); n != 1 {
		t.Errorf("%s: what the sub-agent did is there %d times", what, n)
	}
	if got := l.Git("show", l.code("after")+":file"); got != "after" {
		t.Errorf("%s: the code of the turn after it has %q", what, got)
	}
	l.leftovers(what)
	l.whole(what)
	return false
}

// steps lets tools run, of which the last one's hook is disturbed.
func (l *lab) steps(byStatus bool) {
	l.t.Helper()
	command := func() { l.c.Call("Bash", map[string]any{"command": "make"}, func() {}) }
	if byStatus {
		command()
		return
	}
	event := l.event
	l.event = "none"
	command()
	l.event = event
	l.c.Call("Edit", map[string]any{"file_path": filepath.Join(l.Dir, "file")}, func() { l.Write("file", "edited\n") })
	l.Write("file", "disturbed\n")
}

// whole checks that all of every state that the journal names is there.
func (l *lab) whole(what string) {
	l.t.Helper()
	data, _ := os.ReadFile(filepath.Join(l.Dir, ".git/agent/steps")) // there may be none
	for line := range bytes.Lines(data) {
		var entry struct{ Tree string }
		if json.Unmarshal(line, &entry) != nil || entry.Tree == "" { // it may be torn
			continue
		}
		if _, err := l.Try("rev-list", "--objects", "--quiet", entry.Tree); err != nil {
			l.t.Errorf("%s: step %s is not whole: %v", what, entry.Tree, err)
		}
	}
}

// A lab is a repository with an agent's session that works in it.
type lab struct {
	*gittest.Repo
	t      *testing.T
	env    []string
	config string // of the agent's client
	c      *replay.Client
	fault  fault  // of the next hooks
	event  string // of those that the fault is for; "" for all
	seen   trace  // of the last hook that had one
	told   string
	listed []turn

	user *syscall.Credential // of hooks and commands; nil for ours
}

// A turn is what list prints.
type turn struct{ Prompt, Outcome, Code string }

func newLab(t *testing.T, attached bool) *lab {
	t.Helper()
	l := &lab{t: t, Repo: gittest.Like(t, "fault", func(r *gittest.Repo) {
		for i := range 30 {
			r.Write(fmt.Sprintf("files/%d/%d", i%5, i), fmt.Sprintf("file %d\n", i))
		}
		r.Write("file", "none\n")
		r.Write(".git/agent/enabled", "")
		r.Commit("first")
	})}
	for _, v := range l.Env {
		if v != "GIT_TEST_FSYNC=0" {
			l.env = append(l.env, v)
		}
	}
	if attached {
		cmd := exec.Command("git-agent-turn", "start", "--title", "attached")
		cmd.Dir, cmd.Env = l.Dir, l.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	l.config = gittest.TempDir(t)
	l.c = replay.New(l.config, l.Dir, l.hook)
	return l
}

// hook runs the hook of an event. It must exit with 0 and say nothing, except to the user.
func (l *lab) hook(e replay.Event) {
	l.t.Helper()
	program := "git-agent-turn"
	if e.Name == "PostToolBatch" {
		program = "git-agent-handoff"
	}
	cmd := exec.Command(program, "hook")
	cmd.Dir, cmd.Env, cmd.Stdin = e.Cwd, append(l.env, fmt.Sprintf("CLAUDE_PID=%d", os.Getpid())), bytes.NewReader(e.Payload())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var err error
	if l.fault == (fault{}) || l.event != "" && l.event != e.Name {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.user}
		err = cmd.Run()
	} else {
		l.seen, err = l.fault.run(l.t, cmd)
	}
	if err != nil || stderr.Len() > 0 {
		l.t.Errorf("%s: %v\n%s\n%q", e.Name, err, &stderr, l.seen.Failed)
	}
	if stdout.Len() > 0 {
		var answer map[string]string
		if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil || len(answer) != 1 || answer["systemMessage"] == "" {
			l.t.Errorf("%s says %s", e.Name, &stdout)
		}
		l.told += answer["systemMessage"] + "\n"
	}
	l.listed = nil
}

// turn is an undisturbed one.
func (l *lab) turn(prompt string) {
	l.t.Helper()
	l.c.Prompt(prompt)
	l.Write("file", prompt)
	l.c.Stop("done")
	l.c.Flush()
}

func (l *lab) find(prompt string) (found turn) {
	l.t.Helper()
	if l.listed == nil {
		cmd := exec.Command("git-agent-turn", "list", "--all", "--json")
		cmd.Dir, cmd.Env, cmd.SysProcAttr = l.Dir, l.env, &syscall.SysProcAttr{Credential: l.user}
		out, err := cmd.Output()
		gittest.Must(l.t, err)
		for line := range strings.Lines(string(out)) {
			var one turn
			gittest.Must(l.t, json.Unmarshal([]byte(line), &one))
			l.listed = append(l.listed, one)
		}
	}
	for _, one := range l.listed {
		if one.Prompt == prompt {
			if found.Prompt != "" {
				l.t.Errorf("%q is there twice", prompt)
			}
			found = one
		}
	}
	return found
}

// helps lets a sub-agent answer.
func (l *lab) helps(id string) {
	l.t.Helper()
	dir := filepath.Join(strings.TrimSuffix(l.c.Path, ".jsonl"), "subagents")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		line := fmt.Appendf(nil, `{"type":"assistant","uuid":"u","agentId":%q,"isSidechain":true,"message":{"id":"m","role":"assistant","model":"haiku",`+
			`"stop_reason":"end_turn","content":[{"type":"text","text":"found"}],"usage":{"input_tokens":7,"output_tokens":3}}}`+"\n", id)
		err = os.WriteFile(filepath.Join(dir, "agent-"+id+".jsonl"), line, 0o600)
	}
	gittest.Must(l.t, err)
}

// sides counts in which turns a part of a sub-agent is stored.
func (l *lab) sides(id string) int {
	ref := l.Git("for-each-ref", "--format=%(refname)", "refs/agent/missions")
	return strings.Count(l.Git("ls-tree", "-r", "--name-only", ref, "transcript/"), "/"+id+".jsonl")
}

func (l *lab) outcome(prompt string) string { return l.find(prompt).Outcome }

func (l *lab) code(prompt string) string { return l.find(prompt).Code }

func (l *lab) log() string {
	data, _ := os.ReadFile(filepath.Join(l.Dir, ".git/agent/log")) // it may be what can't be written
	return string(data)
}

func (l *lab) fsck(what string) {
	l.t.Helper()
	if out, err := l.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		l.t.Errorf("%s: git fsck: %v\n%s", what, err, out)
	}
}

// leftovers finds locks. Temporary files of objects git gc removes.
func (l *lab) leftovers(what string) {
	l.t.Helper()
	err := filepath.WalkDir(filepath.Join(l.Dir, ".git"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, "index.new") {
			l.t.Errorf("%s: it left %s", what, path)
		}
		return err
	})
	if err != nil {
		l.t.Error(err)
	}
}
