package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/handoffstore"
	"gitagent/internal/checkout"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/hook"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/missionstore"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/cmdlinetest"
	"gitagent/test/gittest"
	claude "gitagent/test/replay"
	"gitagent/turns"
)

// hasty is a git-agent-turn that waits for next to nothing: its hook, as a plugin's, at the end of a
// session, and any command for a lock of git's.
const hasty = "git-agent-turn-hasty"

func TestMain(m *testing.M) {
	// Built with the race detector, every process of ours would sleep for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	testscript.Main(gittest.Tests{M: m}, map[string]func(){
		"git-agent-turn":    func() { execute(command.InTests(context.Background())) },            // without limits
		"git-agent-handoff": func() { hook.Run(context.Background(), hook.Handoff, os.Args[2:]) }, // its hook alone
		hasty: func() {
			execute(limit.With(context.Background(), limit.Limits{End: time.Millisecond, Index: time.Millisecond}))
		},
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	cmdlinetest.Scripts(t, func(env *testscript.Env) error {
		env.Values["clients"] = make(map[string]*claude.Client)
		return nil
	}, map[string]cmdlinetest.Command{
		"play": play, "call": call, "answer": answerCommand, "event": event, "person": byHand, "aged": aged, "fork": fork, "visit": visit, "adopt": adopt, "reachable": reachable, "mend": mend, "handoff": handOff, "purge": purgeSecret, "recording": switchedOn, "ci": ciSteps,
	})
}

func TestManual(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	cmdlinetest.Manual(t, newApp(), "../../docs")
}

// TestPowers: every command, with those that are hidden, is in the table of powers.
func TestPowers(t *testing.T) {
	t.Parallel()
	cmdlinetest.Powers(t, newApp())
}

// call lets an agent's client call a tool in the current directory:
//
//	call <id> Edit|Write <file> <line>   Edit adds the line to the file, Write makes the file of it
//	call <id> Bash <command>
//
// The client is as that of [play].
func call(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || (args[1] == "Bash") != (len(args) == 3) {
		ts.Fatalf("usage: call <id> Edit|Write <file> <line>, or call <id> Bash <command>")
	}
	c := clientOf(ts, args[0])
	if args[1] == "Bash" {
		c.Call("Bash", map[string]any{"command": args[2]}, func() { ts.Check(ts.Exec("sh", "-c", args[2])) })
		return
	}
	path := ts.MkAbs(args[2])
	c.Call(args[1], map[string]any{"file_path": path}, func() {
		before := ""
		if args[1] == "Edit" {
			before = ts.ReadFile(path)
		}
		ts.Check(os.WriteFile(path, []byte(before+args[3]+"\n"), 0o666))
	})
}

// answerCommand lets an agent's client run a command that only answers, as Claude Code tells of its status:
//
//	answer <id> <command> <status> <output>
func answerCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: answer <id> <command> <status> <output>")
	}
	result, failed := args[3], args[2] != "0"
	if failed {
		result = "Exit code " + args[2] + "\n" + result
	}
	c := clientOf(ts, args[0])
	c.Failing = failed
	c.Answered("Bash", map[string]any{"command": args[1]}, result, func() {})
	c.Failing = false
}

// exact is by how much the clock of a file system is not, at most.
const exact = 100 * time.Millisecond

// aged waits until a file was surely written before whatever comes next:
//
//	aged <file>
func aged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: aged <file>")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	for time.Since(info.ModTime()) < exact {
		runtime.Gosched()
	}
}

// byHand adds a line to a file, as somebody at an editor does. That is when no call of a tool that the
// journal has can have done it:
//
//	person <file> <line>
func byHand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: person <file> <line>")
	}
	entries, err := journal.Read(cmdlinetest.Workspace(ts).Repo)
	ts.Check(err)
	last := time.Now()
	if n := len(entries); n > 0 {
		last = time.UnixMilli(entries[n-1].At)
	}
	for time.Since(last) < exact {
		runtime.Gosched()
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, []byte(ts.ReadFile(path)+args[1]+"\n"), 0o666))
}

