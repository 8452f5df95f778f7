//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// needy gives the checkout tests that need what git ignores, and names that for worktrees.
func (r *rig) needy() {
	r.t.Helper()
	r.repo.Write(".gitignore", "*.log\n.env\nnode_modules/\n")
	r.repo.Write(".worktreeinclude", ".env\nnode_modules/\n")
	r.repo.Write("check.sh", `#!/bin/sh
cd "$(dirname "$0")" || exit
. ./.env || exit
[ -f node_modules/lib/index.js ] || { echo 'no node_modules/lib'; exit 1; }
said=$(sh ./greet.sh "$GREETED")
[ "$said" = "hello, $GREETED" ] || { echo "it said: $said"; exit 1; }
echo "all is well in ${PWD##*/}"
`)
	r.must(os.Chmod(filepath.Join(r.repo.Dir, "check.sh"), 0o755))
	r.repo.Commit("tests")
	r.repo.Write(".env", "GREETED=world\n")
	r.repo.Write("node_modules/lib/index.js", "module.exports = {}\n")
	r.repo.Write("node_modules/lib/package.json", "{}\n")
	r.must(os.MkdirAll(filepath.Join(r.repo.Dir, "node_modules", ".bin"), 0o777))
	r.must(os.Symlink("../lib/index.js", filepath.Join(r.repo.Dir, "node_modules", ".bin", "lib")))
}

// greet are two turns with code that the tests like.
var greet = []rule{
	on("Greet", write("greet.sh", "#!/bin/sh\necho \"hello, $1\"\n"), bash("./check.sh"), say("`greet.sh` greets whoever is named.")),
	on("Document", write("README.md", "# Greetings\n\n    ./greet.sh <name>\n"), say("README.md says how.")),
}

// greeted has the client play these two turns, and returns the mission.
func (r *rig) greeted() string {
	r.t.Helper()
	session := r.talk("Greet whoever is named.", "Document it.")
	return passive(session)
}

// The tests of a project that needs more than its tree are green in a fork at once, for the agent that works
// there and for a person.
func TestForkWithDependencies(t *testing.T) {
	r := newNightly(t)
	r.needy()
	r.mock.play(append(greet, on("TCHECK", bash("./check.sh"), say("Green.")))...)
	mission := r.greeted()
	f := r.fork(r.repo.Dir, mission+"/2")
	r.claude(f.Worktree, "TCHECK it", f.Command[1:]...).ok().quiet()
	if want := "all is well in " + filepath.Base(f.Worktree); !r.sent(want) {
		t.Errorf("the agent was not told %q\n%s", want, r.mock.index())
	}
	if got := r.repo.In(f.Worktree).Git("status", "--porcelain"); got != "" {
		t.Errorf("what was copied is not ignored: %s", got)
	}
	// No turn has recorded what was copied.
	for _, turn := range r.turns(f.Mission) {
		if files := r.repo.Git("ls-tree", "-r", "--name-only", turn.Code); strings.Contains(files, ".env\n") || strings.Contains(files, "node_modules") {
			t.Errorf("turn %d has recorded %s", turn.Turn, files)
		}
	}
	bare := r.fork(r.repo.Dir, mission+"/2", "--no-include")
	if got := r.besides(bare.Worktree); len(got) != 0 {
		t.Errorf("with --no-include there is %q", got)
	}
}

