//go:build unix

package hostile

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gitagent/test/gittest"
)

var (
	seed    = flag.Uint64("seed", 1, "what the ledgers are drawn from")
	ledgers = flag.Int("ledgers", 0, "how many of the 300; by default a sample")
)

// What a command may take: so much time of processors, with its gits, and so many bytes of memory in
// each of them. By the clock it may take as long as it does, as the machine may have other work. It says
// nothing of how fast anything is.
const (
	effort = 5 * time.Second
	most   = 200 << 20
)

// usage is the path of the program that measures the others.
var usage string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(measured(m))
}

// measured builds the programs and the one that measures them, and runs the tests.
func measured(m *testing.M) int {
	dir, err := os.MkdirTemp("", "git-agent-usage-")
	if err == nil {
		defer os.RemoveAll(dir)
		usage = filepath.Join(dir, "usage")
		build := exec.Command("go", "build", "-o", usage, "./usage")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			err = fmt.Errorf("build the program that measures: %w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return gittest.Programs{M: m}.Run()
}

// A command is a program and its arguments, or a hook and its payload.
type command struct {
	args  string
	hook  map[string]any // the payload, without what all have
	raw   bool           // it prints a file's content, which is data where nobody looks at it
	clone bool           // it runs in a clone, where git sends, inflates and hashes all before we see it
	whole bool           // it takes a whole conversation along, which a person has asked for
}

func turn(args string) command    { return command{args: "git-agent-turn " + args} }
func handoff(args string) command { return command{args: "git-agent-handoff " + args} }

func data(c command) command { c.raw = true; return c }

func hook(program, name string, payload map[string]any) command {
	payload["hook_event_name"] = name
	return command{args: "git-agent-" + program + " hook", hook: payload}
}

var commands = []command{
	turn("list --mission deadbeef"), turn("list --mission deadbeef --json"), turn("list --all"), turn("missions"), turn("missions --json"), turn("missions --tree"),
	{args: "git-agent-turn"},
	turn("list --mission deadbeef --states"), turn("list --mission deadbeef --states --json"), turn("list --all --grep DO --outcome done --since 1970-01-01 -- file :!x"),
	turn("search do"), turn("search --regexp --json (d+)+o|h.*e"), turn("search --mission deadbeef --in tools --in paths e {"),
	turn("show --conversation deadbeef/1^..5"), turn("show --conversation deadbeef"), turn("show --json deadbeef/..5"), turn("show dead/3^"),
	turn("undo --dry-run"), turn("revert --dry-run deadbeef/5"), turn("revert --dry-run deadbeef/2..4"), turn("import --dry-run"),
	turn("show deadbeef"), turn("show deadbeef/3"), turn("show --json deadbeef/5"), data(turn("show --patch deadbeef/5")), data(turn("show --transcript deadbeef/5")),
	data(turn("diff deadbeef/5")), data(turn("diff --stat deadbeef/1 deadbeef/5")), turn("show HEAD"), turn("show nonsense"), turn("restore --dry-run deadbeef/5"),
	turn("blame file"), turn("blame --json HEAD file"), turn("blame -p -w -M -C -C dead/5 file"), turn("why file 1"), turn("why --json file:/1/"),
	turn("log"), turn("log --json -- file"), turn("show HEAD^{}"), turn("show --json --full HEAD^{}"), turn("summary"), turn("summary HEAD^..HEAD"),
	turn("summary --json HEAD^..HEAD"), turn("summary --no-prompts --full HEAD^..HEAD"),
	turn("remove --dry-run deadbeef"), turn("prune --older-than 1h --dry-run"), turn("doctor"), turn("show --mission deadbeef 3 --generate-bash-completion"), turn("remove d --generate-bash-completion"),
	handoff("list --mission deadbeef"), handoff("list --mission deadbeef --json"), handoff("list --all"), handoff("show deadbeef"), handoff("show deadbeef/1"),
	handoff("show --json deadbeef/2"), data(handoff("show --document deadbeef/2")), data(handoff("show --patch deadbeef/2")), data(handoff("show --terminal deadbeef/2")),
	handoff("prime deadbeef"), handoff("grep --handoff deadbeef e"), handoff("restore --dry-run deadbeef/2"), handoff("show deadbeef/ --generate-bash-completion"),
	turn("list --mission deadbeef --tokens"), turn("list --all --tokens"), turn("search --in agents e"),
	turn("show --conversation --full deadbeef/1^..5"), turn("show --full deadbeef/5"),
	{args: "git-agent-fork adopt --dry-run deadbeef/5"},
	{args: "git-agent-fork compare deadbeef/1 deadbeef/5"},
	{args: "git-agent-fork --mission deadbeef"},
	{args: "git-agent-fork --all"},
	{args: "git-agent-fork --mission deadbeef 3 --generate-bash-completion"},
	data(turn("page deadbeef")), data(turn("page --all --without transcript")),
	{args: "git-agent-turn fetch", clone: true},
	{args: "git-agent-turn fetch --mission deadbeef", clone: true},
	{args: "git-agent-turn list --all", clone: true},
	hook("handoff", "SessionStart", map[string]any{"source": "startup"}),
	hook("turn", "UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "p1"}),
	hook("handoff", "PostToolBatch", map[string]any{}),
	hook("handoff", "PreCompact", map[string]any{"trigger": "manual"}),
	hook("turn", "Stop", map[string]any{"last_assistant_message": "done", "prompt_id": "p1"}),
	hook("turn", "UserPromptSubmit", map[string]any{"prompt": "again", "prompt_id": "p2"}),
	hook("turn", "StopFailure", map[string]any{"error": "overloaded", "last_assistant_message": "529", "prompt_id": "p2"}),
	hook("handoff", "SessionStart", map[string]any{"source": "compact"}),
	hook("turn", "SessionEnd", map[string]any{"reason": "other"}),
	{args: "git-agent-handoff write --summary well"},
	{args: "git-agent-fork deadbeef/5 --no-worktree --print", whole: true},
	{args: "git-agent-fork deadbeef/4 --no-worktree --print --agent codex", whole: true},
}

// A cost is the most that a command took.
type cost struct {
	time   time.Duration
	memory int64
}

func TestHostile(t *testing.T) {
	gittest.Nightly(t)
	l := &large{dir: gittest.TempDir(t), made: make(map[string]string)}
	costs := make(map[string]cost)
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		limit := make(chan struct{}, runtime.GOMAXPROCS(0))
		count := *ledgers
		if count == 0 {
			count = gittest.Size(12, 6)
		}
		for i := range count {
			n := i*300/count/2*2 + i%2 // with both kinds, see attack
			t.Run(fmt.Sprint(n, " ", strings.ReplaceAll(evils[n%len(evils)].name, " ", "-")), func(t *testing.T) {
				t.Parallel()
				limit <- struct{}{}
				defer func() { <-limit }()
				r := rand.New(rand.NewPCG(*seed, uint64(n)))
				names := []string{evils[n%len(evils)].name}
				for range r.IntN(3) {
					names = append(names, evils[r.IntN(len(evils))].name)
				}
				for command, c := range attack(t, n, l, r, names) {
					mu.Lock()
					costs[command] = cost{max(costs[command].time, c.time), max(costs[command].memory, c.memory)}
					mu.Unlock()
				}
			})
		}
	})
	report(t, costs)
}

// TestWorst: texts of 256 KB that cost a parser much, in everything that can hold one.
func TestWorst(t *testing.T) {
	gittest.Nightly(t)
	report(t, attack(t, 3, nil, rand.New(rand.NewPCG(1, 1)), []string{worstTexts}))
}

func report(t *testing.T, costs map[string]cost) {
	for _, command := range slices.Sorted(maps.Keys(costs)) {
		t.Logf("%-60s %6d ms %4d MB", command, costs[command].time.Milliseconds(), costs[command].memory>>20)
	}
}

// attack makes a ledger hostile by some evils, and runs everything beside it.
func attack(t *testing.T, n int, l *large, r *rand.Rand, names []string) map[string]cost {
	repo := gittest.Files(t) // which refs can be written into that git would not take
	repo.Write("file", "1\n")
	repo.Commit("first")
	repo.Write("file", "1\ntwo\n")
	repo.Commit("second")
	g := newLedger(r, store{t, filepath.Join(repo.Dir, ".git", "objects")}, l, repo)
	for _, name := range names {
		evils[slices.IndexFunc(evils, func(e evil) bool { return e.name == name })].do(g)
	}
	t.Log(names)
	g.put()
	repo.Write(".git/refs/heads/agent/mission/"+mission, g.head+"\n")
	repo.Write(".git/HEAD", "ref: refs/heads/agent/mission/"+mission+"\n")
	repo.Write(".git/agent/enabled", "")
	if n%2 == 1 { // a person has accepted it, so it is used, and gone on from
		repo.Write(".git/agent/trust/"+mission, "accepted "+g.refs["refs/agent/missions/"+mission]+"\n")
	}
	repo.Git("config", "core.bigFileThreshold", "32m") // what its host takes to serve it does not count
	home := filepath.Dir(repo.Dir)
	clone := filepath.Join(home, "clone")
	repo.Git("init", "-q", clone)
	repo.In(clone).Git("remote", "add", "origin", repo.Dir)
	repo.In(clone).Git("fetch", "-q", "origin", "main:main")
	repo.Write("../t.jsonl", `{"type":"user","uuid":"1","promptId":"p1","message":{"role":"user","content":"go on"}}
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}}
{"type":"user","uuid":"3","parentUuid":"2","promptId":"p2","message":{"role":"user","content":"again"}}
{"type":"assistant","uuid":"4","parentUuid":"3","isApiErrorMessage":true,"message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"529"}]}}
`)
	if slices.Contains(names, worstTexts) {
		for n := range 5 { // the client's file has them too
			_, lines, _ := strings.Cut(worstConversation(n+1), "\n")
			repo.Write("../t.jsonl", repo.Read("../t.jsonl")+lines)
		}
	}
	before := outside(t, home)
	costs := make(map[string]cost)
	for _, c := range commands {
		where := repo.Dir
		if c.clone {
			if n%3 != 0 {
				continue // most of the time is what git takes to send 500 MB
			}
			where = clone
		}
		costs[c.name()] = execute(t, c, where, home, repo.Env)
	}
	if after := outside(t, home); !slices.Equal(after, before) {
		t.Errorf("outside of the repository there are\n%q\nwhere there were\n%q", after, before)
	}
	return costs
}

func (c command) name() string {
	if c.hook != nil {
		return c.args + " " + c.hook["hook_event_name"].(string)
	}
	return c.args
}

// execute runs a command and looks at what it does.
func execute(t *testing.T, c command, where, home string, env []string) cost {
	cmd := exec.Command(usage, strings.Fields(c.args)...)
	cmd.Dir, cmd.Env = where, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, and one group
	if c.hook != nil {
		payload := maps.Clone(c.hook)
		payload["session_id"], payload["cwd"], payload["transcript_path"] = session, where, filepath.Join(home, "t.jsonl")
		line, err := json.Marshal(payload)
		gittest.Must(t, err)
		cmd.Stdin = bytes.NewReader(line)
	}
	stdout, stderr := &text{raw: c.raw}, &text{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	r, w, err := os.Pipe()
	gittest.Must(t, err)
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	_ = cmd.Run() // ends when nothing of it goes on; the status says the rest
	w.Close()
	switch status := cmd.ProcessState.ExitCode(); {
	case status < 0 || status > 3 || c.hook != nil && status != 0:
		t.Errorf("%s: exit status %d\n%.2000s", c.name(), status, stderr.head)
	}
	if bytes.Contains(stderr.head, []byte("panic")) || bytes.Contains(stdout.head, []byte("panic")) || bytes.Contains(stderr.head, []byte("goroutine ")) {
		t.Errorf("%s: %.4000s%.2000s", c.name(), stderr.head, stdout.head)
	}
	var ms, memory int64
	if _, err := fmt.Fscan(r, &ms, &memory); err != nil {
		t.Errorf("%s: nothing was measured: %v", c.name(), err)
	}
	took := time.Duration(ms) * time.Millisecond
	if took > effort && !c.whole && !c.clone {
		t.Errorf("%s: %v of work", c.name(), took)
	}
	if memory > most && !c.whole {
		t.Errorf("%s: %d MB", c.name(), memory>>20)
	}
	if stderr.hazard != "" || stdout.hazard != "" {
		t.Errorf("%s: on a terminal: %q %q", c.name(), stdout.hazard, stderr.hazard)
	}
	return cost{took, memory}
}

// A text looks at what is written to it, and keeps the beginning.
type text struct {
	head   []byte
	hazard string // the first, and what is around it
	raw    bool   // it may be anything
}

func (x *text) Write(p []byte) (int, error) {
	if len(x.head) < 1<<20 {
		x.head = append(x.head, p...)
	}
	for i := 0; i < len(p) && x.hazard == "" && !x.raw; {
		if len(p)-i < utf8.UTFMax && !utf8.FullRune(p[i:]) {
			break // the rest comes with the next write
		}
		r, size := utf8.DecodeRune(p[i:])
		if i > 0 && (isHazard(r) || r == utf8.RuneError && size == 1) {
			x.hazard = string(p[max(0, i-40):min(len(p), i+40)])
		}
		i += size
	}
	return len(p), nil
}

// isHazard says it in other words than the programs do.
func isHazard(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return false
	case unicode.IsControl(r), r >= '\u200b' && r <= '\u200f', r >= '\u2028' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r == '\ufeff', r == '\u061c', r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// outside lists what is in the directory around the repositories.
func outside(t *testing.T, home string) []string {
	var list []string
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(home, path)
		switch rel {
		case "repo", "clone", ".local", ".claude", "git-agent":
			// Handoffs are copied below .local, a fork has a conversation, and git-agent is what the user was told.
			return filepath.SkipDir
		}
		list = append(list, rel)
		return nil
	})
	gittest.Must(t, err)
	return list
}