// play lets an agent's client do something in the current directory:
//
//	play <id> prompt|tool|stop|fail|esc|end [<text> | -]
//
// With - the text is what the last command printed.
//
// The client's session is one whose mission is <id>, and its configuration is in $WORK. Its hooks must
// exit with 0, and say nothing but at a prompt; with UNHEARD in the environment there are none. With TOLD,
// what the last one said is in the file of that name.
func play(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: play <id> prompt|tool|stop|fail|esc|end [<text>]")
	}
	c := clientOf(ts, args[0])
	text := ""
	if len(args) == 3 {
		text = args[2]
	}
	if text == "-" {
		text = ts.ReadFile("stdout")
	}
	switch args[1] {
	case "prompt":
		c.Prompt(text)
	case "tool":
		c.Tool(text)
	case "stop":
		c.Stop(text)
	case "fail":
		c.Fail(text)
	case "esc":
		c.Esc()
	case "end":
		c.End(text)
	default:
		ts.Fatalf("play: unknown event %q", args[1])
	}
	c.Flush()
}

// clientOf returns the client whose session has a mission.
func clientOf(ts *testscript.TestScript, id string) *claude.Client {
	clients := ts.Value("clients").(map[string]*claude.Client)
	c := clients[id]
	if c == nil {
		c = claude.New(ts.Getenv("WORK"), ts.MkAbs("."), nil)
		c.Session = "5e550000-0000-4000-8000-0000" + id
		c.Path = filepath.Join(filepath.Dir(c.Path), c.Session+".jsonl")
		clients[id] = c
	}
	c.Cwd = ts.MkAbs(".")
	c.Hook = func(e claude.Event) {
		if ts.Getenv("UNHEARD") != "" {
			return
		}
		program := "git-agent-turn"
		if e.Name == "PostToolBatch" {
			program = "git-agent-handoff"
		}
		cmd := exec.Command(cmdlinetest.Executable(ts, program), "hook")
		cmd.Dir, cmd.Stdin = c.Cwd, bytes.NewReader(e.Payload())
		for _, name := range []string{
			"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
			"GIT_AGENT_MISSION", "GIT_AGENT_DISABLE", "TMPDIR", "XDG_RUNTIME_DIR", "GORACE", "GIT_TEST_ASSUME_DIFFERENT_OWNER", "GIT_CEILING_DIRECTORIES",
		} {
			cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
		}
		out, err := cmd.CombinedOutput()
		if told := ts.Getenv("TOLD"); told != "" && err == nil {
			if len(out) == 0 {
				return
			}
			f, err := os.OpenFile(told, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
			ts.Check(err)
			_, err = f.Write(append(out, '\n'))
			ts.Check(err)
			ts.Check(f.Close())
			return
		}
		if err != nil || len(out) > 0 && e.Name != "UserPromptSubmit" {
			ts.Fatalf("hook of %s: %v\n%s", e.Name, err, out)
		}
	}
	return c
}

// switchedOn switches it on in the current directory's repository.
func switchedOn(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Exec("git", "agent-turn", "init"))
}

// purgeSecret takes hunter2-secret-key out of all that was recorded, and must
// end as the command status says, or well:
//
//	purge [<status>[+]] --yes|--dry-run [<flag>]...
func purgeSecret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: purge [<status>[+]] <flag>...")
	}
	if strings.HasPrefix(args[0], "-") {
		args = append([]string{"0+"}, args...)
	}
	script := `echo hunter2-secret-key | git agent-turn purge --fixed "$@"`
	cmdlinetest.Ends(ts, args[0], append([]string{"sh", "-c", script, "sh"}, args[1:]...)...)
}

// fork makes a mission that begins at a turn, with a worktree that its branch is checked out in:
//
//	fork <mission>/<turn> <id> <worktree>
func fork(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fork <state> <id> <worktree>")
	}
	w := cmdlinetest.Workspace(ts)
	source, err := turns.Find(context.Background(), w, "", args[0])
	ts.Check(err)
	plan := missionstore.ForkPlan{
		Source: source.Turn, ID: record.ID(args[1]), Title: "another way", At: time.Now(), Worktree: ts.MkAbs(args[2]),
	}
	if source.Within() {
		plan.From = source.Commit
	}
	_, err = missionstore.Fork(context.Background(), w, plan)
	ts.Check(err)
}