// TestForks goes the way from a turn to three forks of it and back, as a person in tmux does.
func TestForks(t *testing.T) {
	gittest.Nightly(t)
	for _, size := range []struct{ columns, lines int }{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.lines), func(t *testing.T) {
			t.Parallel()
			r := newRigIn(t, shortRepo(t))
			r.repo.Git("config", "--global", "log.date", "format:%H:%M")
			r.needy()
			r.command(r.repo.Dir, "init")
			r.script("bin/claude", "exec '"+r.client()+"' '"+strings.Join(r.arguments(), "' '")+"' \"$@\"\n")
			r.vars = append(r.vars, "PATH="+filepath.Join(r.home, "bin")+":"+os.Getenv("PATH"))
			cat, sed, shout := r.gate("cat"), r.gate("sed"), r.gate("shout")
			r.mock.play(append(greet,
				on("Cat", bash(cat.wait()), bash(`printf '%s\n' '#!/bin/sh' "printf 'hello, '" 'echo "$1" | cat' >greet.sh; ./check.sh`), say("It needs no echo of its own.")),
				on("Sed", bash(sed.wait()), bash(`printf '%s\n' '#!/bin/sh' 'echo "$1" |' "	sed 's/^/hello, /'" >greet.sh; mkdir docs; echo 'A name may have spaces.' >docs/names.md; ./check.sh`), say("It takes any name.")),
				on("Shout", bash(shout.wait()), bash(`printf '%s\n' '#!/bin/sh' 'echo "HELLO, $1"' >greet.sh`), say("It is louder now.")),
				on("Thanks", say("You're welcome.")),
			)...)
			r.greeted()
			v := r.tour(size.columns, size.lines, "15;0")
			v.dir = "forks"
			t.Cleanup(v.windows)
			v.visit([]stop{{name: "three", line: "git agent-fork 2 --times 3 --launch --prompt Cat --prompt Sed --prompt Shout"}}, true)
			cat.reached()
			sed.reached()
			shout.reached()
			v.visit([]stop{{name: "tree-running", line: "git agent-turn missions --tree"}}, true)
			// They end one after the other: the newest is listed first.
			cat.open()
			a := r.forked("Cat")
			sed.open()
			b := r.forked("Sed")
			shout.open()
			r.forked("Shout")
			r.await("three agents that wait", func() bool { return len(r.clients("idle")) == 3 })
			agents := r.clients("idle")
			v.visit([]stop{
				{name: "tree-waiting", line: "git agent-turn missions --tree"},
				{name: "missions", line: "git agent-turn missions"},
			}, true)
			for range 3 {
				v.term.tmux("kill-window", "-t", ":{end}")
			}
			r.await("the end of the agents", func() bool {
				return !slices.ContainsFunc(agents, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
			})
			v.visit([]stop{
				{name: "tree-ended", line: "git agent-turn missions --tree"},
				{name: "compare", line: "git agent-fork compare 2 --check ./check.sh"},
				{name: "compare-end", press: []string{"G"}, until: `\(END\)`},
				{name: "adopt-dry-run", line: "git agent-fork adopt --dry-run " + b},
				{name: "adopt", line: "git agent-fork adopt " + b},
				{name: "status", line: "git status --short"},
				{name: "undo", line: "git agent-turn undo"},
				{name: "status-undone", line: "git status --short"},
				{name: "adopt-again", line: "git agent-fork adopt --remove-others " + b, until: `\[yes/no\]`},
				{name: "removed", press: []string{"yes", "Enter"}},
				{name: "blame", line: "git agent-turn blame greet.sh"},
				{name: "adopt-conflict", line: "git agent-fork adopt " + a},
				{name: "resume", line: "git agent-fork adopt --resume " + b + " >../resume"},
			}, true)
			if got := len(strings.Fields(r.repo.Git("for-each-ref", "--format=%(refname)", "refs/heads/agent"))); got != 1 {
				t.Errorf("%d branches of forks are left, want that of the one that was adopted", got)
			}
			if head := r.repo.Git("log", "-1", "--format=%s"); head != "tests" || r.repo.Git("diff", "--cached", "--name-only") != "" {
				t.Errorf("HEAD is at %q, and the index has %q", head, r.repo.Git("diff", "--cached"))
			}
			command := regexp.MustCompile(`claude --resume ([0-9a-f-]+)`).FindStringSubmatch(r.repo.Read("../resume"))
			if command == nil {
				t.Fatal("no command goes on with the conversation")
			}
			r.claude(r.repo.Dir, "Thanks.", "--resume", command[1]).ok().quiet()
			mission := r.forked("Thanks.")
			for _, said := range []string{"Greet whoever is named.", "Document it.", "It takes any name."} {
				if sent := string(slices.Concat(r.last().Messages...)); !strings.Contains(sent, said) {
					t.Errorf("the resumed conversation has no %q", said)
				}
			}
			if turns := r.turns(mission); len(turns) != 4 || turns[3].Code == "" || turns[3].Branch != "main" {
				t.Errorf("the mission of the resumed conversation has the turns %v, want 4, the last one on main", turns)
			}
			v.visit([]stop{{name: "tree-resumed", line: "git agent-turn missions --tree"}}, true)
		})
	}
}

// windows tells what all windows show, if the test has failed.
func (v *tour) windows() {
	if !v.r.t.Failed() {
		return
	}
	panes, _ := v.term.try("list-panes", "-s", "-F", "#{pane_id}")
	for id := range strings.FieldsSeq(panes) {
		screen, _ := v.term.try("capture-pane", "-p", "-t", id)
		v.r.t.Logf("pane %s:\n%s", id, strings.TrimRight(screen, "\n "))
	}
}

// forked waits until a fork that started with a prompt has recorded it, and returns its mission.
func (r *rig) forked(prompt string) (mission string) {
	r.t.Helper()
	r.await("the turn of "+prompt, func() bool {
		for _, turn := range r.decode(r.command(r.repo.Dir, "list", "--json", "--all")) {
			if turn.Prompt == prompt && turn.Outcome == "done" {
				mission = turn.Mission
			}
		}
		return mission != ""
	})
	return mission
}

// clients are the processes of all clients that are alive, by their state.
func (r *rig) clients(status string) (pids []int) {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.home, ".claude", "sessions", "*.json"))
	r.must(err)
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".json"))
		r.must(err)
		if r.registry(pid).Status == status {
			pids = append(pids, pid)
		}
	}
	return pids
}