// visit makes a turn here one of a session that is at home in another repository, where its conversation is:
//
//	visit <mission>/<turn> <home> <mission>/<turn>
func visit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: visit <mission>/<turn> <home> <mission>/<turn>")
	}
	ctx, w := context.Background(), cmdlinetest.Workspace(ts)
	here, err := turns.Find(ctx, w, "", args[0])
	ts.Check(err)
	home, err := git.Find(ts.MkAbs(args[1]))
	ts.Check(err)
	there, err := turns.Find(ctx, workspace.New(home, config.Default()), "", args[2])
	ts.Check(err)
	t, id := here.Turn, there.Turn.ID()
	t.Session, t.PromptID, t.Prompt, t.Reply, t.Transcript, t.Home = there.Turn.Session, there.Turn.PromptID, there.Turn.Prompt, there.Turn.Reply, nil, &id
	t.Tokens, t.Tools, t.Context, t.Output = nil, nil, 0, 0
	job := ledgertx.Job{Mission: t.Mission, At: time.Now(), What: "visit"}
	ts.Check(ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil {
			return err
		}
		tx.Ledger.Mission.Sessions = append(tx.Ledger.Mission.Sessions, t.Session)
		line, err := t.Encode()
		if err != nil {
			return err
		}
		return cmp.Or(tx.Append("turn 1", map[string][]byte{
			ledger.TurnPath("turns", t.Turn, ".json"): append(line, '\n'), ledger.TurnPath("transcript", t.Turn, ".jsonl"): nil,
		}), tx.Commit(ctx))
	}))
	ts.Check(places.Of(ts.Getenv).Note(t.Session, home.CommonDir))
	ts.Check(w.Store.Update(ctx, t.Session, func(st *session.Known) error {
		st.Mission, st.Away = t.Mission, true
		return nil
	}))
}

// adopt merges the work of a fork, up to a turn, into the current directory's worktree:
//
//	adopt <mission>/<turn>
func adopt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: adopt <mission>/<turn>")
	}
	w := cmdlinetest.Workspace(ts)
	state, err := turns.Find(context.Background(), w, "", args[0])
	ts.Check(err)
	_, err = checkout.Adopt(context.Background(), w, time.Now(), state, checkout.Merging{})
	ts.Check(err)
}

// reachable lets other users reach a directory and everything in it:
//
//	reachable <dir>
func reachable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reachable <dir>")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}))
	ts.Check(gittest.Reachable(dir))
}

// handOff makes a handoff with a summary:
//
//	handoff <mission> <summary>
func handOff(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: handoff <mission> <summary>")
	}
	s := &handoffstore.Store{Workspace: cmdlinetest.Workspace(ts)}
	_, err := s.Gather(context.Background(), handoffstore.Request{
		Mission: record.ID(args[0]), At: time.Now(), Exit: record.Clean, Summary: args[1],
	})
	ts.Check(err)
}

// mend runs what doctor advises about some things that it finds fault with. It must not find it after that:
//
//	mend <what>...
func mend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: mend <what>...")
	}
	const ask = "git agent-turn doctor --json"
	_ = ts.Exec("sh", "-c", ask)
	var script []string
	for _, what := range args {
		found := faults(ts, what)
		if len(found) == 0 {
			ts.Fatalf("doctor has no fault to find with %s", what)
		}
		for _, f := range found {
			if f.Remedy == "" {
				ts.Fatalf("doctor has no remedy for %s: %s", what, f.Text)
			}
			if !slices.Contains(script, f.Remedy) {
				script = append(script, f.Remedy)
			}
		}
	}
	ts.Logf("%s", strings.Join(script, "\n"))
	_ = ts.Exec("sh", "-c", "set -e\n"+strings.Join(script, "\n")+"\n"+ask) // in one shell: a remedy may change its environment
	if !strings.Contains(ts.ReadFile("stdout"), `"what":"git-agent"`) {
		ts.Fatalf("a remedy fails: %s", ts.ReadFile("stderr"))
	}
	for _, what := range args {
		if left := faults(ts, what); len(left) > 0 {
			ts.Fatalf("after %q there is still: %v", script, left)
		}
	}
}

// faults are the problems and warnings about something in what doctor has printed as JSON.
func faults(ts *testscript.TestScript, what string) []finding {
	var list []finding
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var f finding
		if json.Unmarshal([]byte(line), &f) == nil && f.What == what && f.Level != fine {
			list = append(list, f)
		}
	}
	return list
}
